import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { type RawData, WebSocket } from 'ws'
import { POLICY_VIOLATION, type SocketConnection, type SocketOpening, type SocketPeer } from './connections.ts'
import type { SocketTracker } from './tracker.ts'

/** The state that the connections of one process share. */
export type ConnectionShared = {
  readonly tracker: Pick<SocketTracker, 'receive' | 'closed'>
  readonly messagesPerSecond: number
  /** Time limit for the first valid request of a connection. */
  readonly firstRequestWithinMs: number
  /** The connections with frames to write. */
  readonly writers: Connection[]
}

const MAX_BUFFERED = 262_144
/** Node copies and writes up to 16 KiB without allocating memory. */
const FULL_WRITE = 14_000
const PONG_WITHIN_MS = 3_000
/** Maximum bytes of unanswered messages. Messages in the same chunk as the last one may exceed it. */
const MAX_UNANSWERED = 262_144
/** A burst may contain the messages of this many milliseconds at the allowed rate. */
const BURST_MS = 10_000
const FINAL_TEXT = 0x81
const NOT_OPEN: SocketOpening = {
  ...{ passkey: undefined, failure: undefined, address: new Uint8Array(0), addressKey: '' },
  ...{ member: undefined, endsAt: undefined },
}

/** A WebSocket connection with the state of its client. One object instead of two saves memory per connection. */
export class Connection extends WebSocket implements SocketConnection {
  opening = NOT_OPEN
  readonly peers = new Map<string, SocketPeer>()
  owner: Buffer | undefined = undefined
  malformed = 0
  isEnded = false
  group = 0
  private shared: ConnectionShared | undefined = undefined
  private stream: Duplex | undefined = undefined
  /** Text frames that are not written yet, one character per byte. */
  private frames = ''
  private firstRequest: NodeJS.Timeout | undefined = undefined
  /** Whether anything was received since the last ping. */
  private isHeard = true
  /** Whether reading is paused, so that nothing can be received. */
  private isHeld = false
  /** The pending answer to a ping, which concurrent callers share. */
  private alive: Promise<boolean> | undefined = undefined
  /** The time in milliseconds of `performance.now()` until which the allowed rate of messages is used up. */
  private usedUntil = 0
  private isOverRate = false
  private unanswered = 0

  /**
   * Starts an open connection.
   *
   * @param stream below the WebSocket. It is written to directly, so no other code may write parts of frames
   */
  start(shared: ConnectionShared, stream: Duplex, opening: SocketOpening): void {
    this.shared = shared
    this.stream = stream
    this.opening = opening
    const overdue = (): void => this.closeWith(POLICY_VIOLATION, 'No announce or scrape in time')
    this.firstRequest = setTimeout(overdue, shared.firstRequestWithinMs).unref()
    this.on('message', onMessage)
    this.on('pong', onPong)
    // A violation of the protocol closes the connection, with the code of RFC 6455 section 7.4.1.
    this.on('error', () => undefined)
    this.on('close', onClose)
  }

  /** Handles a message, and stops reading from a client that sends too many. */
  receive(frame: Buffer | undefined): void {
    const { shared } = this
    if (shared === undefined) return
    this.isHeard = true
    shared.tracker.receive(this, frame)
    const now = performance.now()
    this.usedUntil = Math.max(this.usedUntil, now) + 1000 / shared.messagesPerSecond
    // Messages in the same chunk as the one over the limit are still handled, and the pause is longer.
    if (this.isOverRate || this.usedUntil - now <= BURST_MS) return
    this.hold()
    this.waitForRate()
  }

  heard(): void {
    this.isHeard = true
  }

  closed(): void {
    this.served()
    this.shared?.tracker.closed(this)
  }

  served(): void {
    if (this.firstRequest === undefined) return
    clearTimeout(this.firstRequest)
    this.firstRequest = undefined
  }

  sendText(bytes: string): boolean {
    const { stream, shared } = this
    if (stream === undefined || shared === undefined || this.readyState !== this.OPEN) return false
    if (stream.writableLength + this.frames.length > MAX_BUFFERED) {
      this.terminate()
      return false
    }
    if (this.frames === '' && shared.writers.push(this) === 1) setImmediate(flushAll, shared.writers)
    this.frames += headOf(bytes.length) + bytes
    // Each garbage collection would copy a large queue.
    if (this.frames.length > FULL_WRITE) this.flush()
    return true
  }

  /**
   * Writes the queued frames. All frames of one turn of the event loop are one write, because under load a write costs
   * more processor time than a message. Node writes a binary string without allocating a buffer.
   */
  flush(): void {
    const { frames, stream } = this
    if (frames === '') return
    this.frames = ''
    if (stream?.writable === true) stream.write(frames, 'latin1')
  }

  closeWith(code: number, reason: string): void {
    this.flush()
    this.close(code, reason)
  }

  beat(): void {
    if (!this.isHeard && !this.isHeld) this.terminate()
    this.isHeard = false
    if (!this.isHeld) this.ping()
  }

  isAlive(): Promise<boolean> {
    return (this.alive ??= this.ask().finally(() => {
      this.alive = undefined
    }))
  }

  private async ask(): Promise<boolean> {
    if (this.readyState !== this.OPEN) return false
    const pong = once(this, 'pong', { signal: AbortSignal.timeout(PONG_WITHIN_MS) })
    this.ping()
    return pong.then(
      () => true,
      () => false,
    )
  }

  waitFor(bytes: number): void {
    this.unanswered += bytes
    if (this.unanswered > MAX_UNANSWERED) this.hold()
  }

  answered(bytes: number): void {
    this.unanswered -= bytes
    this.release()
  }

  private hold(): void {
    if (this.isHeld) return
    this.isHeld = true
    this.pause()
  }

  private release(): void {
    if (!this.isHeld || this.isOverRate || this.unanswered > MAX_UNANSWERED) return
    this.isHeld = false
    this.isHeard = true
    this.resume()
  }

  private waitForRate(): void {
    const wait = this.usedUntil - BURST_MS - performance.now()
    this.isOverRate = wait > 0
    if (this.isOverRate) setTimeout(() => this.waitForRate(), Math.ceil(wait)).unref()
    else this.release()
  }
}

// All connections share these listeners; `this` is the connection.
function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  if (this instanceof Connection) this.receive(isBinary || !Buffer.isBuffer(data) ? undefined : data)
}

function onPong(this: WebSocket): void {
  if (this instanceof Connection) this.heard()
}

function onClose(this: WebSocket): void {
  if (this instanceof Connection) this.closed()
}

function flushAll(writers: Connection[]): void {
  for (const writer of writers.splice(0)) writer.flush()
}

/** The head of an unmasked text frame (RFC 6455 section 5.2), one character per byte. */
function headOf(length: number): string {
  if (length < 126) return String.fromCharCode(FINAL_TEXT, length)
  if (length < 65_536) return String.fromCharCode(FINAL_TEXT, 126, length >>> 8, length & 0xff)
  return String.fromCharCode(FINAL_TEXT, 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (length >>> shift) & 0xff))
}
