import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addressKey, plainAddress } from './client-address.ts'

/** How long a server keeps responses that clients do not read, and how many bytes of them. */
export type UnreadLimits = {
  /** A response must be read within this time, plus one second per `minBytesPerSecond` of it. */
  readonly graceMs: number
  readonly minBytesPerSecond: number
  /** Maximum number of unread bytes per connection, pipelined responses included. */
  readonly maxBytesPerConnection: number
  /**
   * Maximum number of unread bytes of all connections. Beyond it, connections of the owner with the most unread bytes are
   * closed, the oldest first, so a client that does not read does not affect others.
   */
  readonly maxBytes: number
  /** How often the deadlines are checked. */
  readonly sweepMs: number
}

const MIB = 1024 ** 2

/** A client on a slow line reads 10 MiB in three minutes; the largest environment of the vault has 64 MiB. */
export const UNREAD_LIMITS: UnreadLimits = {
  graceMs: 20_000,
  minBytesPerSecond: 64 * 1024,
  maxBytesPerConnection: 72 * MIB,
  maxBytes: 256 * MIB,
  sweepMs: 1_000,
}

/** Smaller amounts are left to the sweep: most responses are small, and the system takes them at once. */
const NOTED_BYTES = 64 * 1024

/** A response of node:http, or the socket that a response was written to without one. */
export type Answer = { readonly writableLength: number }

/** Closes connections whose clients do not read their responses. */
export type UnreadAnswers = {
  readonly sweepMs: number
  /** Counts a response for an owner, such as a project. By default it counts for the client's address (IPv6: its /64). */
  own(response: ServerResponse, owner: string): void
  /** The number of bytes that have been unread for an owner since the sweep before the last one. */
  overdueBytesOf(owner: string): number
  /** To be called when a response was written completely, or starts to wait before that. */
  written(socket: Socket, answer: Answer, pending: ReadonlySet<Answer>): void
  /** To be called when a response was read, or its connection was closed. */
  closed(socket: Socket, pending: ReadonlySet<Answer>): void
  /** Checks every connection with pending responses. */
  sweep(connections: Iterable<readonly [Socket, { readonly active: ReadonlySet<Answer> }]>): void
}

const OWNER = Symbol('owner')
type Owned = Answer & { [OWNER]?: string }

/** The unread responses of a connection. Times are in milliseconds since the epoch. */
type Waiting = { readonly bytes: number; readonly since: number; readonly until: number; readonly owner: string }

/**
 * Counts unread bytes. A response stays in memory until the client has read it, so a client that requests and does not read
 * could otherwise occupy memory indefinitely. Review 2027-06: replace if Node gets a write timeout.
 */
export function createUnreadAnswers(limits: UnreadLimits): UnreadAnswers {
  /** The one that has waited longest comes first. */
  const waiting = new Map<Socket, Waiting>()
  const bytesOf = new Map<string, number>()
  let overdue = new Map<string, number>()
  let total = 0

  function add(owner: string, bytes: number): void {
    total += bytes
    const sum = (bytesOf.get(owner) ?? 0) + bytes
    if (sum === 0) bytesOf.delete(owner)
    else bytesOf.set(owner, sum)
  }

  /** The owner of the first response counts for all responses behind it on the connection. */
  function ownerOf(socket: Socket, pending: ReadonlySet<Owned>): string {
    for (const { [OWNER]: owner } of pending) if (owner !== undefined) return owner
    return addressKey(plainAddress(socket.remoteAddress ?? ''))
  }

  function forget(socket: Socket): void {
    const known = waiting.get(socket)
    if (known === undefined) return
    add(known.owner, -known.bytes)
    waiting.delete(socket)
  }

  /** The next connection to close when the budget is exceeded; undefined if only `spared` waits. */
  function next(spared: Socket): Socket | undefined {
    let chosen: Socket | undefined
    let most = 0
    for (const [socket, { owner }] of waiting) {
      const bytes = bytesOf.get(owner) ?? 0
      if (socket === spared || bytes <= most) continue
      chosen = socket
      most = bytes
    }
    return chosen
  }

  function drop(socket: Socket): void {
    forget(socket)
    socket.destroy()
  }

  function note(socket: Socket, pending: ReadonlySet<Answer>): void {
    const bytes = [...pending].reduce((sum, answer) => sum + unreadBytes(answer), 0)
    if (bytes === 0) {
      forget(socket)
      return
    }
    const known = waiting.get(socket)
    const owner = known?.owner ?? ownerOf(socket, pending)
    add(owner, bytes - (known?.bytes ?? 0))
    const now = Date.now()
    const until = known?.until ?? now + limits.graceMs + (1000 * bytes) / limits.minBytesPerSecond
    waiting.set(socket, { bytes, until, owner, since: known?.since ?? now })
    if (bytes > limits.maxBytesPerConnection || until < now) drop(socket)
    while (total > limits.maxBytes) {
      const closed = next(socket)
      if (closed === undefined) break
      drop(closed)
    }
  }

  return {
    sweepMs: limits.sweepMs,
    own: (response: Owned, owner) => {
      response[OWNER] = owner
    },
    overdueBytesOf: (owner) => overdue.get(owner) ?? 0,
    written: (socket, answer, pending) => {
      if (unreadBytes(answer) >= NOTED_BYTES) note(socket, pending)
    },
    closed: (socket, pending) => {
      if (!waiting.has(socket)) return
      // Later responses get their own time from now on.
      forget(socket)
      if (!socket.destroyed) note(socket, pending)
    },
    sweep: (connections) => {
      for (const [socket, { active }] of connections) if (active.size > 0) note(socket, active)
      const before = Date.now() - limits.sweepMs
      overdue = new Map()
      for (const { owner, bytes, since } of waiting.values())
        if (since <= before) overdue.set(owner, (overdue.get(owner) ?? 0) + bytes)
    },
  }
}

/** Only the first pending response has the socket, so only its length includes the bytes in the socket. */
function unreadBytes(answer: Answer & Chunked): number {
  return answer.writableLength + (answer[UNWRITTEN] ?? 0)
}

/** Large enough to cost little per chunk, small enough to notice soon what a client has read. */
const CHUNK_BYTES = 256 * 1024

/** The bytes of a response that are not written yet. */
const UNWRITTEN = Symbol('unwritten')
type Chunked = { [UNWRITTEN]?: number }

/** Emitted once when a chunked response has to wait for its client. */
export const WAITS = 'waits-for-client'

/**
 * Ends a response with bytes, in chunks: each is written when the client has taken the one before, so the count of unread
 * bytes falls while a slow client reads.
 */
export function endInChunks(response: ServerResponse & Chunked, bytes: Uint8Array): void {
  let written = 0
  const write = (): void => {
    const isFirst = written === 0
    const chunk = bytes.subarray(written, written + CHUNK_BYTES)
    written += chunk.length
    response[UNWRITTEN] = bytes.length - written
    if (written === bytes.length) {
      response.end(chunk)
      return
    }
    // A chunk exceeds the high-water mark, so `drain` always follows.
    response.write(chunk)
    response.once('drain', write)
    if (isFirst) response.emit(WAITS)
  }
  write()
}

/** Emitted each time the client has taken a page of a response. */
export const TAKES = 'client-takes'

/**
 * Ends a response with pages. Each is read from its source when the client has taken the one before, and has its own time
 * to be taken. Reading ends when the client has left.
 *
 * @throws the error of the source
 */
export async function endInPages(response: ServerResponse, pages: AsyncIterable<string>): Promise<void> {
  for await (const page of pages) {
    if (response.destroyed) return
    if (!response.write(page)) await taken(response)
    response.emit(TAKES)
  }
  response.end()
}

/** Resolves when the client has taken what was written, or has left. */
function taken(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    if (response.destroyed) resolve()
    else response.once('drain', done).once('close', done)
  })
}
