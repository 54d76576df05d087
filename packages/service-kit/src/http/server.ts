import { once } from 'node:events'
import { type IncomingMessage, Server, ServerResponse } from 'node:http'
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '../core/errors.ts'
import { type Answer, createUnreadAnswers, TAKES, UNREAD_LIMITS, type UnreadAnswers, WAITS } from './unread-answers.ts'

/** While draining, a connection is closed after this time without a request, ... */
const IDLE_MS = 250
/** ... or after this time if it has not sent anything yet. */
const FIRST_REQUEST_MS = 1_000
/** While draining, connections are accepted until this many sweeps pass without a new one, ... */
const QUIET_SWEEPS = 4
/** ... but no longer than this. By then, proxies have seen that the service is not ready. */
const ACCEPTING_MS = 2_000
/** Connections that can wait to be accepted: Node's backlog is 511. */
const MAX_BACKLOG = 512
/** The interval of these checks. */
const SWEEP_MS = 25

/**
 * Idle connections outlive those of a proxy (nginx: 60 s), so that the proxy closes them. Otherwise a request may be on its
 * way to a connection that was just closed, and a POST is lost.
 */
const KEEP_ALIVE_MS = 75_000

/** Requests with more header fields are refused. Node would silently drop the fields beyond its own limit. */
const MAX_HEADER_FIELDS = 100

/** If this much of a request body was not read, the connection is closed after the response. */
const MAX_UNREAD_BODY_BYTES = 64 * 1024
/** Time to read the response before the connection closes. Closing at once would reset a client that is still sending. */
const LINGER_MS = 500

/** A listening server. */
export type RunningServer = {
  readonly port: number
  /** Stops accepting connections, completes every accepted request and closes idle connections. Idempotent. */
  drain(): Promise<void>
}

/** Reads requests before node:http does, on connections that it has not passed on yet. */
export type RequestFront = {
  /** Takes over the new connections of a server. To be called once, before the server listens. */
  start(server: Server, answers: FrontAnswers): void
}

/** The state of a connection that a front and the server share. A connection has one response at a time. */
export type FrontAnswers = {
  /** Whether the next response ends its connection. */
  isDraining(): boolean
  /** The state of a connection, which the front updates. */
  connectionOf(socket: Socket): FrontConnection
  /** The client does not read: a response waits in the socket. */
  waits(socket: Socket): void
  /** The system took a response that waited, or the connection was closed. */
  taken(socket: Socket): void
}

/** A connection of a front. */
export type FrontConnection = {
  /** From when a request was read until the system has taken its response. */
  isAnswering: boolean
  /** While draining: the time of the last response, in milliseconds since the epoch. */
  idleSince: number
}

/**
 * Listens on a port.
 *
 * @param server the HTTP server, with its handlers
 * @param address `port` 0 chooses a free one
 * @param options `unread` closes connections whose clients do not read; `front` reads requests first; `othersAccept` is
 *   called once, during a drain: whether other processes continue to accept on the same port
 * @throws Error naming the variable PORT if the port is in use or not permitted, and HOST if it is not a local address
 */
export async function listen(
  server: Server,
  address: { host: string; port: number },
  options: { unread?: UnreadAnswers; front?: RequestFront | undefined; othersAccept?: () => Promise<boolean> } = {},
): Promise<RunningServer> {
  const { unread = createUnreadAnswers(UNREAD_LIMITS), front, othersAccept = () => Promise.resolve(false) } = options
  const tracker = trackConnections(server, unread)
  front?.start(server, frontAnswers(tracker, unread))
  server.keepAliveTimeout = KEEP_ALIVE_MS
  // One more than allowed is enough to detect too many.
  server.maxHeadersCount = MAX_HEADER_FIELDS + 1
  server.listen(address.port, address.host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new Error(listenProblem(errorCode(error), address) ?? 'cannot listen', { cause: error })
  }
  let drained: Promise<void> | undefined
  return {
    port: (server.address() as AddressInfo).port,
    drain: () => (drained ??= drain(server, tracker, othersAccept)),
  }
}

function listenProblem(code: string | undefined, { host, port }: { host: string; port: number }): string | undefined {
  if (code === 'EADDRINUSE') return `port ${String(port)} is already in use; set PORT to another one`
  if (code === 'EACCES') return `port ${String(port)} is not allowed for this user; set PORT above 1023`
  if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL' || code === 'EAI_AGAIN')
    return `${host} is not an address of this machine; correct HOST`
  return undefined
}

/** Whether a request has too many header fields. It must be refused (RFC 6585 section 5), and its connection closed. */
export function hasTooManyFields({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length > 2 * MAX_HEADER_FIELDS
}

/** The error of Node's HTTP parser for bytes that are not HTTP. */
export type Malformed = NodeJS.ErrnoException & { readonly rawPacket?: Buffer }

/**
 * Responds to bytes that are not HTTP, and closes the connection. A complete request before them is answered first.
 *
 * @param answerTo returns the response as latin1, including the status line
 */
export function answerMalformed(server: Server, answerTo: (error: Malformed) => string): void {
  const latest = new WeakMap<Duplex, { response: ServerResponse; before: ServerResponse | undefined }>()
  server.on('request', ({ socket }, response) => latest.set(socket, { response, before: latest.get(socket)?.response }))
  server.on('clientError', (error: Malformed, socket: Duplex) => {
    const { response, before } = latest.get(socket) ?? {}
    const isWhole = response?.req.complete === true
    const end = (): void => {
      // A request that was refused because of its headers may also have a malformed body: one response is enough.
      const isAnswered = !isWhole && response?.headersSent === true
      if (!socket.writable) socket.destroy()
      else socket.end(isAnswered ? '' : answerTo(error), 'latin1', () => setTimeout(() => socket.destroy(), LINGER_MS))
    }
    const accepted = isWhole ? response : before
    if (accepted !== undefined && !accepted.writableFinished) accepted.once('close', end)
    else end()
  })
}

type Connection = FrontConnection & { readonly active: Set<Answer> }
type ConnectionTracker = {
  readonly connections: Map<Socket, Connection>
  draining: boolean
  accepted: number
  acceptedAt: number
}

/** Tracks which connections have pending requests. Node itself counts a connection as idle between two requests. */
function trackConnections(server: Server, unread: UnreadAnswers): ConnectionTracker {
  const tracker: ConnectionTracker = { connections: new Map(), draining: false, accepted: 0, acceptedAt: 0 }
  const sweep = setInterval(() => unread.sweep(tracker.connections), unread.sweepMs).unref()
  server.once('close', () => clearInterval(sweep))
  server.on('connection', (socket: Socket) => {
    tracker.accepted += 1
    tracker.acceptedAt = Date.now()
    tracker.connections.set(socket, { active: new Set(), isAnswering: false, idleSince: tracker.acceptedAt })
    socket.once('close', () => tracker.connections.delete(socket))
  })
  untrackUpgrades(server, tracker)
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const connection = tracker.connections.get(socket)
    if (!connection) return
    connection.active.add(response)
    if (tracker.draining) response.shouldKeepAlive = false
    if (request.headers.upgrade !== undefined) {
      // Node drops the bytes after an upgrade request, so further requests would be read from the middle.
      response.shouldKeepAlive = false
      endSlowly(socket)
    }
    if (hasLongBody(request)) closeUnlessRead(request, response, tracker)
    const note = (): void => unread.written(socket, response, connection.active)
    response.once(WAITS, note)
    response.once('prefinish', note)
    response.on(TAKES, () => unread.closed(socket, connection.active))
    response.once('close', () => {
      connection.active.delete(response)
      connection.idleSince = Date.now()
      unread.closed(socket, connection.active)
    })
  })
  return tracker
}

function hasLongBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MAX_UNREAD_BODY_BYTES
}

/** Ends the connection with the response unless the whole body was read before it. Node would read the rest of the body. */
function closeUnlessRead(request: IncomingMessage, response: ServerResponse, tracker: ConnectionTracker): void {
  const { shouldKeepAlive } = response
  response.shouldKeepAlive = false
  request.once('end', () => {
    response.shouldKeepAlive = shouldKeepAlive && !tracker.draining
  })
  response.once('prefinish', () => {
    if (!request.complete) endSlowly(request.socket)
  })
}

/** Ends a connection after its last response: stops reading, and closes it a moment later. */
function endSlowly(socket: Socket): void {
  // Node calls this after the last response of a connection. Its own version closes the connection at once, which resets a
  // client that is still sending. Review 2027-06.
  socket.destroySoon = () => {
    socket.pause()
    socket.end()
    setTimeout(() => socket.destroy(), LINGER_MS)
  }
}

const NONE: ReadonlySet<Answer> = new Set()

/** Lets a front report its pending requests. Its responses wait in the sockets themselves. */
function frontAnswers(tracker: ConnectionTracker, unread: UnreadAnswers): FrontAnswers {
  const { connections } = tracker
  return {
    isDraining: () => tracker.draining,
    connectionOf: (socket) => connections.get(socket) ?? { isAnswering: false, idleSince: Date.now() },
    waits: (socket) => {
      const active = connections.get(socket)?.active.add(socket)
      if (active !== undefined) unread.written(socket, socket, active)
    },
    taken: (socket) => {
      const { active } = connections.get(socket) ?? {}
      active?.delete(socket)
      unread.closed(socket, active ?? NONE)
    },
  }
}

/**
 * Leaves upgraded sockets to the `upgrade` listener of the server, if it has one. A server without one must not get one
 * here: then Node would no longer handle a request that offers an upgrade like any other.
 */
function untrackUpgrades(server: Server, tracker: ConnectionTracker): void {
  if (server.listenerCount('upgrade') === 0) return
  server.on('upgrade', (_request: IncomingMessage, socket: Socket) => tracker.connections.delete(socket))
}

/**
 * `http.Server.close()` closes every connection that is idle at that moment, even if its next request is on the wire, which
 * loses requests under load. Instead, this sends `Connection: close` with every further response, stops accepting at the
 * TCP level when no more connections come, and closes a connection after it was idle for a while.
 */
async function drain(server: Server, tracker: ConnectionTracker, othersAccept: () => Promise<boolean>): Promise<void> {
  tracker.draining = true
  const since = Date.now()
  for (const connection of tracker.connections.values()) {
    connection.idleSince = since
    for (const answer of connection.active)
      if (answer instanceof ServerResponse && !answer.headersSent) answer.shouldKeepAlive = false
  }
  const closed = once(server, 'close')
  await quietOrTooLate(tracker)
  // If others accept on the same port, the system passes waiting connections to them.
  if (await othersAccept()) stopListening(server)
  else await acceptWaiting(server, tracker)
  const sweep = setInterval(() => {
    const now = Date.now()
    for (const [socket, connection] of tracker.connections) {
      const idleMs = socket.bytesRead === 0 ? FIRST_REQUEST_MS : IDLE_MS
      if (connection.isAnswering || connection.active.size > 0) continue
      if (now - connection.idleSince >= idleMs) socket.destroy()
    }
  }, SWEEP_MS)
  await closed
  clearInterval(sweep)
}

/** `net.Server.close()`, which leaves the connections open. */
function stopListening(server: Server): void {
  TcpServer.prototype.close.call(server)
}

/**
 * Stops listening when no connection is left in the backlog, because the system resets those when the port closes: shrinks
 * the backlog to one connection, accepts the waiting ones, and closes when that one was accepted or none arrived for a
 * while.
 */
async function acceptWaiting(server: Server, tracker: ConnectionTracker): Promise<void> {
  // Listens again with a backlog of one. Node has no public way to change it, and without it a drain under load resets
  // connections. Review 2027-06. A client beyond the one is not refused: its system retries a second later.
  const { _handle: handle } = server as unknown as { readonly _handle?: { listen?: (backlog: number) => number } }
  handle?.listen?.(0)
  // One waiting connection is accepted in each turn of the event loop.
  const last = tracker.accepted + MAX_BACKLOG
  for (let before = -1; tracker.accepted !== before && tracker.accepted < last; ) {
    before = tracker.accepted
    await nextTurn()
    await nextTurn()
  }
  const accepted = new Promise<void>((resolve) => {
    // Within the event: the next connection may come before a promise continues.
    server.once('connection', () => {
      if (server.listening) stopListening(server)
      resolve()
    })
  })
  await Promise.race([accepted, quietOrTooLate(tracker).then(() => nextTurn())])
  if (server.listening) stopListening(server)
}

/** Counts sweeps and not milliseconds: while the process does not run, it accepts no connections either. */
async function quietOrTooLate(tracker: ConnectionTracker): Promise<void> {
  const until = Date.now() + ACCEPTING_MS
  if (Date.now() - tracker.acceptedAt > ACCEPTING_MS) return
  for (let quiet = 0; quiet < QUIET_SWEEPS && Date.now() < until; quiet++) {
    const before = tracker.accepted
    await sleep(SWEEP_MS)
    if (tracker.accepted !== before) quiet = 0
  }
}
