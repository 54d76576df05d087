import { once } from 'node:events'
import { IncomingMessage, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { listen, type RunningServer } from '@vault-and-tracker/service-kit/http/server'
import type { UnreadAnswers } from '@vault-and-tracker/service-kit/http/unread-answers'
import express from 'express'
import type { Sender, TrackerRequests } from '../../src/announce/announce.routes.ts'
import type { Reply } from '../../src/announce/reply.ts'
import { createTrackerServer } from '../../src/server.ts'

/** An unremarkable announce, answered in a later turn of the event loop. */
export const ANNOUNCE =
  'GET /announce?a=1 HTTP/1.1\r\nHost: x\r\nUser-Agent: client/1.0\r\nAccept-Encoding: gzip\r\n\r\n'

/** More than the buffers of both ends of a connection take. */
export const LARGE = 24 * 1024 * 1024
const LARGE_BODY = Buffer.alloc(LARGE, 'x')

/** A server that replies with its reading of each request. */
export type ToldServer = RunningServer & {
  /** The targets that were replied to, in order. */
  readonly targets: readonly string[]
  /** How many of them the front has read. */
  readonly readByFront: () => number
  /** The number of requests that node:http has read or refused. */
  readonly readByNode: () => number
  readonly server: Server
}

/** Options of a server in these tests. Replies to targets that contain `held` wait for `until`. */
export type ToldOptions = { readonly unread?: UnreadAnswers; readonly until?: Promise<void> }

/**
 * Starts a server.
 *
 * @param hasAnnounceFront false for node:http alone
 */
export async function startTold(
  hasAnnounceFront: boolean,
  { unread, until = Promise.resolve() }: ToldOptions = {},
): Promise<ToldServer> {
  const targets: string[] = []
  let readByNode = 0
  let readByFront = 0
  const take: TrackerRequests['take'] = (target, sender, client) => {
    if (!/^\/(?:announce|scrape)(?:[/?]|$)/.test(target)) return false
    targets.push(target)
    if (!(sender instanceof IncomingMessage)) readByFront += 1
    const reply = replyOf(target, sender)
    void (target.includes('held') ? until : turn()).then(() => client.send(reply))
    return true
  }
  const app = express().disable('x-powered-by').disable('etag')
  app.use((request, response) => {
    request.resume()
    request.on('end', () => response.status(404).send(`${request.method} ${request.url}`))
  })
  const announces = { take, answerMalformed: () => undefined }
  const { server, front } = createTrackerServer(app, { announces, sockets: undefined, hasAnnounceFront })
  server.on('request', () => (readByNode += 1))
  server.on('clientError', () => (readByNode += 1))
  const running = await listen(
    server,
    { host: '127.0.0.1', port: 0 },
    { front, ...(unread === undefined ? {} : { unread }) },
  )
  return { ...running, server, targets, readByFront: () => readByFront, readByNode: () => readByNode }
}

function replyOf(target: string, { headers }: Sender): Reply {
  if (target.includes('large')) return { status: 200, body: LARGE_BODY }
  const body = Buffer.from(`${target} for ${String(headers['x-forwarded-for'])}`, 'latin1')
  return target.includes('limit') ? { status: 429, body, retryAfter: 60 } : { status: 200, body }
}

/** A connection. It reads nothing until it is resumed or has a listener for data. */
export async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/** The bytes that a server sends until it closes the connection, as latin1 without dates. Call it before data arrives. */
export async function readToEnd(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // `once` of node:events would reject if a write after the last answer fails.
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  return Buffer.concat(chunks)
    .toString('latin1')
    .replaceAll(/^Date: .*$/gm, 'Date: -')
}

/** The answer of a server to pieces of bytes that are sent separately. */
async function answerOf(server: ToldServer, pieces: readonly string[], pauseMs: number): Promise<string> {
  const socket = await open(server.port)
  const answer = readToEnd(socket)
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    await turn()
  }
  await sleep(pauseMs)
  socket.end()
  return await answer
}

/**
 * Cuts off everything after an answer that closes the connection, because no client reads it (RFC 9112 section 9.6).
 * Whether node:http also answers malformed bytes after a request that it refuses depends on timing.
 */
function toLastAnswer(text: string): string {
  const closes = text.indexOf('\r\nConnection: close\r\n')
  const next = closes === -1 ? -1 : text.indexOf('HTTP/1.1 ', closes)
  return next === -1 ? text : text.slice(0, next)
}

/** Two servers whose answers must be equal. */
export type Both = { readonly front: ToldServer; readonly node: ToldServer }

/**
 * Sends the same pieces to both.
 *
 * If a client ends its half of the connection while an answer is prepared, timing decides whether malformed bytes after
 * the request are answered. If the answers differ, the client therefore waits longer.
 *
 * @returns the answer of both
 * @throws Error with both answers if they differ
 */
export async function expectSame(both: Both, pieces: readonly string[], pauseMs = 1): Promise<string> {
  const [ours, theirs] = await Promise.all([
    answerOf(both.front, pieces, pauseMs),
    answerOf(both.node, pieces, pauseMs),
  ])
  if (ours === theirs || toLastAnswer(ours) === toLastAnswer(theirs)) return ours
  if (pauseMs < 500) return expectSame(both, pieces, 500)
  throw new Error(`${JSON.stringify(pieces)}\nfront:\n${ours}\nnode:http:\n${theirs}`)
}
