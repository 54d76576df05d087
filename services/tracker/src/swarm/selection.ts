import type { ListedPeer } from '@vault-and-tracker/bencode-tracker'
import type { SwarmAnswer } from './swarm.ts'
import * as wire from './wire.ts'

/** Who asks for peers, and when. */
export type Requester = {
  /** 8 bytes. Peers of the same owner, the requester among them, are left out. */
  readonly owner: Buffer
  /** Peers that listen here are left out too: address and port, 6 and 18 bytes. */
  readonly endpoints?: { readonly ipv4: Uint8Array | undefined; readonly ipv6: Uint8Array | undefined } | undefined
  readonly want: number
  /** Seconds since the epoch. */
  readonly now: number
  /** 32 random bits. */
  readonly random: number
}

/** Compact entries (BEP 23, BEP 7), ready to be sent. */
export type CompactPeers = {
  readonly peers: Uint8Array
  readonly peers6: Uint8Array
}

/** The records of an answer. */
type Records = Pick<SwarmAnswer, 'records' | 'recordCount'>

const NO_BYTES = new Uint8Array(0)

/**
 * Chooses the wanted number of peers among the records of an answer, from a random one on. A peer with two addresses is
 * sent with both, and counts once.
 */
export function selectPeers(answer: Records, requester: Requester): CompactPeers {
  const { records, recordCount } = answer
  if (recordCount === 0 || requester.want === 0) return { peers: NO_BYTES, peers6: NO_BYTES }
  const room = Math.min(recordCount, requester.want)
  const peers = Buffer.allocUnsafe(room * wire.IPV4_LENGTH)
  const peers6 = Buffer.allocUnsafe(room * wire.IPV6_LENGTH)
  let length = 0
  let length6 = 0
  forEachPeer(answer, requester, (at) => {
    if (wire.hasIpv4(records, at)) length = wire.copyIpv4(records, at, peers, length)
    if (wire.hasIpv6(records, at)) length6 = wire.copyIpv6(records, at, peers6, length6)
  })
  return { peers: peers.subarray(0, length), peers6: length6 === 0 ? NO_BYTES : peers6.subarray(0, length6) }
}

/** As {@link selectPeers}, for the list form (BEP 3); the announce must have asked for peer ids. */
export function listPeers(answer: Records, requester: Requester): ListedPeer[] {
  const { records, recordCount } = answer
  const listed: ListedPeer[] = []
  forEachPeer(answer, requester, (at, index) => {
    const peerId = wire.peerIdOf(records, index, recordCount)
    if (peerId === undefined) return
    if (wire.hasIpv4(records, at)) listed.push({ ...wire.ipv4Of(records, at), peerId })
    if (wire.hasIpv6(records, at)) listed.push({ ...wire.ipv6Of(records, at), peerId })
  })
  return listed
}

/** Calls `take` with the place of each chosen record among the bytes, and its number. */
function forEachPeer(answer: Records, requester: Requester, take: (at: number, index: number) => void): void {
  const { records, recordCount } = answer
  const minute = wire.minuteOf(requester.now)
  let taken = 0
  let index = requester.random % recordCount
  for (let seen = 0; seen < recordCount && taken < requester.want; seen++) {
    const at = wire.recordAt(index)
    if (isEligible(records, at, requester, minute)) {
      take(at, index)
      taken += 1
    }
    index = index + 1 === recordCount ? 0 : index + 1
  }
}

function isEligible(records: Buffer, at: number, { owner, endpoints }: Requester, minute: number): boolean {
  if (wire.expiryOf(records, at) < minute || wire.isOwnedBy(records, at, owner)) return false
  if (!wire.hasIpv4(records, at) && !wire.hasIpv6(records, at)) return false
  if (endpoints === undefined) return true
  const { ipv4, ipv6 } = endpoints
  if (ipv4 !== undefined && wire.listensAtIpv4(records, at, ipv4)) return false
  return ipv6 === undefined || !wire.listensAtIpv6(records, at, ipv6)
}
