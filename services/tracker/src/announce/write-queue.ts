/** A connection with frames to write. */
export type Writer = {
  /** Writes them now. */
  flush(): void
}

/** The connections of one process that have frames to write. */
export type WriteQueue = {
  /** Has a connection write at the end of this turn of the event loop. */
  add(writer: Writer): void
}

/**
 * Creates the queue. All frames for a connection that come up in one turn of the event loop are one write: under load,
 * a write takes more processor time than a message. They are written as a string of bytes, which Node hands to the
 * kernel without a buffer that would have to be collected.
 */
export function createWriteQueue(): WriteQueue {
  let waiting: Writer[] = []
  const flushAll = (): void => {
    const all = waiting
    waiting = []
    for (const writer of all) writer.flush()
  }
  return {
    add: (writer) => {
      if (waiting.push(writer) === 1) setImmediate(flushAll)
    },
  }
}

/** The head of an unmasked text frame (RFC 6455 section 5.2), one character for each byte. */
export function headOf(length: number): string {
  if (length < 126) return String.fromCharCode(FINAL_TEXT, length)
  if (length < 65_536) return String.fromCharCode(FINAL_TEXT, 126, length >>> 8, length & 0xff)
  const bytes = [24, 16, 8, 0].map((shift) => (length >>> shift) & 0xff)
  return String.fromCharCode(FINAL_TEXT, 127, 0, 0, 0, 0, ...bytes)
}

const FINAL_TEXT = 0x81
