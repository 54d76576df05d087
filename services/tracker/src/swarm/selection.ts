import { type ListedPeer, parsePeerId } from '@vault-and-tracker/bencode-tracker'
import type { PickedPeers } from './swarm.ts'
import { IPV4_LENGTH, IPV6_LENGTH } from './wire.ts'

/** The client that requests peers. */
export type Requester = {
  /** Its own endpoints, which are skipped: address and port, 6 and 18 bytes. */
  readonly endpoints?: { readonly ipv4: Uint8Array | undefined; readonly ipv6: Uint8Array | undefined } | undefined
  readonly want: number
  /** 32 random bits. */
  readonly random: number
}

/** Compact entries (BEP 23, BEP 7). */
export type CompactPeers = {
  readonly peers: Uint8Array
  readonly peers6: Uint8Array
}

const NO_BYTES = new Uint8Array(0)
export const NO_COMPACT_PEERS: CompactPeers = { peers: NO_BYTES, peers6: NO_BYTES }
/** Reused for every announce. */
let compact = Buffer.allocUnsafe(0)
let compact6 = Buffer.allocUnsafe(0)
const PEER_ID_LENGTH = 20

/**
 * Chooses the requested number of peers from those picked, starting at a random one. A peer with two addresses is sent
 * with both and counts once.
 *
 * @returns views of memory that the next call overwrites
 */
export function selectPeers(picked: PickedPeers, requester: Requester): CompactPeers {
  const { count, ipv4, ipv6 } = picked
  if (count === 0 || requester.want === 0) return NO_COMPACT_PEERS
  const room = Math.min(count, requester.want)
  if (compact.length < room * IPV4_LENGTH) compact = Buffer.allocUnsafe(room * IPV4_LENGTH)
  if (compact6.length < room * IPV6_LENGTH) compact6 = Buffer.allocUnsafe(room * IPV6_LENGTH)
  let length = 0
  let length6 = 0
  forEachPeer(picked, requester, (index, has4, has6) => {
    if (has4) length = copy(ipv4, index * IPV4_LENGTH, IPV4_LENGTH, compact, length)
    if (has6 && ipv6 !== undefined) length6 = copy(ipv6, index * IPV6_LENGTH, IPV6_LENGTH, compact6, length6)
  })
  return { peers: compact.subarray(0, length), peers6: compact6.subarray(0, length6) }
}

/** Like {@link selectPeers}, for the list form (BEP 3). The announce must have requested peer ids. */
export function listPeers(picked: PickedPeers, requester: Requester): ListedPeer[] {
  const { ipv4, ipv6, peerIds } = picked
  const listed: ListedPeer[] = []
  if (picked.count === 0) return listed
  forEachPeer(picked, requester, (index, has4, has6) => {
    const at = index * PEER_ID_LENGTH
    const peerId = parsePeerId(peerIds?.toString('hex', at, at + PEER_ID_LENGTH) ?? '')
    if (peerId === undefined) return
    if (has4) listed.push({ ...endpointAt(ipv4, index, IPV4_LENGTH), peerId })
    if (has6 && ipv6 !== undefined) listed.push({ ...endpointAt(ipv6, index, IPV6_LENGTH), peerId })
  })
  return listed
}

/** Calls `take` with the index of each chosen peer and the addresses it has. */
function forEachPeer(
  { count, ipv4, ipv6, own, siblings }: PickedPeers,
  { want, endpoints, random }: Requester,
  take: (index: number, has4: boolean, has6: boolean) => void,
): void {
  let taken = 0
  let index = random % count
  for (let seen = 0; seen < count && taken < want; seen++) {
    const has4 = hasPort(ipv4, index, IPV4_LENGTH)
    const has6 = ipv6 !== undefined && hasPort(ipv6, index, IPV6_LENGTH)
    const isOwn =
      index === own ||
      siblings.includes(index) ||
      (has4 && endpoints?.ipv4 !== undefined && hasBytes(ipv4, index * IPV4_LENGTH, endpoints.ipv4)) ||
      (has6 && endpoints?.ipv6 !== undefined && hasBytes(ipv6, index * IPV6_LENGTH, endpoints.ipv6))
    if ((has4 || has6) && !isOwn) {
      take(index, has4, has6)
      taken += 1
    }
    index = index + 1 === count ? 0 : index + 1
  }
}

/** Whether an endpoint may be sent to others. Port 0 marks those that may not. */
function hasPort(bytes: Buffer, index: number, length: number): boolean {
  const end = (index + 1) * length
  return bytes[end - 1] !== 0 || bytes[end - 2] !== 0
}

function hasBytes(bytes: Buffer, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false
  return true
}

/** For this few bytes a loop is several times faster than `Buffer.copy`. */
function copy(from: Buffer, at: number, length: number, to: Uint8Array, position: number): number {
  for (let i = 0; i < length; i++) to[position + i] = from[at + i] ?? 0
  return position + length
}

/** The address, as a view, and the port. */
function endpointAt(bytes: Buffer, index: number, length: number): { address: Buffer; port: number } {
  const end = (index + 1) * length - 2
  return { address: bytes.subarray(index * length, end), port: bytes.readUInt16BE(end) }
}
