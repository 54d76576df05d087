import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addressKey, plainAddress } from './client-address.ts'
import { unwrittenBytes } from './pieces.ts'

/** How long and how much a server keeps of answers that clients do not read. */
export type UnreadLimits = {
  /** An answer has to be read in this time, and one second more for each `minBytesPerSecond` of it. */
  readonly graceMs: number
  readonly minBytesPerSecond: number
  /** Bytes that may wait on one connection, also of answers to pipelined requests. */
  readonly maxBytesPerConnection: number
  /**
   * Bytes that may wait on all connections. Beyond them, connections of the owner that most of the bytes wait for are
   * closed, the one that has waited longest first: who reads nothing takes the budget from nobody else.
   */
  readonly maxBytes: number
  /** How often the deadlines are checked. */
  readonly sweepMs: number
}

const MIB = 1024 ** 2

/** A client on a slow line reads 10 MiB in three minutes; 64 MiB are the largest environment of the vault. */
export const UNREAD_LIMITS: UnreadLimits = {
  graceMs: 20_000,
  minBytesPerSecond: 64 * 1024,
  maxBytesPerConnection: 72 * MIB,
  maxBytes: 256 * MIB,
  sweepMs: 1_000,
}

/** Less than this is left to the sweep: nearly every answer is small, and the system takes it at once. */
const NOTED_BYTES = 64 * 1024

/** An answer on its way: a response of node:http, or the socket that an answer was written to without one. */
export type Answer = { readonly writableLength: number }

/** Closes connections whose clients do not read their answers. */
export type UnreadAnswers = {
  readonly sweepMs: number
  /** Counts an answer for its owner, such as a tenant. Others count for the address of the client (IPv6: its /64). */
  own(response: ServerResponse, owner: string): void
  /** How many bytes wait for an owner, and have waited since the sweep before the last: who reads at once has none. */
  overdueBytesOf(owner: string): number
  /** To be called when an answer was written to the end, or begins to wait before that. */
  written(socket: Socket, answer: Answer, pending: ReadonlySet<Answer>): void
  /** To be called when an answer has left, or its connection was closed. */
  closed(socket: Socket, pending: ReadonlySet<Answer>): void
  /** Checks every connection with pending answers. */
  sweep(connections: Iterable<readonly [Socket, { readonly active: ReadonlySet<Answer> }]>): void
}

/** A member of the response: a WeakMap of all responses would cost every request more. */
const OWNER = Symbol('owner')
type Owned = Answer & { [OWNER]?: string }

/** Of one connection, in bytes and milliseconds. */
type Waiting = { readonly bytes: number; readonly since: number; readonly until: number; readonly owner: string }

/**
 * Keeps count of the bytes that wait to be read. An answer is held in memory until the client has read it, so a client
 * that asks and does not read would otherwise hold memory for as long as it likes.
 */
export function createUnreadAnswers(limits: UnreadLimits): UnreadAnswers {
  /** In the order in which they began to wait. */
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

  /** That of the first answer counts for all that wait behind it on the connection. */
  function ownerOf(socket: Socket, pending: ReadonlySet<Answer>): string {
    for (const answer of pending) {
      const owner = (answer as Owned)[OWNER]
      if (owner !== undefined) return owner
    }
    return addressKey(plainAddress(socket.remoteAddress ?? ''))
  }

  function forget(socket: Socket): void {
    const known = waiting.get(socket)
    if (known === undefined) return
    add(known.owner, -known.bytes)
    waiting.delete(socket)
  }

  /** What is closed next beyond the budget; undefined where nothing but `spared` waits. */
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
    const bytes = unreadBytes(pending)
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
      if (unreadBytesOf(answer) >= NOTED_BYTES) note(socket, pending)
    },
    closed: (socket, pending) => {
      if (!waiting.has(socket)) return
      // What waited behind this answer has its own time from now on.
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

/** Only the first pending answer has the socket, and so counts what the socket holds. */
function unreadBytes(pending: ReadonlySet<Answer>): number {
  let bytes = 0
  for (const answer of pending) bytes += unreadBytesOf(answer)
  return bytes
}

function unreadBytesOf(answer: Answer): number {
  return answer.writableLength + unwrittenBytes(answer)
}
