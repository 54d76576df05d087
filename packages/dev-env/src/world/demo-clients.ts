import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { decodeBencode } from '@vault-and-tracker/bencode-tracker/testing'
import { demoContent } from './demo-torrent.ts'
import { startWireClient, type WireClient } from './demo-wire.ts'
import type { DemoSwarm } from './state.ts'

/** The tracker's default interval between announces. */
const EVERY_MS = 1_800_000
/** Pauses between announces, so that the clients take no noticeable time of the processor. */
const PAUSE_MS = 25
/** With a pause after each block of 16 KiB, a download takes 64 KiB/s, and can be watched. */
const BLOCK_PAUSE_MS = 250
const TIMEOUT_MS = 10_000
/** More than the connections of the demo, which all end with one signal. */
const MAX_CONNECTIONS = 100
/** What a client at home lacks of a torrent without content. */
const PART = 0.6

type Peer = {
  readonly swarm: DemoSwarm
  readonly client: WireClient
  readonly id: string
  readonly query: string
  left: number
  uploaded: number
  downloaded: number
  isStarted: boolean
}

/**
 * Two BitTorrent clients for the members of the demo, so that its swarms are alive: a seedbox for those who seed, and a
 * client at home for those who download. They transfer the torrents that have content over the loopback, and announce the
 * others. They run in this process until the signal, and do not keep it alive.
 */
export async function startDemoClients(
  url: string,
  swarms: readonly DemoSwarm[],
  stopping: AbortSignal,
  blockPauseMs = BLOCK_PAUSE_MS,
): Promise<void> {
  setMaxListeners(MAX_CONNECTIONS, stopping)
  const [seedbox, home] = [await startWireClient('-TR4060-', stopping), await startWireClient('-qB5010-', stopping)]
  const peers = [...swarms]
    .sort((one, other) => Number(other.content !== undefined) - Number(one.content !== undefined))
    .flatMap((swarm) => [
      ...swarm.seeders.map((passkey) => peerOf(swarm, passkey, seedbox, 0)),
      ...swarm.leechers.map((passkey) => peerOf(swarm, passkey, home, swarm.content ? 1 : PART)),
    ])
  for (const { infoHash, size, content } of swarms)
    if (content !== undefined) seedbox.seed(infoHash, demoContent(content.name, size))

  const download = async (peer: Peer, ports: readonly number[]): Promise<void> => {
    const { swarm, client, id: peerId } = peer
    const source = peers.find(
      (each) => each.swarm === swarm && each.client !== client && ports.includes(each.client.port),
    )
    if (source === undefined || swarm.content === undefined) return
    const { infoHash, size, content } = swarm
    const onBlock = (bytes: number): void => {
      peer.left -= bytes
      peer.downloaded += bytes
      source.uploaded += bytes
    }
    const what = { port: source.client.port, peerId, infoHash, size, pieces: content.pieces, onBlock }
    client.seed(infoHash, await client.download({ ...what, pauseMs: blockPauseMs }))
    await announce(url, peer, stopping, '&event=completed')
  }
  let next = 0
  const turn = async (): Promise<void> => {
    const peer = peers[next % peers.length]
    if (peer === undefined || stopping.aborted) return
    next += 1
    // The tracker may be restarting. The next round announces again.
    const ports = await announce(url, peer, stopping).catch(() => [])
    const { size } = peer.swarm
    if (peer.left === size)
      void download(peer, ports).catch(() => {
        if (peer.left > 0) peer.left = size
      })
    setTimeout(() => void turn(), next < peers.length ? PAUSE_MS : EVERY_MS / peers.length).unref()
  }
  void turn()
}

function peerOf(swarm: DemoSwarm, passkey: string, client: WireClient, part: number): Peer {
  const digest = createHash('sha256').update(`${swarm.infoHash} ${passkey}`).digest('hex')
  const id = client.prefix + digest.slice(0, 12)
  const hash = swarm.infoHash.replace(/../g, '%$&')
  return {
    ...{ swarm, client, id },
    query: `passkey=${passkey}&info_hash=${hash}&peer_id=${id}&port=${client.port}&compact=1`,
    left: Math.ceil(swarm.size * part),
    ...{ uploaded: 0, downloaded: 0, isStarted: false },
  }
}

/** @returns the ports of other peers */
async function announce(url: string, peer: Peer, stopping: AbortSignal, event = ''): Promise<readonly number[]> {
  const { query, uploaded, downloaded, left } = peer
  const counters = `uploaded=${uploaded}&downloaded=${downloaded}&left=${left}`
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)])
  const started = peer.isStarted ? event : '&event=started'
  const response = await fetch(`${url}/announce?${query}&${counters}${started}`, { signal })
  const reply = decodeBencode(Buffer.from(await response.arrayBuffer()))
  const found = reply.kind === 'dict' ? reply.entries.get('peers') : undefined
  peer.isStarted = true
  if (found?.kind !== 'bytes') return []
  const { value } = found
  return Array.from({ length: value.length / 6 }, (_, index) => value.readUInt16BE(index * 6 + 4))
}
