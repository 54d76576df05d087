import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, requireProgram } from '@vault-and-tracker/dev-env'

/** A BitTorrent client that runs in the background and is controlled by the test. */
export type Daemon = {
  readonly folder: string
  /** Adds a torrent with its content in the client's folder, complete or not. A stopped torrent does not start. */
  add(torrent: Buffer, state?: 'started' | 'stopped'): Promise<void>
  /** Has it announce at once, and so learn of peers that came after it. */
  reannounce(infoHash: string): Promise<void>
  /** How much of the torrent it has, from 0 to 1. */
  progress(infoHash: string): Promise<number>
  /** The client's view of its tracker: `seeders` from its last announce or scrape, `text` for messages of failed tests. */
  trackerState(infoHash: string): Promise<{ announced: boolean; seeders: number; text: string }>
  stop(): Promise<void>
}

/** Debian's transmission-daemon, with everything off by which it could find a peer without the tracker. */
export async function startTransmission(folder: string): Promise<Daemon> {
  const [rpc, peerPort] = [await freePort(), await freePort()]
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'settings.json'),
    JSON.stringify({
      'dht-enabled': false,
      'pex-enabled': false,
      'lpd-enabled': false,
      'utp-enabled': false,
      'port-forwarding-enabled': false,
      'peer-port': peerPort,
      'bind-address-ipv4': '127.0.0.1',
      'bind-address-ipv6': '::1',
      'rpc-bind-address': '127.0.0.1',
      'rpc-port': rpc,
      'rpc-authentication-required': false,
      'download-dir': folder,
    }),
  )
  const child = startChild(
    await requireProgram('transmission-daemon'),
    ['--foreground', '--config-dir', folder],
    folder,
  )
  let session = ''
  const call = async (method: string, parameters: unknown): Promise<unknown> => {
    const send = () =>
      fetch(`http://127.0.0.1:${String(rpc)}/transmission/rpc`, {
        method: 'POST',
        headers: { 'X-Transmission-Session-Id': session },
        body: JSON.stringify({ method, arguments: parameters }),
      })
    let response = await send()
    if (response.status === 409) {
      session = response.headers.get('x-transmission-session-id') ?? ''
      response = await send()
    }
    return response.json()
  }
  await answering(child, () => call('session-get', {}))
  const field = async (infoHash: string, name: string): Promise<unknown> =>
    dig(await call('torrent-get', { ids: [infoHash], fields: [name] }), 'arguments', 'torrents', 0, name)
  return {
    folder,
    add: async (torrent, state = 'started') => {
      await call('torrent-add', { metainfo: torrent.toString('base64'), paused: state === 'stopped' })
    },
    reannounce: async (infoHash) => {
      await call('torrent-reannounce', { ids: [infoHash] })
    },
    progress: async (infoHash) => Number((await field(infoHash, 'percentDone')) ?? 0),
    trackerState: async (infoHash) => {
      const stats = dig(await field(infoHash, 'trackerStats'), 0)
      return {
        announced: dig(stats, 'lastAnnounceSucceeded') === true,
        seeders: Number(dig(stats, 'seederCount') ?? -1),
        text: JSON.stringify(stats),
      }
    },
    stop: () => end(child),
  }
}

/** Debian's qbittorrent-nox. With `active`, further torrents wait in a queue. */
export async function startQbittorrent(folder: string, options: { active?: number } = {}): Promise<Daemon> {
  const { active } = options
  const [ui, peerPort] = [await freePort(), await freePort()]
  const config = join(folder, 'profile', 'qBittorrent', 'config')
  mkdirSync(config, { recursive: true })
  writeFileSync(
    join(config, 'qBittorrent.conf'),
    [
      '[LegalNotice]',
      'Accepted=true',
      '[BitTorrent]',
      'Session\\DHTEnabled=false',
      'Session\\PeXEnabled=false',
      'Session\\LSDEnabled=false',
      `Session\\QueueingSystemEnabled=${String(active !== undefined)}`,
      ...['Downloads', 'Torrents'].map((what) => `Session\\MaxActive${what}=${String(active ?? -1)}`),
      // Otherwise it allows only announces to a tracker on a loopback address.
      'Session\\SSRFMitigation=false',
      'Session\\BTProtocol=TCP',
      'Session\\InterfaceAddress=127.0.0.1',
      `Session\\Port=${String(peerPort)}`,
      `Session\\DefaultSavePath=${folder}`,
      '[Preferences]',
      'WebUI\\LocalHostAuth=false',
      'WebUI\\Address=127.0.0.1',
      `WebUI\\Port=${String(ui)}`,
      '[Network]',
      'PortForwardingEnabled=false',
      '',
    ].join('\n'),
  )
  const child = startChild(
    await requireProgram('qbittorrent-nox'),
    [`--profile=${join(folder, 'profile')}`, `--webui-port=${String(ui)}`],
    folder,
  )
  const api = `http://127.0.0.1:${String(ui)}/api/v2`
  // A torrent that was just added is not found at first.
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(api + path)
    return response.ok ? response.json() : undefined
  }
  await answering(child, async () => {
    const response = await fetch(`${api}/app/version`)
    if (!response.ok) throw new Error('not ready')
  })
  return {
    folder,
    add: async (torrent, state = 'started') => {
      const form = new FormData()
      form.append('torrents', new Blob([Uint8Array.from(torrent)]), 'one.torrent')
      form.append('savepath', folder)
      form.append('paused', String(state === 'stopped'))
      await fetch(`${api}/torrents/add`, { method: 'POST', body: form })
    },
    reannounce: async (infoHash) => {
      await fetch(`${api}/torrents/reannounce`, { method: 'POST', body: new URLSearchParams({ hashes: infoHash }) })
    },
    progress: async (infoHash) => Number(dig(await get(`/torrents/info?hashes=${infoHash}`), 0, 'progress') ?? 0),
    trackerState: async (infoHash) => {
      const trackers = await get(`/torrents/trackers?hash=${infoHash}`)
      const ours: unknown = Array.isArray(trackers)
        ? trackers.find((each) => String(dig(each, 'url')).startsWith('http'))
        : undefined
      // Status 2 is "working"; of a scrape only the torrent itself knows.
      return {
        announced: dig(ours, 'status') === 2,
        seeders: Number(dig(await get(`/torrents/info?hashes=${infoHash}`), 0, 'num_complete') ?? -1),
        text: JSON.stringify(ours),
      }
    },
    stop: () => end(child),
  }
}

function startChild(command: string, args: readonly string[], folder: string): ChildProcess {
  return spawn(command, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C' },
    stdio: 'ignore',
  })
}

async function answering(child: ChildProcess, ask: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended while starting`)
    const answered = await ask().then(
      () => true,
      () => false,
    )
    if (answered) return
    await sleep(100)
  }
  throw new Error(`${child.spawnfile} does not answer`)
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await exited
  clearTimeout(late)
}

function dig(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value
  for (const name of path) found = typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined
  return found
}
