import type { Delta } from './accounting.ts'

// The layout of DELTA in lua/swarm.lua.
const STATES = ['stopped', 'leecher', 'seeder', 'paused'] as const

/**
 * Reads what gathered for one user and torrent.
 *
 * @param field the 16 bytes of the user's id, then those of the torrent's
 * @param value as the swarm's function packs it
 * @throws Error when it has another form
 */
export function readDelta(field: Buffer, value: Buffer): Delta {
  const state = STATES[value[44] ?? STATES.length]
  if (field.length !== 32 || value.length !== 53 || state === undefined)
    throw new Error('the accounting of a user has an unknown form')
  const completedAt = value.readUInt32BE(45)
  return {
    userId: uuidOf(field.subarray(0, 16)),
    torrentId: uuidOf(field.subarray(16)),
    creditedUp: readUint56(value, 0),
    creditedDown: readUint56(value, 7),
    actualUp: readUint56(value, 14),
    actualDown: readUint56(value, 21),
    seedSeconds: value.readUIntBE(28, 5),
    lastSeen: value.readUInt32BE(33),
    left: readUint56(value, 37),
    state,
    completedAt: completedAt === 0 ? undefined : completedAt,
    firstSeen: value.readUInt32BE(49),
  }
}

function readUint56(bytes: Buffer, at: number): number {
  return bytes.readUIntBE(at, 3) * 0x1_0000_0000 + bytes.readUInt32BE(at + 3)
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
