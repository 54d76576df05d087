import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addressKey, plainAddress } from './client-address.ts'

/** How long and how much a server keeps of answers that clients do not read. */
export type UnreadLimits = {
  /** An answer has to be read in this time, and one second more for each `minBytesPerSecond` of it. */
  readonly graceMs: number
  readonly minBytesPerSecond: number
  /** Bytes that may wait on one connection, also of answers to pipelined requests. */
  readonly maxBytesPerConnection: number
  /**
   * Bytes that may wait on all connections. Beyond them, connections of the address (IPv6: its /64) that most of the bytes
   * wait for are closed, the one that has waited longest first: who reads nothing takes the budget from nobody else.
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

/** Closes connections whose clients do not read their answers. */
export type UnreadAnswers = {
  /** To be called when an answer was written to the end. */
  ended(socket: Socket, response: ServerResponse, pending: ReadonlySet<ServerResponse>): void
  /** To be called when an answer has left, or its connection was closed. */
  closed(socket: Socket, pending: ReadonlySet<ServerResponse>): void
  /** Checks every connection with pending answers. */
  sweep(connections: Iterable<readonly [Socket, { readonly active: ReadonlySet<ServerResponse> }]>): void
}

/**
 * Keeps count of the bytes that wait to be read. An answer is held in memory until the client has read it, so a client
 * that asks and does not read would otherwise hold memory for as long as it likes.
 */
export function createUnreadAnswers(limits: UnreadLimits): UnreadAnswers {
  /** In the order in which they began to wait. */
  const waiting = new Map<Socket, { readonly bytes: number; readonly until: number; readonly address: string }>()
  const bytesOf = new Map<string, number>()
  let total = 0

  function add(address: string, bytes: number): void {
    total += bytes
    const sum = (bytesOf.get(address) ?? 0) + bytes
    if (sum === 0) bytesOf.delete(address)
    else bytesOf.set(address, sum)
  }

  function forget(socket: Socket): void {
    const known = waiting.get(socket)
    if (known === undefined) return
    add(known.address, -known.bytes)
    waiting.delete(socket)
  }

  /** What is closed next beyond the budget; undefined where nothing but `spared` waits. */
  function next(spared: Socket): Socket | undefined {
    let chosen: Socket | undefined
    let most = 0
    for (const [socket, { address }] of waiting) {
      const bytes = bytesOf.get(address) ?? 0
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

  function note(socket: Socket, pending: ReadonlySet<ServerResponse>): void {
    const bytes = unreadBytes(pending)
    if (bytes === 0) {
      forget(socket)
      return
    }
    const known = waiting.get(socket)
    const address = known?.address ?? addressKey(plainAddress(socket.remoteAddress ?? ''))
    add(address, bytes - (known?.bytes ?? 0))
    const until = known?.until ?? Date.now() + limits.graceMs + (1000 * bytes) / limits.minBytesPerSecond
    waiting.set(socket, { bytes, until, address })
    if (bytes > limits.maxBytesPerConnection || until < Date.now()) drop(socket)
    while (total > limits.maxBytes) {
      const closed = next(socket)
      if (closed === undefined) break
      drop(closed)
    }
  }

  return {
    ended: (socket, response, pending) => {
      if (response.writableLength >= NOTED_BYTES) note(socket, pending)
    },
    closed: (socket, pending) => {
      if (!waiting.has(socket)) return
      // What waited behind this answer has its own time from now on.
      forget(socket)
      if (!socket.destroyed) note(socket, pending)
    },
    sweep: (connections) => {
      for (const [socket, { active }] of connections) if (active.size > 0) note(socket, active)
    },
  }
}

/** Only the first pending answer has the socket, and so counts what the socket holds. */
function unreadBytes(pending: ReadonlySet<ServerResponse>): number {
  let bytes = 0
  for (const response of pending) bytes += response.writableLength
  return bytes
}
