import {
  type AnnounceListReply,
  type AnnounceReply,
  announceListReply,
  announceReply,
  BencodeWriter,
  FAILURES,
  failureReply,
} from '@vault-and-tracker/bencode-tracker'
import type { Refusal } from './refusal.ts'

/** A reply over HTTP. */
export type Reply = {
  readonly status: 200 | 429
  readonly body: Buffer
  /** In seconds. */
  readonly retryAfter?: number | undefined
  /** The body is in memory shared by all replies, valid until the next reply. */
  readonly isShared?: boolean
}

const HEAD_ROOM = 320
const CAPACITY = 4_096

/**
 * Replies to announces are written into the same memory, with room for the head in front, because the kernel accepts
 * nearly all of them immediately.
 */
let shared = new BencodeWriter(CAPACITY, HEAD_ROOM)

/** Must be called if the kernel has not accepted the last reply yet, so that the next one is written elsewhere. */
export function leaveReply(): void {
  shared = new BencodeWriter(CAPACITY, HEAD_ROOM)
}

/** The reply to an announce with compact peers. */
export function compactReply(reply: AnnounceReply): Reply {
  shared.clear()
  return { status: 200, body: announceReply(reply, shared), isShared: true }
}

/** The reply to an announce with listed peers. */
export function listReply(reply: AnnounceListReply): Reply {
  return { status: 200, body: announceListReply(reply) }
}

/** The reply to an announce or a scrape that was refused. */
export function refusalReply(refusal: Refusal): Reply {
  const { failure, interval } = refusal
  const { status } = FAILURES[failure]
  return { status, body: failureReply(failure, refusal), retryAfter: status === 429 ? interval : undefined }
}

/**
 * The head and body as node:http would write them.
 *
 * @param keepAliveMs how long an idle connection stays open; undefined if this reply closes it
 */
export function wholeReply(reply: Reply, keepAliveMs: number | undefined): Buffer {
  const head = headOf(reply, keepAliveMs)
  return reply.isShared === true ? shared.prepend(head) : Buffer.concat([Buffer.from(head, 'latin1'), reply.body])
}

function headOf({ status, body, retryAfter }: Reply, keepAliveMs: number | undefined): string {
  const retry = retryAfter === undefined ? '' : `\r\nRetry-After: ${String(retryAfter)}`
  return `${STARTS[status]}${String(body.length)}\r\nCache-Control: no-store${retry}${endOfHead(keepAliveMs)}`
}

const TYPE = '\r\nContent-Type: text/plain\r\nContent-Length: '
const STARTS = { 200: `HTTP/1.1 200 OK${TYPE}`, 429: `HTTP/1.1 429 Too Many Requests${TYPE}` }
let [closing, keeping, keepsForMs, validUntil] = ['', '', 0, 0]

/** The end of a head, computed once a second because of its date (RFC 9110 section 5.6.7). */
function endOfHead(keepAliveMs: number | undefined): string {
  const now = Date.now()
  if (now >= validUntil || (keepAliveMs ?? keepsForMs) !== keepsForMs) {
    keepsForMs = keepAliveMs ?? keepsForMs
    const date = `\r\nDate: ${new Date(now).toUTCString()}\r\n`
    closing = `${date}Connection: close\r\n\r\n`
    keeping = `${date}Connection: keep-alive\r\nKeep-Alive: timeout=${String(Math.floor(keepsForMs / 1000))}\r\n\r\n`
    validUntil = now - (now % 1000) + 1000
  }
  return keepAliveMs === undefined ? closing : keeping
}
