import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { addressKey, plainAddress } from '@vault-and-tracker/service-kit/http/client-address'
import type { Audience, Listener } from '../events/audience.ts'
import type { TorrentEvent } from '../events/events.ts'
import { announceLine } from './announce-line.ts'
import { ANNOUNCER, CHANNEL, MAX_INPUT, parseMessage } from './irc-messages.ts'
import { IrcSession, type IrcUser, type SignInProblem } from './irc-session.ts'

/** Open connections of an address, and of all clients, in this process. */
const MAX_PER_ADDRESS = 20
const MAX_CONNECTIONS = 3_000
/** A client that leaves more unread is disconnected: about a hundred announcements. */
const MAX_UNREAD_BYTES = 64 * 1024
/** Messages of a client: some at once, then one per second. */
const BURST = 30
const MESSAGES_PER_MS = 1 / 1_000
const HANDSHAKE_WITHIN_MS = 10_000
const REGISTER_WITHIN_MS = 30_000
/** A silent client gets a PING, and is disconnected if it stays silent as long again. */
const SILENT_MS = 90_000

/** A certificate with its chain and its private key, in PEM. */
type Certificate = { readonly cert: Buffer; readonly key: Buffer }

/** Checks the username and API token of a client. */
export type IrcSignIn = (username: string, token: string, address: string) => Promise<IrcUser | SignInProblem>

export type IrcServer = {
  listen(host: string, port: number): Promise<void>
  /** Sends events to all clients. */
  announce(events: readonly TorrentEvent[]): void
  /** Disconnects clients that do not register or respond, and those that may not listen any more. */
  sweep(): Promise<void>
  /** Uses a renewed certificate for further connections. */
  renew(certificate: Certificate): void
  /** The number of connections. */
  size(): number
  drain(): Promise<void>
}

/**
 * An IRC server (RFC 1459) with one channel in which only it speaks.
 *
 * @param deps `name` is that of the server; without a certificate, connections are plain; connections from a trusted address
 *   are those of a TLS proxy, which are not limited per address
 */
export function createIrcServer(deps: {
  name: string
  certificate: Certificate | undefined
  audience: Audience
  signIn: IrcSignIn
  isTrusted: (address: string) => boolean
  clock: Clock
  onError: (error: unknown) => void
}): IrcServer {
  const { name, certificate, audience, clock } = deps
  const connections = new Set<IrcConnection>()
  /** Including those without a TLS handshake yet. */
  const sockets = new Set<Socket>()
  const socketsPerAddress = new Map<string, number>()
  let isDraining = false

  /** Counts a connection; false if its address has too many. */
  const admit = (socket: Socket): boolean => {
    const address = plainAddress(socket.remoteAddress ?? '')
    const key = deps.isTrusted(address) ? undefined : addressKey(address)
    const ofAddress = key === undefined ? 0 : (socketsPerAddress.get(key) ?? 0)
    if (isDraining || ofAddress >= MAX_PER_ADDRESS) return false
    sockets.add(socket)
    if (key !== undefined) socketsPerAddress.set(key, ofAddress + 1)
    socket.once('close', () => {
      sockets.delete(socket)
      if (key === undefined) return
      const others = (socketsPerAddress.get(key) ?? 0) - 1
      if (others > 0) socketsPerAddress.set(key, others)
      else socketsPerAddress.delete(key)
    })
    return true
  }
  const serve = (socket: Socket): void => {
    socket.on('error', () => socket.destroy())
    const address = plainAddress(socket.remoteAddress ?? '')
    const connection = new IrcConnection(socket, {
      ...{ server: name, topic: `New torrents of ${name}`, audience, clock, onError: deps.onError },
      signIn: (username, token) => deps.signIn(username, token, address),
    })
    connections.add(connection)
    socket.once('close', () => {
      connections.delete(connection)
      connection.leave()
    })
  }
  // Never listens: connections are counted before their TLS handshake.
  const encrypted = certificate && createTlsServer({ ...certificate, handshakeTimeout: HANDSHAKE_WITHIN_MS }, serve)
  encrypted?.on('tlsClientError', (_error, socket) => socket.destroy())
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    const isAdmitted = admit(socket)
    if (isAdmitted && encrypted === undefined) serve(socket)
    else if (isAdmitted) encrypted?.emit('connection', socket)
    else if (encrypted === undefined) socket.end('ERROR :Too many connections\r\n', () => socket.destroy())
    else socket.destroy()
  })
  server.maxConnections = MAX_CONNECTIONS
  const prefix = `:${ANNOUNCER}!${ANNOUNCER}@${name} PRIVMSG ${CHANNEL} :`

  return {
    listen: async (host, port) => {
      server.listen(port, host)
      try {
        await once(server, 'listening')
      } catch (error) {
        const code = errorCode(error) ?? 'unknown error'
        throw new Error(`cannot listen on IRC_PORT ${String(port)} (${code}); set another one`, { cause: error })
      }
    },

    announce: (events) => {
      for (const event of events) audience.send(announceLine(event, prefix), event.id)
    },

    sweep: async () => {
      for (const connection of connections) connection.sweep()
      await audience.check()
    },

    renew: (renewed) => encrypted?.setSecureContext(renewed),

    size: () => sockets.size,

    drain: async () => {
      isDraining = true
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      audience.drain()
      for (const connection of connections) connection.close(END_REASONS.stopping)
      const late = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, CLOSE_WITHIN_MS)
      await closed
      clearTimeout(late)
    },
  }
}

type Services = {
  readonly server: string
  readonly topic: string
  readonly audience: Audience
  readonly clock: Clock
  readonly signIn: (username: string, token: string) => Promise<IrcUser | SignInProblem>
  readonly onError: (error: unknown) => void
}

/** One connection: reads lines, limits them, and gives them to its session one after another. */
class IrcConnection {
  private readonly socket: Socket
  private readonly services: Services
  private readonly session: IrcSession
  private listener: Listener | undefined
  private input = ''
  private isBusy = false
  private credit = BURST
  private creditedAt: number
  private readonly openedAt: number
  private heardAt: number
  private pingedAt: number | undefined

  constructor(socket: Socket, services: Services) {
    this.socket = socket
    this.services = services
    this.openedAt = this.heardAt = this.creditedAt = services.clock.now()
    const { server, topic } = services
    this.session = new IrcSession({
      ...{ server, topic, signIn: services.signIn },
      send: (...lines) => this.send(...lines),
      close: (reason) => this.close(reason),
      join: (user) => this.join(user),
    })
    socket.setKeepAlive(true, SILENT_MS)
    socket.on('data', (chunk: Buffer) => void this.read(chunk))
  }

  private async read(chunk: Buffer): Promise<void> {
    if (!this.isOpen()) return
    this.heardAt = this.services.clock.now()
    this.pingedAt = undefined
    this.input += chunk.toString('latin1')
    if (this.isBusy) {
      // At most what was on its way when the socket was paused.
      this.socket.pause()
      return
    }
    this.isBusy = true
    try {
      await this.readLines()
    } catch (error) {
      this.services.onError(error)
      this.close('The service is unavailable')
    }
    this.isBusy = false
    this.socket.resume()
  }

  private async readLines(): Promise<void> {
    for (let end = this.input.indexOf('\n'); end !== -1 && this.isOpen(); end = this.input.indexOf('\n')) {
      const line = Buffer.from(this.input.slice(0, end).replace(/\r$/, ''), 'latin1').toString('utf8')
      this.input = this.input.slice(end + 1)
      if (!this.takeCredit()) {
        this.close('Excess Flood')
        return
      }
      const message = parseMessage(line)
      if (message === 'too long') this.send(`:${this.services.server} 417 * :Input line was too long`)
      else if (message !== undefined) await this.session.receive(message)
    }
    if (this.input.length > MAX_INPUT) this.close('Input line was too long')
  }

  private takeCredit(): boolean {
    const now = this.services.clock.now()
    this.credit = Math.min(BURST, this.credit + Math.max(0, now - this.creditedAt) * MESSAGES_PER_MS) - 1
    this.creditedAt = now
    return this.credit >= 0
  }

  private isOpen(): boolean {
    return this.socket.writable
  }

  private send(...lines: string[]): void {
    if (!this.isOpen()) return
    if (this.socket.writableLength > MAX_UNREAD_BYTES) this.socket.destroy()
    else this.socket.write(`${lines.join('\r\n')}\r\n`)
  }

  private join(user: IrcUser): boolean {
    const listener: Listener = {
      ...user,
      send: (text) => {
        if (this.session.isListening) this.send(text)
      },
      end: (reason) => this.close(END_REASONS[reason]),
    }
    try {
      this.services.audience.join(listener)
    } catch {
      return false
    }
    this.listener = listener
    return true
  }

  /** Gives back the place among the listeners. */
  leave(): void {
    if (this.listener !== undefined) this.services.audience.leave(this.listener)
  }

  close(reason: string): void {
    if (!this.isOpen()) return
    this.send(`ERROR :${reason}`)
    this.socket.end()
    this.input = ''
    // A client that does not read would keep the connection.
    setTimeout(() => this.socket.destroy(), CLOSE_WITHIN_MS).unref()
  }

  sweep(): void {
    const now = this.services.clock.now()
    if (!this.session.hasRegistered && now - this.openedAt > REGISTER_WITHIN_MS) this.close('Registration timed out')
    else if (this.pingedAt !== undefined && now - this.pingedAt > SILENT_MS) this.close('Ping timeout')
    else if (this.pingedAt === undefined && now - this.heardAt > SILENT_MS) {
      this.pingedAt = now
      this.send(`PING :${this.services.server}`)
    }
  }
}

const CLOSE_WITHIN_MS = 1_000

const END_REASONS = {
  replaced: 'You have connected too many other clients',
  refused: 'Your API token has expired or was revoked, or your account is suspended or banned',
  stopping: 'The server is restarting',
} as const
