import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { PingedConnection } from './heartbeat.ts'
import type { Session, SocketConnection } from './socket-session.ts'
import { headOf, type WriteQueue } from './write-queue.ts'

const MAX_BUFFERED = 262_144
/** What Node copies and writes without allocating memory is no more than 16 KiB. */
const FULL_WRITE = 14_000
const PONG_WITHIN_MS = 3_000
/** Bytes of messages that wait to be answered, besides what came in one piece with the last of them. */
const MAX_UNANSWERED = 262_144
/** How many messages may come at once: those of so many milliseconds. */
const BURST_MS = 10_000

/** A WebSocket connection with its state: one object and not two, since there are many connections. */
export class Connection extends WebSocket implements SocketConnection, PingedConnection {
  /** Something was received since the last ping. */
  heard = true
  /** It is not read at the moment, so nothing can be received. */
  held = false
  /** Which group of the heartbeat it is in. */
  pingGroup = 0
  session: Session | undefined = undefined
  /** What the limit for addresses counts it by. */
  addressKey = ''
  private stream: Duplex | undefined = undefined
  private queue: WriteQueue | undefined = undefined
  private millisecondsPerMessage = 0
  /** Text frames that are not written yet, one character for each byte. */
  private frames = ''
  /** The answer to a ping, which all who ask meanwhile share. */
  private asked: Promise<boolean> | undefined = undefined
  /** Until when the allowed rate of messages is used up, in milliseconds of `performance.now()`. */
  private usedUntil = 0
  private isOverRate = false
  private unanswered = 0

  /**
   * Prepares it when it is open.
   *
   * @param stream that below the WebSocket; nobody else may be in the middle of a frame while it is written to
   */
  start(stream: Duplex, queue: WriteQueue, messagesPerSecond: number): void {
    this.stream = stream
    this.queue = queue
    this.millisecondsPerMessage = 1000 / messagesPerSecond
  }

  sendText(bytes: string): boolean {
    const { stream } = this
    if (stream === undefined || this.readyState !== this.OPEN) return false
    if (stream.writableLength + this.frames.length > MAX_BUFFERED) {
      this.terminate()
      return false
    }
    if (this.frames === '') this.queue?.add(this)
    this.frames += headOf(bytes.length) + bytes
    // Much that is kept until the end of a turn is copied by every garbage collection.
    if (this.frames.length > FULL_WRITE) this.flush()
    return true
  }

  /** Writes the frames that wait, as has to be done before any other frame, so that none overtakes another. */
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

  isAlive(): Promise<boolean> {
    return (this.asked ??= this.ask().finally(() => {
      this.asked = undefined
    }))
  }

  private ask(): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.readyState !== this.OPEN) {
        resolve(false)
        return
      }
      const settle = (alive: boolean): void => {
        clearTimeout(timer)
        this.off('pong', onPong)
        resolve(alive)
      }
      const onPong = (): void => settle(true)
      const timer = setTimeout(() => settle(false), PONG_WITHIN_MS)
      this.on('pong', onPong)
      this.ping()
    })
  }

  /**
   * Counts a message, and reads no further from a client that sends too much. What came in one piece with the message
   * that was too much is taken, and waited for.
   */
  spend(): void {
    const now = performance.now()
    this.usedUntil = Math.max(this.usedUntil, now) + this.millisecondsPerMessage
    if (this.usedUntil - now <= BURST_MS || this.isOverRate) return
    this.hold()
    this.isOverRate = true
    this.waitForRate(now)
  }

  /** Keeps a message in mind until it is answered, and reads no further while too much waits. */
  waitFor(answered: Promise<void>, bytes: number): void {
    this.unanswered += bytes
    if (this.unanswered > MAX_UNANSWERED) this.hold()
    const onAnswered = (): void => {
      this.unanswered -= bytes
      this.release()
    }
    answered.then(onAnswered, onAnswered)
  }

  private hold(): void {
    if (this.held) return
    this.held = true
    this.pause()
  }

  private release(): void {
    if (!this.held || this.isOverRate || this.unanswered > MAX_UNANSWERED) return
    this.held = false
    this.heard = true
    this.resume()
  }

  private waitForRate(now: number): void {
    const onDue = (): void => {
      const later = performance.now()
      if (this.usedUntil - later > BURST_MS) {
        this.waitForRate(later)
        return
      }
      this.isOverRate = false
      this.release()
    }
    setTimeout(onDue, Math.ceil(this.usedUntil - BURST_MS - now)).unref()
  }
}
