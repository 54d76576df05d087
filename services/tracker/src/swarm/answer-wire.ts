import type { AnnounceStatus, SocketAnswer, SocketCount, SwarmAnswer, SwarmCounts } from './swarm.ts'

// RESULT ------------------------------------------------------------------------------------------------------------

const RESULT_LENGTH = 25
/** In the order of their numbers. */
const STATUSES: readonly AnnounceStatus[] = ['accepted', 'stopped_unknown_peer', 'announce_too_soon', 'slots_full']
const REJOINED = 1
const IMPLAUSIBLE = 2
const RECOVERING = 4
const ELSEWHERE = 8

const HELD = 4
/** The length of a process's name, and of the counts behind it. */
const PROCESS_LENGTH = 8
const SOCKETS_LENGTH = 8
/** Where a RESULT has how many pieces of the reply follow it. */
const PIECES_AT = 24

/** A RESULT, and the bytes that follow it. Both may be views of the reply. */
export type EncodedAnswer = { readonly result: Buffer; readonly rest: Buffer }

const NO_BYTES = Buffer.alloc(0)

/**
 * The answers to several announces.
 *
 * @param reply their RESULTs one behind the other, then the pieces that belong to each
 * @throws Error when it has another form
 */
export function splitAnswers(reply: readonly Buffer[], count: number): EncodedAnswer[] {
  const [results] = reply
  if (results?.length !== count * RESULT_LENGTH) throw unknownForm()
  const answers: EncodedAnswer[] = []
  for (let at = 0, piece = 1; answers.length < count; at += RESULT_LENGTH) {
    const pieces = results[at + PIECES_AT] ?? 0
    const rest = pieces > 1 ? Buffer.concat(reply.slice(piece, piece + pieces)) : pieces === 1 ? reply[piece] : NO_BYTES
    if (rest === undefined) throw unknownForm()
    answers.push({ result: results.subarray(at, at + RESULT_LENGTH), rest })
    piece += pieces
  }
  return answers
}

/** The answer to an announce over HTTP; `records` is a view of the bytes. */
export function decodeAnswer({ result: bytes, rest }: EncodedAnswer): SwarmAnswer {
  const status = STATUSES[bytes[0] ?? STATUSES.length]
  if (status === undefined) throw unknownForm()
  const flags = bytes[1] ?? 0
  return {
    status,
    rejoined: (flags & REJOINED) !== 0,
    implausible: (flags & IMPLAUSIBLE) !== 0,
    recovering: (flags & RECOVERING) !== 0,
    elsewhere: (flags & ELSEWHERE) !== 0,
    complete: bytes.readUInt32BE(2),
    incomplete: bytes.readUInt32BE(6),
    completed: bytes.readUInt32BE(10),
    lastAnnounce: bytes.readUInt32BE(14),
    recordCount: bytes.readUInt16BE(18),
    now: bytes.readUInt32BE(20),
    records: rest,
  }
}

/** The answer to an announce over a socket. */
export function decodeSocketAnswer(encoded: EncodedAnswer): SocketAnswer {
  const { result, rest: bytes } = encoded
  if (result[0] === HELD) return { status: 'held', holder: Buffer.from(bytes) }
  const answer = decodeAnswer(encoded)
  const sockets: SocketCount[] = []
  const length = PROCESS_LENGTH + SOCKETS_LENGTH
  for (let at = 0; at + length <= bytes.length; at += length)
    sockets.push({
      // A copy, since it is kept for as long as the swarm has sockets.
      process: Buffer.from(bytes.subarray(at, at + PROCESS_LENGTH)),
      seeders: bytes.readUInt32BE(at + PROCESS_LENGTH),
      others: bytes.readUInt32BE(at + PROCESS_LENGTH + 4),
    })
  return {
    status: answer.status,
    rejoined: answer.rejoined,
    implausible: answer.implausible,
    recovering: answer.recovering,
    elsewhere: answer.elsewhere,
    complete: answer.complete,
    incomplete: answer.incomplete,
    completed: answer.completed,
    lastAnnounce: answer.lastAnnounce,
    recordCount: answer.recordCount,
    now: answer.now,
    sockets,
  }
}

/** The counts of one swarm, as `scrape` returns them. */
export function decodeCounts(bytes: Buffer): SwarmCounts {
  return {
    complete: bytes.readUInt32BE(0),
    incomplete: bytes.readUInt32BE(4),
    paused: bytes.readUInt32BE(8),
    completed: bytes.readUInt32BE(12),
  }
}

function unknownForm(): Error {
  return new Error('a swarm answer has an unknown form')
}
