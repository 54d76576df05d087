import { createHash } from 'node:crypto'
import type { DemoSwarm } from './state.ts'

/** The tracker's default interval between announces. */
const EVERY_MS = 1_800_000
/** Pauses between announces, so that the clients take no noticeable time of the processor. */
const PAUSE_MS = 25
const TIMEOUT_MS = 10_000
/** Bytes per second of a transfer. */
const RATE = 1_500_000
/** Two clients share the members of the demo: a seedbox, and one at home. */
const CLIENTS = ['-TR4060-', '-qB5010-'] as const

type Peer = {
  readonly query: string
  readonly size: number
  readonly isSeeder: boolean
  left: number
  uploaded: number
  announcedAt: number | undefined
}

/**
 * Announces for the members of the demo, so that its swarms are alive: seeders upload, and leechers complete their torrents.
 * Nothing is transferred. It runs in this process until the signal, and does not keep the process alive.
 */
export function startDemoClients(url: string, swarms: readonly DemoSwarm[], stopping: AbortSignal): void {
  const peers = swarms.flatMap((swarm) => [
    ...swarm.seeders.map((passkey, index) => peerOf(swarm, passkey, index, true)),
    ...swarm.leechers.map((passkey, index) => peerOf(swarm, passkey, swarm.seeders.length + index, false)),
  ])
  let next = 0
  let timer: NodeJS.Timeout | undefined
  const turn = async (): Promise<void> => {
    const peer = peers[next % peers.length]
    next += 1
    // The tracker may be restarting. The next round announces again.
    if (peer !== undefined) await announce(url, peer, stopping).catch(() => undefined)
    if (stopping.aborted) return
    timer = setTimeout(() => void turn(), next < peers.length ? PAUSE_MS : EVERY_MS / peers.length).unref()
  }
  stopping.addEventListener('abort', () => clearTimeout(timer))
  if (peers.length > 0) void turn()
}

function peerOf({ infoHash, size }: DemoSwarm, passkey: string, index: number, isSeeder: boolean): Peer {
  const digest = createHash('sha256').update(`${infoHash} ${passkey}`).digest()
  const peerId = `${CLIENTS[index % CLIENTS.length] ?? CLIENTS[0]}${digest.toString('hex').slice(0, 12)}`
  const port = 20_000 + (digest.readUInt16BE(8) % 40_000)
  const hash = infoHash.replace(/../g, '%$&')
  return {
    query: `passkey=${passkey}&info_hash=${hash}&peer_id=${peerId}&port=${port}&compact=1&numwant=0`,
    ...{ size, isSeeder, uploaded: 0, announcedAt: undefined },
    left: isSeeder ? 0 : Math.ceil(size * (0.2 + (digest[12] ?? 0) / 400)),
  }
}

async function announce(url: string, peer: Peer, stopping: AbortSignal): Promise<void> {
  const now = Date.now()
  const before = peer.announcedAt
  const bytes = before === undefined ? 0 : Math.round((RATE * (now - before)) / 1_000)
  const moved = Math.min(peer.left, bytes)
  const left = peer.left - moved
  const uploaded = peer.uploaded + Math.round(bytes * (peer.isSeeder ? 0.02 : 0.1))
  const event = before === undefined ? '&event=started' : moved > 0 && left === 0 ? '&event=completed' : ''
  const counters = `uploaded=${uploaded}&downloaded=${peer.size - left}&left=${left}`
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)])
  const response = await fetch(`${url}/announce?${peer.query}&${counters}${event}`, { signal })
  await response.body?.cancel()
  Object.assign(peer, { left, uploaded, announcedAt: now })
}
