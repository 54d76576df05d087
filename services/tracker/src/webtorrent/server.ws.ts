import { IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { addressFromText, type Passkey, parsePasskey, parseTrackerTarget } from '@vault-and-tracker/bencode-tracker'
import { addressKey, clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import { hasTooManyFields } from '@vault-and-tracker/service-kit/http/server'
import { WebSocketServer } from 'ws'
import { Connection, type ConnectionShared } from './connection.ws.ts'
import type { SocketOpening } from './connections.ts'
import type { SocketCounts } from './counts.ts'
import type { SocketTracker } from './tracker.ts'

/** How connections are limited. */
export type SocketLimits = Pick<ConnectionShared, 'messagesPerSecond' | 'firstRequestWithinMs'> & {
  /** Lower-case origins that may connect; any origin if empty. */
  readonly origins: readonly string[]
  /** Connections of one address, and of one passkey. */
  readonly perAddress: number
  readonly pingEveryMs: number
}

/**
 * A request that is an upgrade only if it offers WebSockets. Any other offer, such as `h2c`, is ignored (RFC 9110
 * section 7.8): Node asks `upgrade` before it decides, and then answers the request like every other one.
 */
export class UpgradableRequest extends IncomingMessage {
  // The constructor of IncomingMessage assigns null, and has done so before a field of this class would get a value.
  declare private isOffered: boolean | null

  get upgrade(): boolean {
    if (this.isOffered !== true) return false
    return this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() === 'websocket'
  }

  set upgrade(isOffered: boolean | null) {
    this.isOffered = isOffered
  }
}

const MAX_MESSAGE = 65_536
/** Each costs a hundred bytes and more, for as long as its message is not complete. */
const MAX_FRAGMENTS = 256
/** Closing at once would reset the connection of a client that is still sending, and it would not read the answer. */
const LINGER_MS = 500
/** How long `drain` waits for closing handshakes; then connections are terminated. */
const CLOSE_WITHIN_MS = 1_000

/** Serves the WebTorrent protocol over WebSockets (RFC 6455), for one process. */
export class SocketServer {
  private readonly tracker: SocketServerTracker
  private readonly limits: SocketLimits
  private readonly counts: SocketCounts
  private readonly proxies: TrustedProxies
  private readonly shared: ConnectionShared
  private readonly heartbeat: NodeJS.Timeout
  private readonly upgrades = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    WebSocket: Connection,
    maxPayload: MAX_MESSAGE,
    maxFragments: MAX_FRAGMENTS,
  })
  private isStopping = false

  constructor(options: {
    tracker: SocketServerTracker
    limits: SocketLimits
    counts: SocketCounts
    proxies: TrustedProxies
  }) {
    const { tracker, limits, counts, proxies } = options
    this.tracker = tracker
    this.limits = limits
    this.counts = counts
    this.proxies = proxies
    this.shared = { ...limits, tracker, writers: [] }
    const { groups } = tracker.connections
    let turn = 0
    this.heartbeat = setInterval(() => {
      for (const connection of groups[turn++ % groups.length] ?? []) connection.beat()
    }, limits.pingEveryMs / groups.length).unref()
  }

  /** Takes the upgrades of a server. */
  attach(server: Server): void {
    server.on('upgrade', (request, stream, head) => this.upgrade(request, stream, head))
  }

  /**
   * Refuses further upgrades, answers what was received and closes every connection with 1001.
   *
   * @returns whether Redis knows of all closed connections
   */
  async drain(): Promise<boolean> {
    this.isStopping = true
    clearInterval(this.heartbeat)
    const isComplete = await this.tracker.drain()
    setTimeout(() => {
      for (const connection of this.tracker.connections.all()) connection.terminate()
    }, CLOSE_WITHIN_MS).unref()
    return isComplete
  }

  private upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const opening = this.admit(request)
    if (typeof opening === 'string') {
      this.counts.refused[opening] += 1
      refuse(stream, REFUSALS[opening])
      return
    }
    this.upgrades.handleUpgrade(request, stream, head, (connection) => {
      connection.start(this.shared, stream, opening)
      this.tracker.opened(connection)
    })
  }

  /** Reads an upgrade request; returns why it is refused, if so. */
  private admit(request: IncomingMessage): SocketOpening | keyof typeof REFUSALS {
    const { origins, perAddress } = this.limits
    const url = request.url ?? '/'
    const target = parseTrackerTarget(/^\/(?:\?|$)/.test(url) ? `/announce${url.slice(1)}` : url)
    if (hasTooManyFields(request)) return 'header_fields'
    if (target?.action !== 'announce') return 'path'
    if (origins.length > 0 && !origins.includes(request.headers.origin?.toLowerCase() ?? '')) return 'origin'
    const text = clientAddress(request, this.proxies)
    const address = addressFromText(text)
    if (this.isStopping || address === undefined) return 'stopping'
    const passkey = target.ok ? copyOf(target.passkey) : undefined
    const failure = target.ok ? undefined : target.failure
    const opening = { passkey, failure, address, addressKey: addressKey(text) }
    return this.tracker.connections.isFull(opening, perAddress) ? 'address_limit' : opening
  }
}

const REFUSALS = {
  header_fields: '431 Request Header Fields Too Large',
  path: '404 Not Found',
  origin: '403 Forbidden',
  stopping: '503 Service Unavailable',
  address_limit: '429 Too Many Requests',
} as const

/** What the server needs of the tracker. */
type SocketServerTracker = Pick<SocketTracker, 'opened' | 'receive' | 'closed' | 'drain' | 'connections'>

/** The same passkey in memory of its own: one cut out of a URL would keep all of the URL in memory. */
function copyOf(passkey: Passkey | undefined): Passkey | undefined {
  return passkey && parsePasskey(Buffer.from(passkey, 'latin1').toString('latin1'))
}

/** Answers and ends the connection, whether or not the other end ever does: no limit counts it. */
function refuse(stream: Duplex, status: string): void {
  stream.on('error', () => stream.destroy())
  stream.resume()
  setTimeout(() => stream.destroy(), LINGER_MS)
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
