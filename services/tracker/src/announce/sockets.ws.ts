import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { addressFromText, parseTrackerTarget } from '@vault-and-tracker/bencode-tracker'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { createOutboxes, type Outbox } from './outbox.ws.ts'
import type { SocketCounters } from './socket-counters.ts'
import type { Session, SocketLine, SocketOpening } from './socket-session.ts'
import type { SocketTracker } from './socket-tracker.ts'

/** WebSocket connections of one process. */
export type Sockets = {
  /** Takes the upgrades of a server. */
  attach(server: Server): void
  /** Refuses further upgrades, answers what was received, closes every connection with 1001. */
  drain(): Promise<void>
}

/** How connections are limited. */
export type SocketLimits = {
  /** Lower-case origins that may connect; any where empty. */
  readonly origins: readonly string[]
  /** Connections of one address, and of one passkey. */
  readonly perAddress: number
  readonly messagesPerSecond: number
}

const MAX_MESSAGE = 65_536
const MAX_BUFFERED = 262_144
const PING_EVERY_S = 30
const PONG_WITHIN_MS = 3_000
const FIRST_MESSAGE_WITHIN_MS = 30_000
/** At the stop, a client has so long to answer that its connection closes. */
const CLOSE_WITHIN_MS = 1_000
/** Messages at once, in seconds of the rate. */
const BURST_S = 10
const POLICY_VIOLATION = 1008

type Options = {
  tracker: SocketTracker
  limits: SocketLimits
  counters: SocketCounters
  /** The address a request came from, as text; and what a limit counts it by. */
  addressOf: (request: IncomingMessage) => string
  keyOf: (address: string) => string
}

/** What is known of a connection between two pings. */
type Heartbeat = { alive: boolean; paused: boolean; readonly socket: WebSocket }

/** Serves the WebTorrent protocol over WebSockets (RFC 6455). */
export function createSockets({ tracker, limits, counters, addressOf, keyOf }: Options): Sockets {
  const upgrades = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE,
  })
  const counts = new Map<string, number>()
  // A thirtieth of all connections is pinged each second.
  const groups = Array.from({ length: PING_EVERY_S }, () => new Set<Heartbeat>())
  const outboxOf = createOutboxes()
  let turn = 0
  let stopping = false

  const ping = setInterval(() => {
    turn = (turn + 1) % PING_EVERY_S
    for (const beat of groups[turn] ?? []) {
      if (!beat.alive && !beat.paused) beat.socket.terminate()
      beat.alive = false
      if (!beat.paused) beat.socket.ping()
    }
  }, 1_000)
  ping.unref()

  const connect = (socket: WebSocket, outbox: Outbox, opening: SocketOpening, keys: readonly string[]): void => {
    const beat: Heartbeat = { alive: true, paused: false, socket }
    const group = groups[Math.floor(Math.random() * PING_EVERY_S)]
    group?.add(beat)
    counters.countOpened()
    const session: Session = tracker.open(lineOf(socket, outbox), opening)
    let tokens = limits.messagesPerSecond * BURST_S
    let filledAt = performance.now()
    let first: NodeJS.Timeout | undefined = setTimeout(() => {
      socket.close(POLICY_VIOLATION, 'No message within 30 seconds')
    }, FIRST_MESSAGE_WITHIN_MS)

    const refill = (): void => {
      const now = performance.now()
      const gained = ((now - filledAt) / 1000) * limits.messagesPerSecond
      tokens = Math.min(limits.messagesPerSecond * BURST_S, tokens + gained)
      filledAt = now
    }

    /** Reads no further from a client that sends too much. What came in one piece with it is taken, and waited for. */
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
          socket.resume()
        },
        Math.ceil((1000 * -tokens) / limits.messagesPerSecond),
      )
      resume.unref()
    }

    const spend = (): void => {
      refill()
      tokens -= 1
      if (tokens >= 0 || beat.paused) return
      beat.paused = true
      socket.pause()
      wait()
    }

    socket.on('message', (data: RawData, isBinary: boolean) => {
      clearTimeout(first)
      first = undefined
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
      clearTimeout(first)
      group?.delete(beat)
      counters.countClosed()
      for (const key of keys) release(counts, key)
      tracker.closed(session)
    })
  }

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const url = request.url ?? '/'
    const target = parseTrackerTarget(/^\/(?:\?|$)/.test(url) ? `/announce${url.slice(1)}` : url)
    const { origin } = request.headers
    if (target?.action !== 'announce') {
      refuse(socket, '404 Not Found')
      counters.countRefused('path')
      return
    }
    if (limits.origins.length > 0 && !limits.origins.includes(origin?.toLowerCase() ?? '')) {
      refuse(socket, '403 Forbidden')
      counters.countRefused('origin')
      return
    }
    const text = addressOf(request)
    const address = addressFromText(text)
    if (stopping || address === undefined) {
      refuse(socket, '503 Service Unavailable')
      counters.countRefused('stopping')
      return
    }
    const passkey = target.ok ? target.passkey : undefined
    const keys = [`address ${keyOf(text)}`, ...(passkey === undefined ? [] : [`passkey ${passkey}`])]
    if (keys.some((key) => (counts.get(key) ?? 0) >= limits.perAddress)) {
      refuse(socket, '429 Too Many Requests')
      counters.countRefused('address_limit')
      return
    }
    const opening: SocketOpening = { passkey, failure: target.ok ? undefined : target.failure, address }
    upgrades.handleUpgrade(request, socket, head, (opened) => {
      for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
      connect(opened, outboxOf(socket), opening, keys)
    })
  }

  return {
    attach: (server) => {
      server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        if (request.headers.upgrade?.toLowerCase() === 'websocket') upgrade(request, socket, head)
        else process.nextTick(() => answerOverHttp(server, request, socket, head))
      })
    },
    drain: async () => {
      stopping = true
      clearInterval(ping)
      await tracker.drain()
      const leftOpen = setTimeout(() => {
        for (const group of groups) for (const { socket } of group) socket.terminate()
      }, CLOSE_WITHIN_MS)
      leftOpen.unref()
    },
  }
}

function lineOf(socket: WebSocket, outbox: Outbox): SocketLine {
  return {
    send: (bytes) => {
      if (socket.readyState !== socket.OPEN) return false
      if (socket.bufferedAmount + outbox.bytes > MAX_BUFFERED) {
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

function release(counts: Map<string, number>, key: string): void {
  const count = counts.get(key) ?? 0
  if (count > 1) counts.set(key, count - 1)
  else counts.delete(key)
}

function refuse(socket: Duplex, status: string): void {
  socket.on('error', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

/**
 * Answers a request that offers another upgrade, such as `h2c`, as if it did not (RFC 9110 section 7.8): the server
 * reads the request again without the offer. With an `upgrade` listener Node 20 leaves such requests unanswered.
 */
function answerOverHttp(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method ?? 'GET'} ${request.url ?? '/'} HTTP/1.1`]
  const { rawHeaders } = request
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2)
    if (!/^(?:upgrade|http2-settings|connection)$/i.test(name)) lines.push(`${name}: ${value}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}
