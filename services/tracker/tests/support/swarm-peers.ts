import { type PeerId, parsePeerId } from '@vault-and-tracker/bencode-tracker'
import { recoveryInterval, timeToLive } from '../../src/swarm/interval.ts'
import { selectPeers } from '../../src/swarm/selection.ts'
import type { PeerAnnounce, SwarmAnswer, SwarmSettings } from '../../src/swarm/swarm.ts'

/** The settings of a private tracker with the usual intervals. */
export const SETTINGS: SwarmSettings = {
  timeToLive: timeToLive(1800),
  minInterval: 855,
  repeatWindow: 30,
  recoveryInterval: recoveryInterval(1800),
  maxPeersPerOwner: 5,
  evictsOldest: false,
  keepCountersFor: 21 * 86_400,
  maxBytesPerSecond: 1.25e9,
}

const FIRST_ADDRESS = 0x0100_0000
const TORRENT = Buffer.alloc(16, 9)

/** A swarm's name. */
export function swarmName(byte: number): Buffer {
  return Buffer.alloc(20, byte)
}

/** Peer id number n. */
export function peerIdOf(n: number): PeerId {
  const id = parsePeerId(n.toString(16).padStart(40, '0'))
  if (id === undefined) throw new Error('not a peer id')
  return id
}

/** The 8 bytes of the id of user number n. */
export function ownerOf(n: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32BE(n, 4)
  return bytes
}

/** The IPv4 endpoint of peer number n, its number in the address. */
export function ipv4Of(n: number, port = 6881): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUInt32BE(FIRST_ADDRESS + n)
  bytes.writeUInt16BE(port, 4)
  return bytes
}

/** The IPv6 endpoint of peer number n. */
export function ipv6Of(n: number, port = 6881): Buffer {
  const bytes = Buffer.alloc(18)
  bytes.writeUInt32BE(0x2a00_0000)
  bytes.writeUInt32BE(n, 12)
  bytes.writeUInt16BE(port, 16)
  return bytes
}

/** A first announce of peer number n of user number n as a leecher, unless changed. */
export function peer(n: number, change: Partial<PeerAnnounce> = {}): PeerAnnounce {
  return {
    swarm: swarmName(0xa7),
    owner: ownerOf(n),
    peerId: peerIdOf(n),
    ipv4: ipv4Of(n),
    ipv6: undefined,
    kind: 'started',
    state: 'leecher',
    uploaded: 0,
    downloaded: 0,
    left: 1000,
    want: 50,
    withPeerIds: false,
    completed: 0,
    expectedPeers: 0,
    account: {
      user: Buffer.concat([Buffer.alloc(8), ownerOf(n)]),
      torrent: TORRENT,
      uploadPercent: 100,
      downloadPercent: 100,
    },
    ...change,
  }
}

/** A seeder, likewise. */
export function seeder(n: number, change: Partial<PeerAnnounce> = {}): PeerAnnounce {
  return peer(n, { state: 'seeder', left: 0, ...change })
}

/** The numbers of the peers that the requester receives over IPv4. */
export function peersOf(answer: SwarmAnswer, want = 50): number[] {
  const random = Math.floor(Math.random() * 0x1_0000_0000)
  const { peers } = selectPeers(answer.picked, { want, random })
  const view = Buffer.from(peers)
  return Array.from({ length: peers.length / 6 }, (_, i) => view.readUInt32BE(i * 6) - FIRST_ADDRESS).sort(
    (a, b) => a - b,
  )
}
