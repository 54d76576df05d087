import { type PeerId, parsePeerId } from '@vault-and-tracker/bencode-tracker'
import type { AnnounceKind, PeerState } from './peer-state.ts'
import type { PeerAnnounce, SocketAnnounce, SwarmName } from './swarm.ts'

// The binary layouts shared with lua/swarm/layouts.lua, under the names that they have there. All numbers are big-endian.

// Keys --------------------------------------------------------------------------------------------------------------

/** All keys of a swarm and of its accounting begin with its tag, so that they share a slot of a Redis Cluster. */
export const TAGS = 256

/** The tag of a swarm is its first byte: 1/256 of all swarms have the same. */
export function tagOf(name: SwarmName): number {
  return name[0] ?? 0
}

/** What the keys of a tag begin with: `{xx}:`. */
export function tagPrefix(tag: number): string {
  return `{${tag.toString(16).padStart(2, '0')}}:`
}

/** The key of a swarm's hash. */
export function swarmKey(name: SwarmName): Buffer {
  const key = Buffer.allocUnsafe(27)
  key.write(`${tagPrefix(tagOf(name))}h:`, 0, 'latin1')
  name.copy(key, 7)
  return key
}

// ANNOUNCE ----------------------------------------------------------------------------------------------------------

const ANNOUNCE_LENGTH = 134
const KINDS: Record<AnnounceKind, number> = { regular: 0, started: 1, completed: 2, stopped: 3 }
/** In the order of their numbers. */
export const STATES = ['stopped', 'leecher', 'seeder', 'paused'] as const satisfies readonly PeerState[]
const STATE_NUMBERS: Record<PeerState, number> = { stopped: 0, leecher: 1, seeder: 2, paused: 3 }
const IS_ACCOUNTED = 1
const WANTS_IDS = 2
const EVICTS = 4
const OVER_SOCKET = 8
const PURPOSES: Record<SocketAnnounce['purpose'], number> = { announces: 0, 'takes-over': 16, closes: 32 }

/** Records picked beyond those wanted, to replace the requester, their other clients and peers of another family. */
const SPARE_RECORDS = 10

/**
 * One announce.
 *
 * @param evictsOldest as `SwarmSettings` has it
 * @param random 32 random bits, which decide where the picking of records starts
 * @param socket where it came over a socket
 */
export function encodeAnnounce(
  announce: PeerAnnounce,
  evictsOldest: boolean,
  random: number,
  socket?: SocketAnnounce,
): Buffer {
  const bytes = Buffer.allocUnsafe(ANNOUNCE_LENGTH)
  const { account, ipv4, ipv6 } = announce
  announce.owner.copy(bytes, 0)
  bytes.write(announce.peerId, 8, 'hex')
  bytes[28] = (ipv4 === undefined ? 0 : 1) + (ipv6 === undefined ? 0 : 2)
  bytes.fill(0, 29, 53)
  if (ipv4 !== undefined) bytes.set(ipv4, 29)
  if (ipv6 !== undefined) bytes.set(ipv6, 35)
  bytes[53] = KINDS[announce.kind]
  bytes[54] = STATE_NUMBERS[announce.state]
  writeUint56(bytes, announce.uploaded, 55)
  writeUint56(bytes, announce.downloaded, 62)
  writeUint56(bytes, announce.left, 69)
  // Over a socket, peers are picked among the sockets.
  bytes[76] = announce.want === 0 || socket !== undefined ? 0 : announce.want + SPARE_RECORDS
  bytes.writeUInt32BE(random, 77)
  bytes.writeUInt16BE(account?.uploadPercent ?? 0, 81)
  bytes.writeUInt16BE(account?.downloadPercent ?? 0, 83)
  bytes.writeUInt32BE(announce.completed, 85)
  bytes.writeUInt32BE(announce.expectedPeers, 89)
  bytes[93] = (account ? IS_ACCOUNTED : 0) + (announce.withPeerIds ? WANTS_IDS : 0) + (evictsOldest ? EVICTS : 0)
  if (account) {
    account.user.copy(bytes, 94)
    account.torrent.copy(bytes, 110)
  } else bytes.fill(0, 94, 126)
  if (socket === undefined) {
    bytes.fill(0, 126)
    return bytes
  }
  bytes[93] = bytes.readUInt8(93) + OVER_SOCKET + PURPOSES[socket.purpose]
  socket.process.copy(bytes, 126)
  return bytes
}

// RECORD: peers as an answer holds them, one behind the other; then, on request, their peer ids in the same order -------

const RECORD_LENGTH = 37
const IPV4_AT = 10
const EXPIRY_AT = 16
const IPV6_AT = 19
const PEER_ID_LENGTH = 20
/** Minutes of expiry count from 2020. */
const EPOCH_SECONDS = 1_577_836_800

/** Bytes of a compact peer (BEP 23) and of a compact peer over IPv6 (BEP 7): the address, then the port. */
export const IPV4_LENGTH = 6
export const IPV6_LENGTH = 18

/** Where the record of peer number `index` starts. */
export function recordAt(index: number): number {
  return index * RECORD_LENGTH
}

/** The minute in which a time falls, as records count it; `now` in seconds since the epoch. */
export function minuteOf(now: number): number {
  return Math.floor((now - EPOCH_SECONDS) / 60)
}

/** The last minute in which the peer is kept. */
export function expiryOf(records: Buffer, at: number): number {
  return (records[at + EXPIRY_AT] ?? 0) * 65_536 + records.readUInt16BE(at + EXPIRY_AT + 1)
}

/** Whether the peer belongs to an owner, 8 bytes. */
export function isOwnedBy(records: Buffer, at: number, owner: Uint8Array): boolean {
  return hasBytes(records, at, owner)
}

/** Whether the peer can be reached over IPv4. An endpoint that must not be handed out has port 0. */
export function hasIpv4(records: Buffer, at: number): boolean {
  return (records[at + IPV4_AT + 4] ?? 0) + (records[at + IPV4_AT + 5] ?? 0) > 0
}

/** Likewise, over IPv6. */
export function hasIpv6(records: Buffer, at: number): boolean {
  return (records[at + IPV6_AT + 16] ?? 0) + (records[at + IPV6_AT + 17] ?? 0) > 0
}

/** Whether the peer listens at an endpoint, 6 bytes. */
export function listensAtIpv4(records: Buffer, at: number, endpoint: Uint8Array): boolean {
  return hasIpv4(records, at) && hasBytes(records, at + IPV4_AT, endpoint)
}

/** Likewise, 18 bytes. */
export function listensAtIpv6(records: Buffer, at: number, endpoint: Uint8Array): boolean {
  return hasIpv6(records, at) && hasBytes(records, at + IPV6_AT, endpoint)
}

/** Copies the 6 bytes of the IPv4 endpoint; returns the position behind them. */
export function copyIpv4(records: Buffer, at: number, to: Buffer, position: number): number {
  return copyBytes(records, at + IPV4_AT, IPV4_LENGTH, to, position)
}

/** Copies the 18 bytes of the IPv6 endpoint; returns the position behind them. */
export function copyIpv6(records: Buffer, at: number, to: Buffer, position: number): number {
  return copyBytes(records, at + IPV6_AT, IPV6_LENGTH, to, position)
}

/** The IPv4 endpoint: a view of the address, and the port. */
export function ipv4Of(records: Buffer, at: number): { address: Buffer; port: number } {
  const end = at + IPV4_AT + 4
  return { address: records.subarray(at + IPV4_AT, end), port: records.readUInt16BE(end) }
}

/** The IPv6 endpoint, likewise. */
export function ipv6Of(records: Buffer, at: number): { address: Buffer; port: number } {
  const end = at + IPV6_AT + 16
  return { address: records.subarray(at + IPV6_AT, end), port: records.readUInt16BE(end) }
}

/** The peer id of peer number `index` of `count`; undefined when the announce did not ask for peer ids. */
export function peerIdOf(records: Buffer, index: number, count: number): PeerId | undefined {
  const at = recordAt(count) + index * PEER_ID_LENGTH
  return parsePeerId(records.toString('hex', at, at + PEER_ID_LENGTH))
}

function hasBytes(records: Buffer, at: number, bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (records[at + i] !== bytes[i]) return false
  return true
}

/** For so few bytes a loop is several times faster than `Buffer.copy`. */
function copyBytes(from: Buffer, at: number, length: number, to: Buffer, position: number): number {
  for (let i = 0; i < length; i++) to[position + i] = from[at + i] ?? 0
  return position + length
}

/** Numbers up to 2^53 - 1 take seven bytes, and Buffer's own methods stop at six. */
function writeUint56(bytes: Buffer, value: number, at: number): void {
  const high = Math.floor(value / 0x1_0000_0000)
  bytes[at] = high >>> 16
  bytes[at + 1] = high >>> 8
  bytes[at + 2] = high
  bytes.writeUInt32BE(value % 0x1_0000_0000, at + 3)
}
