import { type ListedPeer, type PeerId, parsePeerId } from '@vault-and-tracker/bencode-tracker'
import type { SwarmAnswer } from './swarm.ts'

// The layout of RECORD in lua/swarm.lua.
const RECORD = 37
const IPV4 = 10
const EXPIRES = 16
const IPV6 = 19
const ENTRY4 = 6
const ENTRY6 = 18
const ID = 20
/** Minutes of expiry count from 2020. */
const EPOCH = 1_577_836_800

/** Who asks, and when. */
export type Asker = {
  /** 8 bytes. Peers of the same owner, the asker among them, are left out. */
  readonly owner: Buffer
  /** Peers that listen there are left out too: address and port, as in a record. */
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

const NOBODY = new Uint8Array(0)

/**
 * Cuts the wanted number of peers out of what the swarm picked, from a random one on. A peer with two addresses is sent
 * with both, and counts once.
 */
export function selectPeers(answer: SwarmAnswer, asker: Asker): CompactPeers {
  const { records, recordCount } = answer
  if (recordCount === 0 || asker.want === 0) return { peers: NOBODY, peers6: NOBODY }
  const room = Math.min(recordCount, asker.want)
  const peers = Buffer.allocUnsafe(room * ENTRY4)
  const peers6 = Buffer.allocUnsafe(room * ENTRY6)
  let length = 0
  let length6 = 0
  forEachPeer(answer, asker, (at) => {
    if (hasIpv4(records, at)) length = append(peers, length, records, at + IPV4, ENTRY4)
    if (hasIpv6(records, at)) length6 = append(peers6, length6, records, at + IPV6, ENTRY6)
  })
  return { peers: peers.subarray(0, length), peers6: length6 === 0 ? NOBODY : peers6.subarray(0, length6) }
}

/** For so few bytes a loop is several times faster than `Buffer.copy`. */
function append(to: Buffer, at: number, from: Buffer, start: number, length: number): number {
  for (let i = 0; i < length; i++) to[at + i] = from[start + i] ?? 0
  return at + length
}

/** As `selectPeers`, for the list form (BEP 3); the announce must have asked for peer ids. */
export function listPeers(answer: SwarmAnswer, asker: Asker): ListedPeer[] {
  const { records, recordCount } = answer
  const listed: ListedPeer[] = []
  forEachPeer(answer, asker, (at) => {
    const peerId = idAt(records, recordCount * RECORD + (at / RECORD) * ID)
    if (peerId === undefined) return
    if (hasIpv4(records, at)) listed.push(entry(records, at + IPV4, ENTRY4, peerId))
    if (hasIpv6(records, at)) listed.push(entry(records, at + IPV6, ENTRY6, peerId))
  })
  return listed
}

function forEachPeer({ records, recordCount }: SwarmAnswer, asker: Asker, take: (at: number) => void): void {
  const minute = Math.floor((asker.now - EPOCH) / 60)
  let taken = 0
  let index = asker.random % recordCount
  for (let seen = 0; seen < recordCount && taken < asker.want; seen++) {
    const at = index * RECORD
    index = index + 1 === recordCount ? 0 : index + 1
    const expires = (records[at + EXPIRES] ?? 0) * 65_536 + records.readUInt16BE(at + EXPIRES + 1)
    if (expires < minute || isAt(records, at, asker.owner)) continue
    if (!hasIpv4(records, at) && !hasIpv6(records, at)) continue
    if (asker.endpoints !== undefined && listensAt(records, at, asker.endpoints)) continue
    take(at)
    taken += 1
  }
}

function listensAt(records: Buffer, at: number, { ipv4, ipv6 }: NonNullable<Asker['endpoints']>): boolean {
  return (
    (ipv4 !== undefined && hasIpv4(records, at) && isAt(records, at + IPV4, ipv4)) ||
    (ipv6 !== undefined && hasIpv6(records, at) && isAt(records, at + IPV6, ipv6))
  )
}

function isAt(records: Buffer, at: number, bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (records[at + i] !== bytes[i]) return false
  return true
}

/** An address that was never announced, or must not be handed out, has port 0. */
function hasIpv4(records: Buffer, at: number): boolean {
  return (records[at + IPV4 + 4] ?? 0) + (records[at + IPV4 + 5] ?? 0) > 0
}

function hasIpv6(records: Buffer, at: number): boolean {
  return (records[at + IPV6 + 16] ?? 0) + (records[at + IPV6 + 17] ?? 0) > 0
}

function idAt(records: Buffer, at: number): PeerId | undefined {
  return parsePeerId(records.toString('hex', at, at + ID))
}

function entry(records: Buffer, at: number, length: number, peerId: PeerId): ListedPeer {
  const end = at + length - 2
  return { address: records.subarray(at, end), port: records.readUInt16BE(end), peerId }
}
