import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { Connection } from './connection.ws.ts'
import { startHeartbeat } from './heartbeat.ws.ts'
import { createOutboxes } from './outbox.ws.ts'
import type { SocketCounters } from './socket-counters.ts'
import type { Session, SocketOpening } from './socket-session.ts'
import type { SocketTracker } from './socket-tracker.ts'
import { startStrangers } from './strangers.ts'
import { createUpgrades, type UpgradeLimits, type Upgrades } from './upgrades.ws.ts'

/** WebSocket connections of one process. */
export type Sockets = Pick<Upgrades, 'attach'> & {
  /** Refuses further upgrades, answers what was received, closes every connection with 1001. Returns whether Redis knows of all. */
  drain(): Promise<boolean>
}

/** How connections are limited. */
export type SocketLimits = UpgradeLimits & {
  readonly messagesPerSecond: number
  readonly pingEveryMs: number
  /** How long a connection may take to show that it belongs to a user. */
  readonly knownWithinMs: number
}

/** At the stop, a client has so long to answer that its connection closes. */
const CLOSE_WITHIN_MS = 1_000
const POLICY_VIOLATION = 1008
const ignore = (): void => undefined

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
  const strangers = startStrangers<Session>({
    withinMs: limits.knownWithinMs,
    isKnown: ({ isKnown }) => isKnown,
    onOverdue: ({ line }) => line.close(POLICY_VIOLATION, 'No announce or scrape in time'),
  })

  const opened = (socket: WebSocket, stream: Duplex, opening: SocketOpening, closed: () => void): void => {
    const connection = new Connection(socket, stream, outboxOf(stream), limits.messagesPerSecond)
    heartbeat.add(connection)
    counters.countOpened()
    const session = tracker.open(connection, opening)
    strangers.add(session)

    socket.on('message', (data: RawData, isBinary: boolean) => {
      connection.alive = true
      const frame = isBinary || !Buffer.isBuffer(data) ? undefined : data
      const answered = tracker.receive(session, frame)
      connection.spend()
      if (answered !== undefined && frame !== undefined) connection.waitFor(answered, frame.length)
    })
    socket.on('pong', () => {
      connection.alive = true
    })
    // What breaks the protocol closes the connection, with the code of RFC 6455 section 7.4.1.
    socket.on('error', ignore)
    socket.on('close', () => {
      strangers.remove(session)
      heartbeat.remove(connection)
      counters.countClosed()
      tracker.closed(session)
      closed()
    })
  }

  const upgrades = createUpgrades({ ...options, opened })
  return {
    attach: (server: Server) => upgrades.attach(server),
    drain: async () => {
      upgrades.stop()
      heartbeat.stop()
      strangers.stop()
      const isKnown = await tracker.drain()
      setTimeout(() => heartbeat.terminateAll(), CLOSE_WITHIN_MS).unref()
      return isKnown
    },
  }
}
