import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { type Beat, startHeartbeat } from './heartbeat.ws.ts'
import { createOutboxes, type Outbox } from './outbox.ws.ts'
import type { SocketCounters } from './socket-counters.ts'
import type { SocketLine, SocketOpening } from './socket-session.ts'
import type { SocketTracker } from './socket-tracker.ts'
import { createUpgrades, type UpgradeLimits, type Upgrades } from './upgrades.ws.ts'

/** WebSocket connections of one process. */
export type Sockets = Pick<Upgrades, 'attach'> & {
  /** Refuses further upgrades, answers what was received, closes every connection with 1001. */
  drain(): Promise<void>
}

/** How connections are limited. */
export type SocketLimits = UpgradeLimits & {
  readonly messagesPerSecond: number
  readonly pingEveryMs: number
  /** How long a connection may take to show that it belongs to a user. */
  readonly knownWithinMs: number
}

const MAX_BUFFERED = 262_144
const PONG_WITHIN_MS = 3_000
/** At the stop, a client has so long to answer that its connection closes. */
const CLOSE_WITHIN_MS = 1_000
/** Messages at once, in seconds of the rate. */
const BURST_S = 10
const POLICY_VIOLATION = 1008

/** Serves the WebTorrent protocol over WebSockets (RFC 6455). `addressOf` and `keyOf` are those of the upgrades. */
export function createSockets(options: {
  tracker: Pick<SocketTracker, 'open' | 'receive' | 'closed' | 'drain'>
  limits: SocketLimits
  counters: SocketCounters
  addressOf: (request: IncomingMessage) => string
  keyOf: (address: string) => string
}): Sockets {
  const { tracker, limits, counters } = options
  const heartbeat = startHeartbeat(limits.pingEveryMs)
  const outboxOf = createOutboxes()

  const opened = (socket: WebSocket, stream: Duplex, opening: SocketOpening): void => {
    const beat: Beat = { alive: true, paused: false, socket }
    heartbeat.add(beat)
    counters.countOpened()
    const session = tracker.open(lineOf(socket, stream, outboxOf(stream)), opening)
    const spend = createReadingRate(beat, limits.messagesPerSecond)
    const unknown = setTimeout(() => {
      if (!session.isKnown) socket.close(POLICY_VIOLATION, 'No announce or scrape in time')
    }, limits.knownWithinMs)
    unknown.unref()

    socket.on('message', (data: RawData, isBinary: boolean) => {
      beat.alive = true
      tracker.receive(session, isBinary || !Buffer.isBuffer(data) ? undefined : data)
      spend()
    })
    socket.on('pong', () => {
      beat.alive = true
    })
    // What breaks the protocol closes the connection, with the code of RFC 6455 section 7.4.1.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(unknown)
      heartbeat.remove(beat)
      counters.countClosed()
      tracker.closed(session)
    })
  }

  const upgrades = createUpgrades({ ...options, opened })
  return {
    attach: (server: Server) => upgrades.attach(server),
    drain: async () => {
      upgrades.stop()
      heartbeat.stop()
      await tracker.drain()
      setTimeout(() => heartbeat.terminateAll(), CLOSE_WITHIN_MS).unref()
    },
  }
}

/**
 * Reads no further from a client that sends too much. What came in one piece with the message that was too much is taken,
 * and waited for.
 *
 * @returns to be called after each message
 */
function createReadingRate(beat: Beat, messagesPerSecond: number): () => void {
  const most = messagesPerSecond * BURST_S
  let tokens = most
  let filledAt = performance.now()
  const refill = (): void => {
    const now = performance.now()
    tokens = Math.min(most, tokens + ((now - filledAt) / 1000) * messagesPerSecond)
    filledAt = now
  }
  const wait = (): void => {
    const resume = setTimeout(
      () => {
        refill()
        if (tokens < 0) {
          wait()
          return
        }
        beat.paused = false
        beat.alive = true
        beat.socket.resume()
      },
      Math.ceil((1000 * -tokens) / messagesPerSecond),
    )
    resume.unref()
  }
  return () => {
    refill()
    tokens -= 1
    if (tokens >= 0 || beat.paused) return
    beat.paused = true
    beat.socket.pause()
    wait()
  }
}

function lineOf(socket: WebSocket, stream: Duplex, outbox: Outbox): SocketLine {
  return {
    send: (bytes) => {
      if (socket.readyState !== socket.OPEN) return false
      if (stream.writableLength + outbox.bytes > MAX_BUFFERED) {
        socket.terminate()
        return false
      }
      outbox.add(bytes)
      return true
    },
    close: (code, reason) => {
      outbox.flush()
      socket.close(code, reason)
    },
    isAlive: () =>
      new Promise((resolve) => {
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
      }),
  }
}
