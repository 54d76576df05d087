import type { ServerResponse } from 'node:http'

/** Large enough to cost little per chunk, small enough to notice soon what a client has read. */
const CHUNK_BYTES = 256 * 1024

/** The bytes of a response that are not written yet. */
const UNWRITTEN = Symbol('unwritten')
type Chunked = { [UNWRITTEN]?: number }

/** Emitted once when a chunked response has to wait for its client. */
export const WAITS = 'waits-for-client'

/**
 * Ends a response with bytes, in chunks: each is written when the client has taken the one before, so the count of unread
 * bytes falls while a slow client reads.
 */
export function endInChunks(response: ServerResponse & Chunked, bytes: Uint8Array): void {
  let written = 0
  const write = (): void => {
    const isFirst = written === 0
    const chunk = bytes.subarray(written, written + CHUNK_BYTES)
    written += chunk.length
    response[UNWRITTEN] = bytes.length - written
    if (written === bytes.length) {
      response.end(chunk)
      return
    }
    // A chunk exceeds the high-water mark, so `drain` always follows.
    response.write(chunk)
    response.once('drain', write)
    if (isFirst) response.emit(WAITS)
  }
  write()
}

/** The number of bytes of a chunked response that are not written yet; 0 for any other response. */
export function unwrittenBytes(response: object): number {
  return (response as Chunked)[UNWRITTEN] ?? 0
}
