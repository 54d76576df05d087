import { parsePeerId } from '@vault-and-tracker/bencode-tracker'
import { UnavailableError } from '@vault-and-tracker/service-kit/core/errors'
import type { Endpoint, ListedPeer } from './peer-list.ts'
import type { AnnounceKind, PeerState } from './peer-state.ts'
import {
  type Admission,
  type AnnounceStatus,
  type Delta,
  NO_PEERS,
  type PickedPeers,
  type SocketAnnounce,
  type SocketCount,
  type SwarmAnswer,
  type SwarmCounts,
  type SwarmName,
  type SwarmRequest,
  type SwarmScrape,
  type SwarmSettings,
} from './swarm.ts'

// The binary layouts shared with lua/swarm/swarm.lua, with the same names. All numbers are big-endian.

// Numbers and ids ---------------------------------------------------------------------------------------------------

/** Numbers up to 2^53 - 1 take seven bytes; the methods of Buffer stop at six. */
function writeUint56(bytes: Buffer, value: number, at: number): void {
  const high = Math.floor(value / 0x1_0000_0000)
  bytes[at] = high >>> 16
  bytes[at + 1] = high >>> 8
  bytes[at + 2] = high
  bytes.writeUInt32BE(value % 0x1_0000_0000, at + 3)
}

function readUint56(bytes: Buffer, at: number): number {
  return bytes.readUIntBE(at, 3) * 0x1_0000_0000 + bytes.readUInt32BE(at + 3)
}

/** Bytes of a compact peer (BEP 23) and of a compact peer over IPv6 (BEP 7): the address, then the port. */
export const IPV4_LENGTH = 6
export const IPV6_LENGTH = 18

/** In the order of their numbers. */
const STATES = ['stopped', 'leecher', 'seeder', 'paused'] as const satisfies readonly PeerState[]
const STATE_NUMBERS: Record<PeerState, number> = { stopped: 0, leecher: 1, seeder: 2, paused: 3 }

// Keys --------------------------------------------------------------------------------------------------------------

/** All keys of a swarm and its accounting start with its tag, so that they share a slot of a Redis Cluster. */
export const TAGS = 256

export const KEY_LENGTH = 27

/** The tag of a swarm is its first byte, so 1/256 of all swarms share a tag. */
export function tagOf(name: SwarmName): number {
  return name[0] ?? 0
}

/** The prefix of a tag's keys: `{xx}:`. */
export function tagPrefix(tag: number): string {
  return `{${tag.toString(16).padStart(2, '0')}}:`
}

/** The key of a swarm's hash. */
export function swarmKey(name: SwarmName): Buffer {
  const key = Buffer.allocUnsafe(KEY_LENGTH)
  writeSwarmKey(key, 0, name)
  return key
}

const SWARM_PREFIXES = Array.from({ length: TAGS }, (_, tag) => Buffer.from(`${tagPrefix(tag)}s:`))

function writeSwarmKey(bytes: Buffer, at: number, name: SwarmName): void {
  const prefix = SWARM_PREFIXES[tagOf(name)]
  if (prefix !== undefined) bytes.set(prefix, at)
  bytes.set(name, at + 7)
}

// SETTINGS ----------------------------------------------------------------------------------------------------------

const SETTINGS_LENGTH = 33

/** Encodes the settings and the time of a call; `now` in seconds since the epoch, 0 for the time of Redis. */
export function encodeSettings(settings: SwarmSettings, now: number): Buffer {
  const bytes = Buffer.alloc(SETTINGS_LENGTH)
  bytes.writeUInt32BE(now, 0)
  bytes.writeUInt32BE(settings.timeToLive, 4)
  bytes.writeUInt32BE(settings.minInterval, 8)
  bytes.writeUInt32BE(settings.repeatWindow, 12)
  bytes.writeUInt32BE(settings.recoveryInterval, 16)
  bytes.writeUInt16BE(settings.maxPeersPerOwner, 20)
  bytes.writeUInt32BE(settings.keepCountersFor, 22)
  bytes.writeUIntBE(settings.maxBytesPerSecond, 26, 6)
  bytes[32] = settings.evictsOldest ? 1 : 0
  return bytes
}

// ANNOUNCE ----------------------------------------------------------------------------------------------------------

export const ANNOUNCE_LENGTH = 165
const COMPLETED_AT = 113
const PURPOSE_AT = 123
const KINDS: Record<AnnounceKind, number> = { regular: 0, started: 1, completed: 2, stopped: 3 }
/** 281 TB: downloads beyond this in one session are not counted. */
const MOST_DOWNLOADED = 2 ** 48 - 1
/** 0 means an announce over HTTP. */
const PURPOSES: Record<SocketAnnounce['purpose'], number> = { announces: 1, 'takes-over': 2, closes: 3 }
const SCRAPES = 4
const ADMISSION_AT = 164
/** 0 means that the user is within the limit. */
const ADMISSIONS: Record<Admission, number> = { none: 1, known: 1, all: 2 }

/** Records picked beyond those requested, to replace the requester, its owner's other peers and peers of the other address family. */
const SPARE_RECORDS = 10

/** Writes a scrape in the form of an announce. */
export function writeScrape(bytes: Buffer, at: number, { name, completed }: SwarmScrape): void {
  bytes.fill(0, at, at + ANNOUNCE_LENGTH)
  writeSwarmKey(bytes, at, name)
  bytes.writeUInt32BE(completed, at + COMPLETED_AT)
  bytes[at + PURPOSE_AT] = SCRAPES
}

/**
 * Writes an announce, which starts with the key of its swarm.
 *
 * @param random 32 random bits that determine the start of picking
 */
export function writeAnnounce(
  bytes: Buffer,
  at: number,
  { peer: announce, socket }: Pick<SwarmRequest, 'peer' | 'socket'>,
  random: number,
): void {
  const { account, ipv4, ipv6 } = announce
  bytes.fill(0, at + 35, at + ANNOUNCE_LENGTH)
  writeSwarmKey(bytes, at, announce.swarm)
  bytes.set(announce.owner, at + 27)
  bytes.write(announce.peerId, at + 37, 'hex')
  bytes[at + 57] = (ipv4 === undefined ? 0 : 1) + (ipv6 === undefined ? 0 : 2)
  if (ipv4 !== undefined) bytes.set(ipv4, at + 58)
  if (ipv6 !== undefined) bytes.set(ipv6, at + 64)
  bytes[at + 82] = KINDS[announce.kind]
  bytes[at + 83] = STATE_NUMBERS[announce.state]
  writeUint56(bytes, announce.uploaded, at + 84)
  bytes.writeUIntBE(Math.min(announce.downloaded, MOST_DOWNLOADED), at + 91, 6)
  writeUint56(bytes, announce.left, at + 97)
  // Announces over a socket get their peers from the sockets of this process.
  bytes[at + 104] = announce.want === 0 || socket !== undefined ? 0 : announce.want + SPARE_RECORDS
  bytes.writeUInt32BE(random, at + 105)
  bytes.writeUInt16BE(account?.uploadPercent ?? 0, at + 109)
  bytes.writeUInt16BE(account?.downloadPercent ?? 0, at + 111)
  bytes.writeUInt32BE(announce.completed, at + COMPLETED_AT)
  bytes.writeUInt32BE(announce.expectedPeers, at + 117)
  bytes[at + 121] = account === undefined ? 0 : 1
  bytes[at + 122] = announce.withPeerIds ? 1 : 0
  bytes[at + PURPOSE_AT] = socket === undefined ? 0 : PURPOSES[socket.purpose]
  if (account !== undefined) {
    bytes.set(account.user, at + 124)
    bytes.set(account.torrent, at + 140)
  }
  if (socket !== undefined) bytes.set(socket.process, at + 156)
  if (announce.admits !== undefined) bytes[at + ADMISSION_AT] = ADMISSIONS[announce.admits]
}

// RESULT ------------------------------------------------------------------------------------------------------------

const RESULT_LENGTH = 25
/** The offset in RESULT of the number of reply items that follow it. */
const PIECES_AT = 24
/** In the order of their numbers. */
const STATUSES: readonly AnnounceStatus[] = [
  'accepted',
  'stopped_unknown_peer',
  'announce_too_soon',
  'slots_full',
  'held',
  'not_admitted',
]

const REJOINED = 1
const IMPLAUSIBLE = 2
const RECOVERING = 4
const ELSEWHERE = 8
const WITH_IPV6 = 16
const WITH_SIBLINGS = 32

/** The length of a process id, and of the SOCKETS entry that contains it. */
const PROCESS_LENGTH = 8
const SOCKETS_LENGTH = 8

const NO_BYTES = Buffer.alloc(0)
const NO_SOCKETS: readonly SocketCount[] = []

/**
 * Finds the items of a reply that belong to each RESULT. The first item contains all RESULTs; the items of number i are
 * those from `firsts[i]` up to `firsts[i + 1]`.
 *
 * @throws Error if the reply has another form
 */
export function piecesOf(reply: readonly Buffer[], count: number): readonly number[] {
  const [results] = reply
  if (results?.length !== count * RESULT_LENGTH) throw unknownForm()
  const firsts = [1]
  for (let i = 0, first = 1; i < count; i++) firsts.push((first += results[i * RESULT_LENGTH + PIECES_AT] ?? 0))
  if (firsts[count] !== reply.length) throw unknownForm()
  return firsts
}

/**
 * Decodes the result of announce number i of a call. It may contain views of the reply.
 *
 * @param first index of its first item in the reply
 * @param end index after its last item
 * @throws Error if it has another form
 */
export function decodeAnswer(
  reply: readonly Buffer[],
  i: number,
  first: number,
  end: number,
  { peer, socket }: Pick<SwarmRequest, 'peer' | 'socket'>,
): SwarmAnswer {
  const bytes = reply[0] ?? NO_BYTES
  const at = i * RESULT_LENGTH
  const status = STATUSES[bytes[at] ?? STATUSES.length]
  if (status === undefined) throw unknownForm()
  const notes = bytes[at + 1] ?? 0
  const piece = (end > first ? reply[first] : undefined) ?? NO_BYTES
  const own = bytes.readUInt16BE(at + 18)
  return {
    status,
    rejoined: (notes & REJOINED) !== 0,
    implausible: (notes & IMPLAUSIBLE) !== 0,
    recovering: (notes & RECOVERING) !== 0,
    elsewhere: (notes & ELSEWHERE) !== 0,
    complete: bytes.readUInt32BE(at + 2),
    incomplete: bytes.readUInt32BE(at + 6),
    completed: bytes.readUInt32BE(at + 10),
    lastAnnounce: bytes.readUInt32BE(at + 14),
    now: bytes.readUInt32BE(at + 20),
    picked: socket === undefined ? decodePicked(reply, first, end, notes, own, peer.withPeerIds) : NO_PEERS,
    sockets: socket === undefined || status === 'held' ? NO_SOCKETS : decodeSockets(piece),
    holder: status === 'held' ? Buffer.from(piece) : undefined,
  }
}

/** Copied, because it is kept for as long as the swarm has sockets. */
function decodeSockets(bytes: Buffer): readonly SocketCount[] {
  const sockets: SocketCount[] = []
  for (let from = 0; from < bytes.length; from += PROCESS_LENGTH + SOCKETS_LENGTH)
    sockets.push({
      process: Buffer.from(bytes.subarray(from, from + PROCESS_LENGTH)),
      seeders: bytes.readUInt32BE(from + PROCESS_LENGTH),
      others: bytes.readUInt32BE(from + PROCESS_LENGTH + 4),
    })
  return sockets
}

function decodePicked(
  reply: readonly Buffer[],
  from: number,
  to: number,
  notes: number,
  own: number,
  withPeerIds: boolean,
): PickedPeers {
  let [first, end] = [from, to]
  const siblings: number[] = []
  if ((notes & WITH_SIBLINGS) !== 0) {
    const places = reply[first++] ?? NO_BYTES
    for (let at = 0; at < places.length; at += 2) siblings.push(places.readUInt16BE(at))
  }
  const peerIds = withPeerIds && end > first ? reply[--end] : undefined
  const hasIpv6 = (notes & WITH_IPV6) !== 0
  const middle = hasIpv6 ? (first + end) / 2 : end
  const ipv4 = joined(reply, first, middle)
  return {
    count: ipv4.length / IPV4_LENGTH,
    ipv4,
    ipv6: hasIpv6 ? joined(reply, middle, end) : undefined,
    peerIds,
    own,
    siblings,
  }
}

function joined(pieces: readonly Buffer[], first: number, end: number): Buffer {
  const only = end - first === 1 ? pieces[first] : undefined
  return only ?? Buffer.concat(pieces.slice(first, end))
}

/** Decodes the result of scrape number i of a call. */
export function decodeCounts([results = NO_BYTES]: readonly Buffer[], i: number): SwarmCounts {
  const at = i * RESULT_LENGTH
  return {
    complete: results.readUInt32BE(at + 2),
    incomplete: results.readUInt32BE(at + 6),
    completed: results.readUInt32BE(at + 10),
    paused: results.readUInt32BE(at + 14),
  }
}

/** The error for a reply of another form, which can appear while two releases run side by side. */
export function unknownForm(): Error {
  return new UnavailableError('redis', { cause: new Error('a swarm answer has an unknown form') })
}

// PEER: a peer in the hash of a swarm -------------------------------------------------------------------------------

const PEER_LENGTH = 51
/** In the order of their numbers, the lowest bits of the flags. */
const ROLES = ['leecher', 'seeder', 'paused'] as const

/** Decodes a peer; undefined if the bytes are not one. `ipv6` is its IPv6 endpoint, zeros if it has none. */
export function decodePeer(value: Buffer, owner: Buffer, ipv6: Buffer): ListedPeer | undefined {
  if (value.length < PEER_LENGTH) return undefined
  const peerId = parsePeerId(value.toString('hex', 27, 47))
  const state = ROLES[(value[20] ?? 0) % 4]
  if (peerId === undefined || state === undefined) return undefined
  const beat = value.length > PEER_LENGTH ? value.readUInt32BE(PEER_LENGTH + PROCESS_LENGTH) : 0
  return {
    owner,
    peerId,
    state,
    endpoints: [value.subarray(21, 27), ipv6].flatMap(endpointsOf),
    uploaded: readUint56(value, 3),
    downloaded: value.readUIntBE(10, 6),
    lastAnnounce: Math.max(value.readUInt32BE(16), value.readUInt32BE(47), beat),
  }
}

function endpointsOf(bytes: Buffer): Endpoint[] {
  const port = bytes.readUInt16BE(bytes.length - 2)
  return port === 0 ? [] : [{ address: bytes.subarray(0, -2), port }]
}

// DELTA -------------------------------------------------------------------------------------------------------------

const DELTA_LENGTH = 53
const ACCOUNT_LENGTH = 32
/** Bits of the byte whose lower four are the state. */
const LEECHED = 16
const SNATCHED = 32

/**
 * Decodes the accumulated transfers of a user on a torrent.
 *
 * @param account the 16 bytes of the user's id followed by the 16 of the torrent's
 * @throws Error if either has another form
 */
export function decodeDelta(account: Buffer, bytes: Buffer): Delta {
  const roles = bytes[44] ?? 0
  const state = STATES[roles % 16]
  if (account.length !== ACCOUNT_LENGTH || bytes.length !== DELTA_LENGTH || state === undefined)
    throw new Error('an accounting delta in Redis has an unknown form')
  const completedAt = bytes.readUInt32BE(45)
  return {
    userId: uuidOf(account.subarray(0, 16)),
    torrentId: uuidOf(account.subarray(16)),
    creditedUp: readUint56(bytes, 0),
    creditedDown: readUint56(bytes, 7),
    actualUp: readUint56(bytes, 14),
    actualDown: readUint56(bytes, 21),
    seedSeconds: bytes.readUIntBE(28, 5),
    lastSeen: bytes.readUInt32BE(33),
    left: readUint56(bytes, 37),
    state,
    leeched: (roles & LEECHED) !== 0,
    snatched: (roles & SNATCHED) !== 0,
    completedAt: completedAt === 0 ? undefined : completedAt,
    firstSeen: bytes.readUInt32BE(49),
  }
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
