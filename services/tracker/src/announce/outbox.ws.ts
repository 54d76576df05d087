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
 * write: under load, writing takes more of a processor than everything else. They are written as a string of bytes, which
 * Node hands to the kernel without a buffer that would have to be collected.
 *
 * @returns creates the outbox of a connection; nobody else may be in the middle of a frame while it writes
 */
export function createOutboxes(): (socket: Duplex) => Outbox {
  let waiting: ConnectionOutbox[] = []
  const flushAll = (): void => {
    const all = waiting
    waiting = []
    for (const outbox of all) outbox.flush()
  }
  const onFirst = (outbox: ConnectionOutbox): void => {
    if (waiting.push(outbox) === 1) setImmediate(flushAll)
  }
  return (socket) => new ConnectionOutbox(socket, onFirst)
}

/** A class, since there is one for each connection: its methods are shared. */
class ConnectionOutbox implements Outbox {
  private frames = ''
  private readonly socket: Duplex
  private readonly onFirst: (outbox: ConnectionOutbox) => void

  constructor(socket: Duplex, onFirst: (outbox: ConnectionOutbox) => void) {
    this.socket = socket
    this.onFirst = onFirst
  }

  get bytes(): number {
    return this.frames.length
  }

  add(text: string): void {
    if (this.frames === '') this.onFirst(this)
    this.frames += headOf(text.length) + text
  }

  flush(): void {
    const { frames, socket } = this
    if (frames === '') return
    this.frames = ''
    if (socket.writable) socket.write(frames, 'latin1')
  }
}

/** The head of an unmasked text frame (RFC 6455 section 5.2). */
function headOf(length: number): string {
  if (length < 126) return String.fromCharCode(FINAL_TEXT, length)
  if (length < 65_536) return String.fromCharCode(FINAL_TEXT, 126, length >>> 8, length & 0xff)
  const bytes = [24, 16, 8, 0].map((shift) => (length >>> shift) & 0xff)
  return String.fromCharCode(FINAL_TEXT, 127, 0, 0, 0, 0, ...bytes)
}

const FINAL_TEXT = 0x81
