import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Beat } from './heartbeat.ws.ts'
import type { Outbox } from './outbox.ws.ts'
import type { SocketLine } from './socket-session.ts'

const MAX_BUFFERED = 262_144
const PONG_WITHIN_MS = 3_000
/** Bytes of messages that wait to be answered, besides what came in one piece with the last of them. */
const MAX_UNANSWERED = 262_144
/** Messages at once, in seconds of the rate. */
const BURST_S = 10

/** One connection. A class, since there are many: what it does is shared, and not kept for each. */
export class Connection implements SocketLine, Beat {
  alive = true
  paused = false
  readonly socket: WebSocket
  private readonly stream: Duplex
  private readonly outbox: Outbox
  private readonly messagesPerSecond: number
  private tokens: number
  private isWaiting = false
  /** The answer to a ping, which all who ask meanwhile share. */
  private asked: Promise<boolean> | undefined
  private filledAt: number
  private unanswered = 0

  /** @param outbox writes to the stream, which is that below the socket */
  constructor(socket: WebSocket, stream: Duplex, outbox: Outbox, messagesPerSecond: number) {
    this.socket = socket
    this.stream = stream
    this.outbox = outbox
    this.messagesPerSecond = messagesPerSecond
    this.tokens = messagesPerSecond * BURST_S
    this.filledAt = performance.now()
  }

  send(bytes: string): boolean {
    const { socket, outbox } = this
    if (socket.readyState !== socket.OPEN) return false
    if (this.stream.writableLength + outbox.bytes > MAX_BUFFERED) {
      socket.terminate()
      return false
    }
    outbox.add(bytes)
    return true
  }

  close(code: number, reason: string): void {
    this.outbox.flush()
    this.socket.close(code, reason)
  }

  isAlive(): Promise<boolean> {
    return (this.asked ??= this.ask().finally(() => {
      this.asked = undefined
    }))
  }

  private ask(): Promise<boolean> {
    const { socket } = this
    return new Promise((resolve) => {
      if (socket.readyState !== socket.OPEN) {
        resolve(false)
        return
      }
      const settle = (alive: boolean): void => {
        clearTimeout(timer)
        socket.off('pong', onPong)
        resolve(alive)
      }
      const onPong = (): void => settle(true)
      const timer = setTimeout(() => settle(false), PONG_WITHIN_MS)
      socket.on('pong', onPong)
      socket.ping()
    })
  }

  /**
   * Counts a message, and reads no further from a client that sends too much. What came in one piece with the message
   * that was too much is taken, and waited for.
   */
  spend(): void {
    this.refill()
    this.tokens -= 1
    if (this.tokens >= 0 || this.isWaiting) return
    this.hold()
    this.waitForTokens()
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
    if (this.paused) return
    this.paused = true
    this.socket.pause()
  }

  private release(): void {
    if (!this.paused || this.isWaiting || this.unanswered > MAX_UNANSWERED) return
    this.paused = false
    this.alive = true
    this.socket.resume()
  }

  private refill(): void {
    const now = performance.now()
    const { messagesPerSecond } = this
    const added = ((now - this.filledAt) / 1000) * messagesPerSecond
    this.tokens = Math.min(messagesPerSecond * BURST_S, this.tokens + added)
    this.filledAt = now
  }

  private waitForTokens(): void {
    this.isWaiting = true
    const onDue = (): void => {
      this.refill()
      if (this.tokens < 0) {
        this.waitForTokens()
        return
      }
      this.isWaiting = false
      this.release()
    }
    setTimeout(onDue, Math.ceil((1000 * -this.tokens) / this.messagesPerSecond)).unref()
  }
}
