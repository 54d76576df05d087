import type { AnnounceKind, PeerState } from './peer-state.ts'
import type { PeerAnnounce, SwarmTerms } from './swarm.ts'

// The layout of ANNOUNCE and CALL in lua/swarm.lua.
const KINDS: Record<AnnounceKind, number> = { regular: 0, started: 1, completed: 2, stopped: 3 }
const STATES: Record<PeerState, number> = { stopped: 0, leecher: 1, seeder: 2, paused: 3 }
const ACCOUNTED = 1
const WITH_IDS = 2
const EVICTS = 4
const LENGTH = 126

/** Picked beyond those wanted: himself, his other clients, and whoever has no address for him. */
const SPARE_RECORDS = 10

/**
 * One announce as the swarm's function reads it.
 *
 * @param random 32 random bits, which decide where the picking starts
 */
export function announceRecord(announce: PeerAnnounce, evicts: boolean, random: number): Buffer {
  const bytes = Buffer.allocUnsafe(LENGTH)
  const { account, ipv4, ipv6 } = announce
  announce.owner.copy(bytes, 0)
  bytes.write(announce.peerId, 8, 'hex')
  bytes[28] = (ipv4 === undefined ? 0 : 1) + (ipv6 === undefined ? 0 : 2)
  bytes.fill(0, 29, 53)
  if (ipv4 !== undefined) bytes.set(ipv4, 29)
  if (ipv6 !== undefined) bytes.set(ipv6, 35)
  bytes[53] = KINDS[announce.kind]
  bytes[54] = STATES[announce.state]
  writeUint56(bytes, announce.uploaded, 55)
  writeUint56(bytes, announce.downloaded, 62)
  writeUint56(bytes, announce.left, 69)
  bytes[76] = announce.want === 0 ? 0 : announce.want + SPARE_RECORDS
  bytes.writeUInt32BE(random, 77)
  bytes.writeUInt16BE(account?.uploadPercent ?? 0, 81)
  bytes.writeUInt16BE(account?.downloadPercent ?? 0, 83)
  bytes.writeUInt32BE(announce.completed, 85)
  bytes.writeUInt32BE(announce.expected, 89)
  bytes[93] = (account ? ACCOUNTED : 0) + (announce.withPeerIds ? WITH_IDS : 0) + (evicts ? EVICTS : 0)
  if (account) account.id.copy(bytes, 94)
  else bytes.fill(0, 94)
  return bytes
}

/** The terms of one call as the swarm's functions read them; `now` in seconds since the epoch. */
export function termsRecord(terms: SwarmTerms, now: number): Buffer {
  const bytes = Buffer.alloc(32)
  bytes.writeUInt32BE(now, 0)
  bytes.writeUInt32BE(terms.timeToLive, 4)
  bytes.writeUInt32BE(terms.minInterval, 8)
  bytes.writeUInt32BE(terms.repeatWindow, 12)
  bytes.writeUInt32BE(terms.hurriedInterval, 16)
  bytes.writeUInt16BE(terms.slots, 20)
  bytes.writeUInt32BE(terms.keepCounters, 22)
  bytes.writeUIntBE(terms.fastest, 26, 6)
  return bytes
}

/** A number up to 2^53 - 1 in seven bytes: Buffer's own methods stop at six. */
function writeUint56(bytes: Buffer, value: number, at: number): void {
  const high = Math.floor(value / 0x1_0000_0000)
  bytes[at] = high >>> 16
  bytes[at + 1] = high >>> 8
  bytes[at + 2] = high
  bytes.writeUInt32BE(value % 0x1_0000_0000, at + 3)
}
