import type { Delta } from './swarm.ts'
import { STATES } from './wire.ts'

// DELTA -------------------------------------------------------------------------------------------------------------

const DELTA_LENGTH = 53
const ACCOUNT_LENGTH = 32
/** Bits of the byte whose lower four are the state. */
const LEECHED = 16
const SNATCHED = 32

/**
 * What accumulated for one user and torrent.
 *
 * @param account the 16 bytes of the user's id, then those of the torrent's
 * @throws Error when one of them has another form
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

/** Numbers up to 2^53 - 1 take seven bytes, and Buffer's own methods stop at six. */
function readUint56(bytes: Buffer, at: number): number {
  return bytes.readUIntBE(at, 3) * 0x1_0000_0000 + bytes.readUInt32BE(at + 3)
}
