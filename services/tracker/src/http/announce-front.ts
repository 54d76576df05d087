import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FrontAnswers, RequestFront } from '@vault-and-tracker/service-kit/http-server'
import type { AnnounceRoutes, Reply } from '../announce/announce.routes.ts'
import { readPlainRequest } from '../announce/request-reader.ts'

/** A connection that sends nothing for this long is node:http's, which has a limit for that. */
const FIRST_BYTES_MS = 1_000

type ReplyTo = AnnounceRoutes['replyTo']

/**
 * Answers announces and scrapes before node:http reads them: its parser and its objects cost more than the answer. Requests
 * are taken whole, one at a time, and as `readPlainRequest` reads them. From the first byte that is something else, the
 * connection is node:http's, which gets every byte since then.
 */
export function createAnnounceFront(replyTo: ReplyTo): RequestFront {
  return {
    start: (server, answers) => {
      const [toNode] = server.listeners('connection') as ((socket: Socket) => void)[]
      if (toNode === undefined) throw new Error('the server has no listener for connections')
      server.off('connection', toNode)
      const surroundings = { server, answers, replyTo, toNode: toNode.bind(server) }
      server.on('connection', (socket: Socket) => serve(socket, surroundings))
    },
  }
}

type Surroundings = {
  readonly server: Server
  readonly answers: FrontAnswers
  readonly replyTo: ReplyTo
  readonly toNode: (socket: Socket) => void
}

/** Serves a connection until it ends or node:http gets it. */
function serve(socket: Socket, { server, answers, replyTo, toNode }: Surroundings): void {
  /** A request was read, and the system has not taken its answer yet. */
  let isAnswering = false
  /** Nothing behind the request is read: the client has ended its half, or the answer ends the connection. */
  let isLast = false

  const onData = (bytes: Buffer): void => {
    if (isLast) return
    if (isAnswering) {
      putBack(bytes)
      return
    }
    const request = readPlainRequest(bytes)
    const sender = { socket, headers: { 'x-forwarded-for': request?.forwardedFor } }
    const reply = request && replyTo(request.target, sender)
    if (request === undefined || reply === undefined) {
      handOver(bytes)
      return
    }
    isAnswering = true
    answers.begins(socket)
    if (socket.timeout !== server.keepAliveTimeout) socket.setTimeout(server.keepAliveTimeout)
    if (request.length < bytes.length) putBack(bytes.subarray(request.length))
    void reply.then((each) => send(each, request.keepAlive))
  }

  const send = (reply: Reply, wantsMore: boolean): void => {
    const keepAlive = wantsMore && !answers.isDraining()
    if (!keepAlive) {
      isLast = true
      socket.resume()
    }
    // As one string, head and body leave in one write.
    const text = headOf(reply, keepAlive, server.keepAliveTimeout) + reply.body.toString('latin1')
    socket.write(text, 'latin1', sent)
    answers.written(socket)
  }

  const sent = (): void => {
    isAnswering = false
    answers.ends(socket)
    if (isLast) socket.destroySoon()
    else if (socket.isPaused()) socket.resume()
  }

  /** Leaves bytes where they came from. So what follows them, such as the end of the stream, stays behind them, and little is held. */
  const putBack = (bytes: Buffer): void => {
    socket.pause()
    socket.unshift(bytes)
  }

  const onEnd = (): void => {
    isLast = true
    if (!isAnswering) socket.destroySoon()
  }

  const onTimeout = (): void => {
    if (socket.bytesRead === 0) handOver(NOTHING)
    else if (!isAnswering) socket.destroy()
  }

  const onError = (): void => void socket.destroy()

  const handOver = (bytes: Buffer): void => {
    socket.off('data', onData).off('end', onEnd).off('timeout', onTimeout).off('error', onError)
    socket.setTimeout(0)
    putBack(bytes)
    toNode(socket)
    socket.resume()
  }

  socket.on('data', onData).on('end', onEnd).on('timeout', onTimeout).on('error', onError)
  socket.setTimeout(FIRST_BYTES_MS)
}

const NOTHING = Buffer.alloc(0)

/** The head as node:http writes it. */
function headOf({ status, body, retryAfter }: Reply, keepAlive: boolean, keepAliveMs: number): string {
  const retry = retryAfter === undefined ? '' : `Retry-After: ${String(retryAfter)}\r\n`
  const connection = keepAlive
    ? `Connection: keep-alive\r\nKeep-Alive: timeout=${String(Math.floor(keepAliveMs / 1000))}`
    : 'Connection: close'
  return (
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: text/plain\r\n` +
    `Content-Length: ${String(body.length)}\r\nCache-Control: no-store\r\n${retry}Date: ${dateNow()}\r\n${connection}\r\n\r\n`
  )
}

let date = ''
let dateUntil = 0

/** The time as HTTP writes it (RFC 9110 section 5.6.7), made once a second. */
function dateNow(): string {
  const now = Date.now()
  if (now >= dateUntil) {
    date = new Date(now).toUTCString()
    dateUntil = now - (now % 1000) + 1000
  }
  return date
}
