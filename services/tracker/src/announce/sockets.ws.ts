import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { Connection } from './connection.ws.ts'
import { startFirstRequestTimeout } from './first-request.ts'
import { startHeartbeat } from './heartbeat.ts'
import type { SocketCounters } from './socket-counters.ts'
import type { Session, SocketOpening } from './socket-session.ts'
import type { SocketTracker } from './socket-tracker.ts'
import { createUpgrades, type UpgradeLimits, type Upgrades } from './upgrades.ws.ts'
import { createWriteQueue } from './write-queue.ts'

/** WebSocket connections of one process. */
export type Sockets = Pick<Upgrades, 'attach'> & {
  /**
   * Refuses further upgrades, answers what was received and closes every connection with 1001.
   *
   * @returns whether Redis knows of all closed connections
   */
  drain(): Promise<boolean>
}

/** How connections are limited. */
export type SocketLimits = UpgradeLimits & {
  readonly messagesPerSecond: number
  readonly pingEveryMs: number
  /** How long a connection may take to its first valid request. */
  readonly firstRequestWithinMs: number
}

/** How long `drain` waits for closing handshakes; then connections are terminated. */
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
  const queue = createWriteQueue()
  const firstRequest = startFirstRequestTimeout<Session>({
    withinMs: limits.firstRequestWithinMs,
    wasServed: ({ wasServed }) => wasServed,
    onOverdue: ({ connection }) => connection.closeWith(POLICY_VIOLATION, 'No announce or scrape in time'),
  })

  // All connections share these listeners; `this` is the connection.
  const onMessage = function (this: WebSocket, data: RawData, isBinary: boolean): void {
    if (!(this instanceof Connection) || this.session === undefined) return
    this.heard = true
    const frame = isBinary || !Buffer.isBuffer(data) ? undefined : data
    const answered = tracker.receive(this.session, frame)
    this.spend()
    if (answered !== undefined && frame !== undefined) this.waitFor(answered, frame.length)
  }
  const onPong = function (this: WebSocket): void {
    if (this instanceof Connection) this.heard = true
  }
  const onClose = function (this: WebSocket): void {
    if (!(this instanceof Connection) || this.session === undefined) return
    firstRequest.remove(this.session)
    heartbeat.remove(this)
    counters.countClosed()
    tracker.closed(this.session)
    upgrades.release(this.addressKey, this.session.passkey)
  }

  const opened = (connection: Connection, stream: Duplex, opening: SocketOpening): void => {
    connection.start(stream, queue, limits.messagesPerSecond)
    const session = tracker.open(connection, opening)
    connection.session = session
    heartbeat.add(connection)
    firstRequest.add(session)
    counters.countOpened()
    connection.on('message', onMessage)
    connection.on('pong', onPong)
    // What breaks the protocol closes the connection, with the code of RFC 6455 section 7.4.1.
    connection.on('error', ignore)
    connection.on('close', onClose)
  }

  const upgrades = createUpgrades({ ...options, opened })
  return {
    attach: (server: Server) => upgrades.attach(server),
    drain: async () => {
      upgrades.stop()
      heartbeat.stop()
      firstRequest.stop()
      const isComplete = await tracker.drain()
      setTimeout(() => heartbeat.terminateAll(), CLOSE_WITHIN_MS).unref()
      return isComplete
    },
  }
}
