// Compares this tracker with others under the same load on this machine. See docs/performance.md.
// Usage: pnpm build && pnpm --filter tracker bench [seconds for each measurement] [plain | ours | npm | opentracker]
import { Agent, get } from 'node:http'
import { print, printHead, whole } from '@vault-and-tracker/dev-env/bench'
import { Redis } from 'ioredis'
import { startDatabases } from './databases.ts'
import { infoHashOf, peerIdOf, placeOf, portOf, USERS } from './numbering.ts'
import * as servers from './servers.ts'
import { atOnce, populate } from './swarms.ts'

const seconds = Number(process.argv[2] ?? 8)
const only = process.argv[3]

type Size = { readonly torrents: number; readonly peers: number }
const SMALL: Size = { torrents: 1_000, peers: 10_000 }
const BUSY: Size = { torrents: 1_000, peers: 100_000 }
const WIDE: Size = { torrents: 100_000, peers: 100_000 }
const DEEP: Size = { torrents: 1_000, peers: 1_000_000 }
const LARGE: Size = { torrents: 100_000, peers: 1_000_000 }

const databases = await startDatabases()
const redis = new Redis(databases.redisUrl)
const memory: string[] = []

async function row(target: servers.Target, size: Size, keepAlive: boolean, pauseMs = 0): Promise<number> {
  const load = { ...size, keepAlive, pauseMs, seconds }
  // Long enough to announce in most torrents once.
  await servers.measureAnnounces(target, { ...load, seconds: size.torrents > 10_000 ? 12 : 2 })
  const { perSecond, p50Ms, p99Ms, cpuMicros, errors } = await servers.measureAnnounces(target, load)
  const connections = keepAlive ? (pauseMs === 0 ? 'keep-alive' : 'keep-alive, half load') : 'one each'
  const latency = [p50Ms.toFixed(1), p99Ms.toFixed(1)]
  print(
    target.name,
    whole(size.torrents),
    whole(size.peers),
    connections,
    whole(perSecond),
    ...latency,
    whole(cpuMicros),
    errors,
  )
  return perSecond
}

async function plain(): Promise<void> {
  const target = await servers.startPlain()
  for (const keepAlive of [true, false]) await row(target, SMALL, keepAlive)
  await target.stop()
}

async function ours(workers: number): Promise<void> {
  for (const size of [SMALL, BUSY, WIDE, DEEP, LARGE]) {
    await databases.addTorrents(size.torrents)
    const bytes = await populate(redis, size.torrents, size.peers)
    if (workers === 1)
      memory.push(
        `${whole(size.peers)} peers in ${whole(size.torrents)} torrents: ${whole(bytes)} bytes of Redis per peer`,
      )
    const target = await servers.startOurs(databases, { workers })
    const full = await row(target, size, true)
    if (size === SMALL || size === BUSY) await row(target, size, false)
    if (size === SMALL) await row(target, size, true, (64 / (full / 2)) * 1000)
    await target.stop()
  }
}

async function other(keepAlive: boolean, start: (size: Size) => Promise<servers.Target>): Promise<void> {
  for (const size of [SMALL, BUSY, WIDE]) {
    const target = await start(size)
    await announceAll(target.url, size, keepAlive)
    if (keepAlive) await row(target, size, true)
    await row(target, size, false)
    await target.stop()
  }
}

/** Fills the swarms of a tracker over HTTP. */
async function announceAll(url: string, { torrents, peers }: Size, keepAlive: boolean): Promise<void> {
  const agent = new Agent({ keepAlive, maxSockets: 64 })
  await atOnce(peers, async (p) => {
    const { t, k } = placeOf(p, torrents)
    const hash = [...infoHashOf(t)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
    const path =
      `/announce?info_hash=${hash}&peer_id=${Buffer.from(peerIdOf(p), 'hex').toString()}&port=${String(portOf(k))}` +
      `&uploaded=0&downloaded=0&left=${p % 3 === 0 ? '0' : '1048576'}&event=started&numwant=0&compact=1`
    const send = (): Promise<boolean> =>
      new Promise((resolve) => {
        get(url + path, { agent }, (response) => response.resume().on('end', () => resolve(true))).on('error', () =>
          resolve(false),
        )
      })
    // A server may close a connection just as it is used again.
    for (let attempt = 0; attempt < 10 && !(await send()); attempt++) continue
  })
  agent.destroy()
}

try {
  await databases.addUsers(USERS)
  const columns = [
    'tracker',
    'torrents',
    'peers',
    'connections',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'CPU µs/request',
    'errors',
  ]
  printHead('', ...columns)
  if (only === undefined || only === 'plain') await plain()
  if (only === undefined || only === 'ours') for (const workers of [1, 2]) await ours(workers)
  if (only === undefined || only === 'npm') await other(true, () => servers.startNpmTracker())
  if (only === undefined || only === 'opentracker')
    await other(false, ({ torrents }) => servers.startOpentracker(databases.folder, torrents))
  process.stdout.write(`\n${memory.join('\n')}\n`)
} finally {
  redis.disconnect()
  await databases.stop()
}
