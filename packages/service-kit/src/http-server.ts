import { once } from 'node:events'
import { type IncomingMessage, Server, type ServerResponse } from 'node:http'
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { errorCode } from './errors.ts'

/** Connections that were quiet for this long when the drain looks at them are closed. */
const QUIET_MS = 250
const SWEEP_MS = 25
/** Closing at once would reset the connection of a client that still sends, and lose the answer on its way. */
const LINGER_MS = 500

/** A server that listens, and how to stop it without losing a request that it accepted. */
export type RunningServer = {
  readonly port: number
  /** Stops accepting, lets every accepted request finish, closes connections once they are quiet. Idempotent. */
  drain(): Promise<void>
}

/**
 * Listens on a port.
 *
 * @param server the HTTP server, handlers attached
 * @param address `port` 0 picks a free one; `portVariable` is what an operator changes when the port is taken
 * @throws Error naming the port and the variable when the port is taken or not allowed
 */
export async function listen(
  server: Server,
  address: { host: string; port: number; portVariable?: string },
): Promise<RunningServer> {
  const tracker = trackConnections(server)
  server.listen(address.port, address.host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const variable = address.portVariable ?? 'PORT'
    const code = errorCode(error)
    if (code === 'EADDRINUSE')
      throw new Error(`port ${String(address.port)} is taken; set ${variable} to another one`, { cause: error })
    if (code === 'EACCES')
      throw new Error(`port ${String(address.port)} is not allowed for this user; set ${variable} above 1023`, {
        cause: error,
      })
    throw error
  }
  let drained: Promise<void> | undefined
  return {
    port: (server.address() as AddressInfo).port,
    drain: () => (drained ??= drain(server, tracker)),
  }
}

/** What Node's parser tells of bytes that it could not read. */
export type Malformed = NodeJS.ErrnoException & { readonly rawPacket?: Buffer }

/**
 * Answers what is not HTTP, and closes the connection. What came whole before it is carried out, so it is answered first.
 *
 * @param answerTo the answer's bytes as latin1, status line included
 */
export function answerMalformed(server: Server, answerTo: (error: Malformed) => string): void {
  const latest = new WeakMap<Duplex, ServerResponse>()
  server.on('request', (request, response) => latest.set(request.socket, response))
  server.on('clientError', (error: Malformed, socket: Duplex) => {
    const end = (): void => {
      if (!socket.writable) socket.destroy()
      else socket.end(answerTo(error), 'latin1', () => setTimeout(() => socket.destroy(), LINGER_MS))
    }
    const before = latest.get(socket)
    if (before?.req.complete === true && !before.writableFinished) before.once('close', end)
    else end()
  })
}

type Connection = { active: Set<ServerResponse>; quietSince: number }
type ConnectionTracker = { connections: Map<Socket, Connection>; draining: boolean }

/** Knows which connection has requests under way; needed because Node calls a connection idle between two requests. */
function trackConnections(server: Server): ConnectionTracker {
  const tracker: ConnectionTracker = { connections: new Map(), draining: false }
  server.on('connection', (socket: Socket) => {
    tracker.connections.set(socket, { active: new Set(), quietSince: Date.now() })
    socket.once('close', () => tracker.connections.delete(socket))
  })
  letGoOfUpgrades(server, tracker)
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = tracker.connections.get(request.socket)
    if (!connection) return
    connection.active.add(response)
    if (tracker.draining) response.shouldKeepAlive = false
    response.once('close', () => {
      connection.active.delete(response)
      connection.quietSince = Date.now()
    })
  })
  return tracker
}

/**
 * An upgraded socket belongs to whoever took it, who also closes it. Where nobody takes any we must not listen either:
 * Node answers a request that asks for an upgrade like any other only as long as there is no listener.
 */
function letGoOfUpgrades(server: Server, tracker: ConnectionTracker): void {
  const letGo = (): void => {
    server.on('upgrade', (_request: IncomingMessage, socket: Socket) => tracker.connections.delete(socket))
  }
  const onListener = (event: string): void => {
    if (event !== 'upgrade') return
    server.off('newListener', onListener)
    letGo()
  }
  if (server.listenerCount('upgrade') > 0) letGo()
  else server.on('newListener', onListener)
}

/**
 * `http.Server.close()` ends every connection that is idle at that instant, also one whose next request is already on
 * the wire: under load that loses requests. So: stop accepting at the TCP level only, announce `Connection: close`
 * with every further answer, and end a connection ourselves once it was quiet for a while.
 */
async function drain(server: Server, tracker: ConnectionTracker): Promise<void> {
  tracker.draining = true
  for (const connection of tracker.connections.values()) {
    for (const response of connection.active) if (!response.headersSent) response.shouldKeepAlive = false
  }
  const closed = once(server, 'close')
  TcpServer.prototype.close.call(server)
  const sweep = setInterval(() => {
    const now = Date.now()
    for (const [socket, connection] of tracker.connections) {
      if (connection.active.size === 0 && now - connection.quietSince >= QUIET_MS) socket.destroy()
    }
  }, SWEEP_MS)
  await closed
  clearInterval(sweep)
}
