import { IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { addressFromText, type Passkey, parsePasskey, parseTrackerTarget } from '@vault-and-tracker/bencode-tracker'
import { hasTooManyFields } from '@vault-and-tracker/service-kit/http-server'
import { WebSocketServer } from 'ws'
import { Connection } from './connection.ws.ts'
import type { SocketCounters } from './socket-counters.ts'
import type { SocketOpening } from './socket-session.ts'

/** Who may connect. */
export type UpgradeLimits = {
  /** Lower-case origins that may connect; any where empty. */
  readonly origins: readonly string[]
  /** Connections of one address, and of one passkey. */
  readonly perAddress: number
}

/** The upgrades of one process to WebSockets. */
export type Upgrades = {
  /** Takes the upgrades of a server. */
  attach(server: Server): void
  /** Counts a connection no more that has closed. */
  release(addressKey: string, passkey: Passkey | undefined): void
  /** Refuses all from now on. */
  stop(): void
}

/**
 * A request that is an upgrade only where it offers WebSockets. Any other offer, such as `h2c`, is ignored (RFC 9110
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

/**
 * Creates them.
 *
 * @param options `addressOf` tells the address a request came from, as text, and `keyOf` what a limit counts it by;
 *   `opened` is given each connection and the stream below it
 */
export function createUpgrades(options: {
  limits: UpgradeLimits
  counters: SocketCounters
  addressOf: (request: IncomingMessage) => string
  keyOf: (address: string) => string
  opened: (connection: Connection, stream: Duplex, opening: SocketOpening) => void
}): Upgrades {
  const { limits, counters, addressOf, keyOf, opened } = options
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    WebSocket: Connection,
    maxPayload: MAX_MESSAGE,
    maxFragments: MAX_FRAGMENTS,
  })
  const byAddress = new Map<string, number>()
  const byPasskey = new Map<string, number>()
  const isFull = (counts: ReadonlyMap<string, number>, key: string): boolean =>
    (counts.get(key) ?? 0) >= limits.perAddress
  let stopping = false

  const upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    const url = request.url ?? '/'
    const target = parseTrackerTarget(/^\/(?:\?|$)/.test(url) ? `/announce${url.slice(1)}` : url)
    const { origin } = request.headers
    if (hasTooManyFields(request)) {
      refuse(stream, '431 Request Header Fields Too Large')
      counters.countRefused('header_fields')
      return
    }
    if (target?.action !== 'announce') {
      refuse(stream, '404 Not Found')
      counters.countRefused('path')
      return
    }
    if (limits.origins.length > 0 && !limits.origins.includes(origin?.toLowerCase() ?? '')) {
      refuse(stream, '403 Forbidden')
      counters.countRefused('origin')
      return
    }
    const text = addressOf(request)
    const address = addressFromText(text)
    if (stopping || address === undefined) {
      refuse(stream, '503 Service Unavailable')
      counters.countRefused('stopping')
      return
    }
    const passkey = target.ok ? copyOf(target.passkey) : undefined
    const key = keyOf(text)
    if (isFull(byAddress, key) || (passkey !== undefined && isFull(byPasskey, passkey))) {
      refuse(stream, '429 Too Many Requests')
      counters.countRefused('address_limit')
      return
    }
    const failure = target.ok ? undefined : target.failure
    server.handleUpgrade(request, stream, head, (connection) => {
      take(byAddress, key)
      if (passkey !== undefined) take(byPasskey, passkey)
      connection.addressKey = key
      opened(connection, stream, { passkey, failure, address })
    })
  }

  return {
    attach: (http) => {
      http.on('upgrade', upgrade)
    },
    release: (addressKey, passkey) => {
      release(byAddress, addressKey)
      if (passkey !== undefined) release(byPasskey, passkey)
    },
    stop: () => {
      stopping = true
    },
  }
}

/** The same passkey in memory of its own: one cut out of a URL would keep all of the URL in memory. */
function copyOf(passkey: Passkey | undefined): Passkey | undefined {
  return passkey && parsePasskey(Buffer.from(passkey, 'latin1').toString('latin1'))
}

function take(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function release(counts: Map<string, number>, key: string): void {
  const count = counts.get(key) ?? 0
  if (count > 1) counts.set(key, count - 1)
  else counts.delete(key)
}

/** Answers and ends the connection, whether or not the other end ever does: no limit counts it. */
function refuse(stream: Duplex, status: string): void {
  stream.on('error', () => stream.destroy())
  stream.resume()
  setTimeout(() => stream.destroy(), LINGER_MS)
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
