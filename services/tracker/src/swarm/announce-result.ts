import type { AnnounceStatus, SwarmAnswer, SwarmCounts } from './swarm.ts'

// The layout of RESULT in lua/swarm.lua.
const STATUSES: readonly AnnounceStatus[] = ['accepted', 'stopped_unknown_peer', 'announce_too_soon', 'slots_full']
const REJOINED = 1
const IMPLAUSIBLE = 2
const HURRIED = 4
const HEAD = 20

/** What the swarm's function answered to one announce; the records are a view into the bytes. */
export function readAnswer(bytes: Buffer): SwarmAnswer {
  const status = STATUSES[bytes[0] ?? STATUSES.length]
  if (status === undefined || bytes.length < HEAD) throw new Error('the swarm answered in an unknown form')
  const notes = bytes[1] ?? 0
  return {
    status,
    rejoined: (notes & REJOINED) !== 0,
    implausible: (notes & IMPLAUSIBLE) !== 0,
    hurried: (notes & HURRIED) !== 0,
    complete: bytes.readUInt32BE(2),
    incomplete: bytes.readUInt32BE(6),
    completed: bytes.readUInt32BE(10),
    lastAnnounce: bytes.readUInt32BE(14),
    recordCount: bytes.readUInt16BE(18),
    records: bytes.subarray(HEAD),
  }
}

/** What the swarm's function answered about one swarm. */
export function readCounts(bytes: Buffer): SwarmCounts {
  return {
    complete: bytes.readUInt32BE(0),
    incomplete: bytes.readUInt32BE(4),
    paused: bytes.readUInt32BE(8),
    completed: bytes.readUInt32BE(12),
  }
}
