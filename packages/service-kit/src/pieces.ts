import type { ServerResponse } from 'node:http'

/** Large enough that a piece costs little, small enough that what a client has read is soon seen. */
const PIECE_BYTES = 256 * 1024

const unwritten = new WeakMap<object, number>()

/** Emitted when an answer in pieces begins to wait for its client. */
export const WAITS = 'waits-for-client'

/**
 * Ends an answer with bytes, in pieces: each is written when the client has taken the one before. So what waits gets less
 * while a slow client reads, and the system holds one piece of it.
 */
export function endInPieces(response: ServerResponse, bytes: Uint8Array): void {
  let written = 0
  let waits = false
  const write = (): void => {
    const piece = bytes.subarray(written, written + PIECE_BYTES)
    written += piece.length
    unwritten.set(response, bytes.length - written)
    if (written === bytes.length) {
      response.end(piece)
      return
    }
    // Larger than what a response takes without asking to wait.
    response.write(piece)
    response.once('drain', write)
    if (!waits) response.emit(WAITS)
    waits = true
  }
  write()
}

/** How many bytes of an answer in pieces are still to be written; 0 for any other answer. */
export function unwrittenBytes(answer: object): number {
  return unwritten.get(answer) ?? 0
}
