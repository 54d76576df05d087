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

export type SocketLimits = Pick<ConnectionShared, 'messagesPerSecond' | 'firstRequestWithinMs'> & {
  /** Allowed origins in lower case. If empty, any origin is allowed. */
  readonly origins: readonly string[]
  /** Maximum number of connections per address, and per user. */
  readonly perAddress: number
  readonly pingEveryMs: number
}

/**
 * A request that only counts as an upgrade if it offers WebSockets. Other offers, such as `h2c`, are ignored (RFC 9110
 * section 7.8): Node reads `upgrade` before it decides, and handles the request like any other.
 */
export class UpgradableRequest extends IncomingMessage {
  // This must be an accessor: the constructor of IncomingMessage assigns null before fields of this class exist.
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
/** Each fragment costs at least 100 bytes until its message is complete. */
const MAX_FRAGMENTS = 256
/** Closing immediately would reset the connection of a client that is still sending, before it reads the response. */
const LINGER_MS = 500
/** `drain` terminates connections whose closing handshake takes longer. */
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
      tracker.endExpired()
    }, limits.pingEveryMs / groups.length).unref()
  }

  /** Handles the upgrades of a server. */
  attach(server: Server): void {
    server.on('upgrade', (request, stream, head) => this.upgrade(request, stream, head))
  }

  /**
   * Refuses further upgrades, answers received messages, and closes all connections with 1001.
   *
   * @returns whether Redis has removed the peers of all connections
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
    const asked = this.admit(request)
    if (typeof asked === 'string') {
      this.refuse(stream, asked)
      return
    }
    const identity = this.tracker.identify(asked.passkey)
    if (!(identity instanceof Promise)) {
      this.open(request, stream, head, { ...asked, ...identity })
      return
    }
    const destroy = (): unknown => stream.destroy()
    stream.once('error', destroy)
    void identity.then((found) => {
      stream.off('error', destroy)
      this.open(request, stream, head, { ...asked, ...found })
    })
  }

  private open(request: IncomingMessage, stream: Duplex, head: Buffer, opening: SocketOpening): void {
    if (this.isStopping || this.tracker.connections.isFull(opening, this.limits.perAddress)) {
      this.refuse(stream, this.isStopping ? 'stopping' : 'address_limit')
      return
    }
    this.upgrades.handleUpgrade(request, stream, head, (connection) => {
      connection.start(this.shared, stream, opening)
      this.tracker.opened(connection)
    })
  }

  private refuse(stream: Duplex, reason: keyof typeof REFUSALS): void {
    this.counts.refused[reason] += 1
    refuse(stream, REFUSALS[reason])
  }

  /** Parses an upgrade request. Returns the reason if it is refused. */
  private admit(request: IncomingMessage): Omit<SocketOpening, 'member' | 'endsAt'> | keyof typeof REFUSALS {
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

/** The parts of the tracker that the server uses. */
type SocketServerTracker = Pick<
  SocketTracker,
  'identify' | 'opened' | 'receive' | 'closed' | 'endExpired' | 'drain' | 'connections'
>

/** Copies a passkey, because a slice would keep the whole URL in memory. */
function copyOf(passkey: Passkey | undefined): Passkey | undefined {
  return passkey && parsePasskey(Buffer.from(passkey, 'latin1').toString('latin1'))
}

/** Responds and ends the connection, even if the client does not, because no limit counts it. */
function refuse(stream: Duplex, status: string): void {
  stream.on('error', () => stream.destroy())
  stream.resume()
  setTimeout(() => stream.destroy(), LINGER_MS)
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
