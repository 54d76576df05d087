import type { Duplex } from 'node:stream'

/** The text frames that wait to be written to one connection. */
export type Outbox = {
  /** Bytes that are not written yet. */
  readonly bytes: number
  /** Adds a text frame, one character for each byte of it, to be written with all others of this turn of the event loop. */
  add(text: string): void
  /** Writes them now, as has to be done before any other frame, so that none overtakes another. */
  flush(): void
}

/**
 * Creates the outboxes of one process. All frames for a connection that come up in one turn of the event loop are one
 * write: under load, writing takes more of a processor than everything else.
 *
 * @returns creates the outbox of a connection; nobody else may be in the middle of a frame while it writes
 */
export function createOutboxes(): (socket: Duplex) => Outbox {
  let waiting: Outbox[] = []
  const flushAll = (): void => {
    const all = waiting
    waiting = []
    for (const outbox of all) outbox.flush()
  }
  return (socket) => {
    let texts: string[] = []
    let bytes = 0
    const outbox: Outbox = {
      get bytes() {
        return bytes
      },
      add: (text) => {
        if (texts.length === 0 && waiting.push(outbox) === 1) setImmediate(flushAll)
        texts.push(text)
        bytes += headLength(text.length) + text.length
      },
      flush: () => {
        if (texts.length === 0) return
        const frames = Buffer.allocUnsafe(bytes)
        let at = 0
        for (const text of texts) {
          at = writeHead(frames, at, text.length)
          at += frames.write(text, at, 'latin1')
        }
        texts = []
        bytes = 0
        if (socket.writable) socket.write(frames)
      },
    }
    return outbox
  }
}

const FINAL_TEXT = 0x81

function headLength(length: number): number {
  if (length < 126) return 2
  return length < 65_536 ? 4 : 10
}

/** The head of an unmasked text frame (RFC 6455 section 5.2). */
function writeHead(frames: Buffer, at: number, length: number): number {
  frames[at] = FINAL_TEXT
  if (length < 126) {
    frames[at + 1] = length
    return at + 2
  }
  if (length < 65_536) {
    frames[at + 1] = 126
    return frames.writeUInt16BE(length, at + 2)
  }
  frames[at + 1] = 127
  frames.writeUInt32BE(0, at + 2)
  return frames.writeUInt32BE(length, at + 6)
}
