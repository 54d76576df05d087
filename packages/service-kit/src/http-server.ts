import { once } from 'node:events'
import { type IncomingMessage, Server, ServerResponse } from 'node:http'
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from './errors.ts'
import { WAITS } from './pieces.ts'
import { type Answer, createUnreadAnswers, UNREAD_LIMITS, type UnreadAnswers } from './unread-answers.ts'
import { endSlowly, LINGER_MS, leaveUnwantedBody } from './unwanted-bodies.ts'

/** While draining, a connection without a request for this long is closed, ... */
const IDLE_MS = 250
/** ... and one that has sent nothing yet this long after it was opened: its client may be slow, or far away. */
const FIRST_REQUEST_MS = 1_000
/** While draining, connections are accepted until none was opened during so many sweeps, ... */
const QUIET_SWEEPS = 4
/** ... but no longer than this: by then proxies have seen that the service is not ready. */
const ACCEPTING_MS = 2_000
/** As many connections wait to be accepted at most: Node asks the system for 511. */
const MOST_WAITING = 512
/** The interval of these checks. */
const SWEEP_MS = 25

/**
 * An idle connection outlives those that a proxy keeps (nginx: 60 s), so that it is the proxy that closes them. Otherwise
 * a request may be on its way to a connection that this side has just closed, and a POST is lost.
 */
const KEEP_ALIVE_MS = 75_000

/** More header fields are refused: no client sends as many, and Node would silently drop those beyond its own limit. */
const MAX_HEADER_FIELDS = 100

const NO_ADDRESS_OF_OURS = new Set(['ENOTFOUND', 'EADDRNOTAVAIL', 'EAI_AGAIN'])

/** A listening server. */
export type RunningServer = {
  readonly port: number
  /** Stops accepting connections, completes every accepted request and closes idle connections. Idempotent. */
  drain(): Promise<void>
}

/** Reads requests before node:http does, on connections that it has not handed over yet. */
export type RequestFront = {
  /** Takes the new connections of a server from node:http. To be called once, before the server listens. */
  start(server: Server, answers: FrontAnswers): void
}

/** What a server has to know of the answers of a front. There is one at a time on a connection. */
export type FrontAnswers = {
  /** Whether the next answer ends its connection. */
  isDraining(): boolean
  /** What is known of a connection; the front keeps it up to date. */
  connectionOf(socket: Socket): FrontConnection
  /** The system has not taken all of an answer yet, since the client does not read it. */
  waits(socket: Socket): void
  /** The system has taken an answer that waited, or the connection was closed. */
  taken(socket: Socket): void
}

/** A connection of a front. */
export type FrontConnection = {
  /** From when a request was read until the system has taken its answer. */
  isAnswering: boolean
  /** While draining: milliseconds since the epoch of the last answer. */
  idleSince: number
}

/**
 * Listens on a port.
 *
 * @param server the HTTP server, handlers attached
 * @param address `port` 0 chooses a free one
 * @param options `unread` closes connections whose clients do not read their answers; `front` reads requests first;
 *   `othersAccept` is asked once, during a drain: whether other processes go on accepting from the same port
 * @throws Error naming the variable PORT when the port is in use or not permitted, and HOST when that is no address here
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
  // One more than is allowed is enough to see that there are too many.
  server.maxHeadersCount = MAX_HEADER_FIELDS + 1
  server.listen(address.port, address.host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const code = errorCode(error)
    if (code === 'EADDRINUSE')
      throw new Error(`port ${String(address.port)} is already in use; set PORT to another one`, { cause: error })
    if (code === 'EACCES')
      throw new Error(`port ${String(address.port)} is not allowed for this user; set PORT above 1023`, {
        cause: error,
      })
    if (code !== undefined && NO_ADDRESS_OF_OURS.has(code))
      throw new Error(`${address.host} is no address of this machine; correct HOST`, { cause: error })
    throw error
  }
  let drained: Promise<void> | undefined
  return {
    port: (server.address() as AddressInfo).port,
    drain: () => (drained ??= drain(server, tracker, othersAccept)),
  }
}

/** Whether a request has more header fields than are read. It is to be refused (RFC 6585 section 5), and its connection closed. */
export function hasTooManyFields({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length > 2 * MAX_HEADER_FIELDS
}

/** The error of Node's HTTP parser for bytes that are not HTTP. */
export type Malformed = NodeJS.ErrnoException & { readonly rawPacket?: Buffer }

/**
 * Responds to bytes that are not HTTP, and closes the connection. A complete request before them was accepted, so its
 * response is sent first.
 *
 * @param answerTo returns the response as latin1, status line included
 */
export function answerMalformed(server: Server, answerTo: (error: Malformed) => string): void {
  const latest = new WeakMap<Duplex, { response: ServerResponse; before: ServerResponse | undefined }>()
  server.on('request', ({ socket }, response) => latest.set(socket, { response, before: latest.get(socket)?.response }))
  server.on('clientError', (error: Malformed, socket: Duplex) => {
    const { response, before } = latest.get(socket) ?? {}
    const isWhole = response?.req.complete === true
    const end = (): void => {
      // The body of a request that was refused by its headers is malformed: one answer is enough.
      const isAnswered = !isWhole && response?.headersSent === true
      if (!socket.writable) socket.destroy()
      else socket.end(isAnswered ? '' : answerTo(error), 'latin1', () => setTimeout(() => socket.destroy(), LINGER_MS))
    }
    const accepted = isWhole ? response : before
    if (accepted !== undefined && !accepted.writableFinished) accepted.once('close', end)
    else end()
  })
}

type Connection = FrontConnection & { active: Set<Answer> }
type ConnectionTracker = {
  connections: Map<Socket, Connection>
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
    const connection = tracker.connections.get(request.socket)
    if (!connection) return
    connection.active.add(response)
    if (tracker.draining) response.shouldKeepAlive = false
    if (request.headers.upgrade !== undefined) {
      // Node drops what came with an offer to upgrade, so that further requests would be read from the middle.
      response.shouldKeepAlive = false
      endSlowly(request.socket)
    }
    leaveUnwantedBody(request, response)
    const note = (): void => unread.written(request.socket, response, connection.active)
    response.once(WAITS, note)
    response.once('prefinish', note)
    response.once('close', () => {
      connection.active.delete(response)
      connection.idleSince = Date.now()
      unread.closed(request.socket, connection.active)
    })
  })
  return tracker
}

/** Lets a front say which connections have requests. What waits to be read of its answers waits in the sockets themselves. */
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

const NONE: ReadonlySet<Answer> = new Set()

/**
 * An upgraded socket belongs to its `upgrade` listener, which also closes it. A server without such a listener must not
 * get one from here: then Node would no longer handle a request that offers an upgrade like any other.
 */
function untrackUpgrades(server: Server, tracker: ConnectionTracker): void {
  const untrack = (): void => {
    server.on('upgrade', (_request: IncomingMessage, socket: Socket) => tracker.connections.delete(socket))
  }
  const onListener = (event: string): void => {
    if (event !== 'upgrade') return
    server.off('newListener', onListener)
    untrack()
  }
  if (server.listenerCount('upgrade') > 0) untrack()
  else server.on('newListener', onListener)
}

/**
 * `http.Server.close()` closes every connection that is idle at that moment, also one whose next request is on the
 * wire: under load that loses requests. Instead, this sends `Connection: close` with every further response, stops
 * accepting at the TCP level when no more connections come, and closes a connection after it was idle for a while.
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
  await stopAccepting(server, tracker, othersAccept)
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

/**
 * Stops accepting connections. The system resets those that it has taken for us when the port is closed, so it is closed
 * when there are none: when it was quiet for a while, or else when the only one that may wait has just been accepted.
 */
async function stopAccepting(
  server: Server,
  tracker: ConnectionTracker,
  othersAccept: () => Promise<boolean>,
): Promise<void> {
  await quietOrTooLate(tracker)
  if (await othersAccept()) {
    // Nobody is reset, and the port is still theirs.
    TcpServer.prototype.close.call(server)
    return
  }
  // A client beyond the one is not refused: its system tries again after a second, and finds the port closed.
  limitWaiting(server)
  // Those who have waited until now come first, one in each turn of the event loop.
  const last = tracker.accepted + MOST_WAITING
  for (let before = -1; tracker.accepted !== before && tracker.accepted < last; ) {
    before = tracker.accepted
    await nextTurn()
    await nextTurn()
  }
  await new Promise<void>((resolve) => {
    let isClosed = false
    const close = (): void => {
      if (isClosed) return
      isClosed = true
      server.off('connection', close)
      TcpServer.prototype.close.call(server)
      resolve()
    }
    server.on('connection', close)
    void quietOrTooLate(tracker)
      .then(() => nextTurn())
      .then(close)
  })
}

/** Counts sweeps and not milliseconds: while the process does not run, nobody is accepted either. */
async function quietOrTooLate(tracker: ConnectionTracker): Promise<void> {
  const until = Date.now() + ACCEPTING_MS
  if (Date.now() - tracker.acceptedAt > ACCEPTING_MS) return
  for (let quiet = 0; quiet < QUIET_SWEEPS && Date.now() < until; quiet++) {
    const before = tracker.accepted
    await sleep(SWEEP_MS)
    if (tracker.accepted !== before) quiet = 0
  }
}

/** Listens again, with room for one connection. Node has no way of its own to change it; without it more may wait. */
function limitWaiting(server: Server): void {
  const { _handle: handle } = server as unknown as {
    readonly _handle?: { readonly listen?: (backlog: number) => number }
  }
  handle?.listen?.(0)
}
