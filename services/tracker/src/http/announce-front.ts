import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestFront } from '@vault-and-tracker/service-kit/http-server'
import type { Reply, Sender } from '../announce/announce.routes.ts'
import { type PlainRequest, readPlainRequest } from '../announce/request-reader.ts'

/** A connection that sends nothing for this long is node:http's, which has a limit for that. */
const FIRST_BYTES_MS = 1_000
/** An answer that the client does not read closes the connection. */
const UNREAD_MS = 20_000

/** Of one connection whose requests are read here. */
type Connection = {
  isAnswering: boolean
  /** Milliseconds of `Date.now()`. */
  idleSince: number
  /** The client has sent its last byte, and it is read. */
  ended: boolean
}

/** Answers to a request; undefined where it is neither an announce nor a scrape. */
export type ReplyTo = (target: string, sender: Sender) => Reply | Promise<Reply> | undefined

/**
 * Answers announces and scrapes before node:http reads them: its parser and its objects cost more than the answer. Requests
 * are taken whole and as `readPlainRequest` reads them. From the first byte that is something else, the connection is
 * node:http's, which gets every byte since then.
 *
 * @param server not listening yet
 */
export function attachAnnounceFront(server: Server, replyTo: ReplyTo): RequestFront {
  const connections = new Map<Socket, Connection>()
  const [toNode] = server.listeners('connection') as ((socket: Socket) => void)[]
  if (toNode === undefined) throw new Error('the server has no listener for connections')
  let draining = false

  const handOver = (socket: Socket, unread: Buffer): void => {
    forget(socket)
    if (unread.length > 0) socket.unshift(unread)
    toNode.call(server, socket)
    // It may have been paused here.
    socket.resume()
  }

  const forget = (socket: Socket): void => {
    connections.delete(socket)
    socket.setTimeout(0)
    socket.off('data', onData)
    socket.off('end', onEnd)
    socket.off('error', onError)
    socket.off('timeout', onTimeout)
    socket.off('drain', onDrain)
    socket.off('close', onClose)
  }

  const send = (socket: Socket, connection: Connection, reply: Reply, request: PlainRequest): void => {
    const keepAlive = request.keepAlive && !draining
    const lingers = keepAlive && !connection.ended
    const sent = socket.write(
      headOf(reply, keepAlive, server.keepAliveTimeout) + reply.body.toString('latin1'),
      'latin1',
    )
    connection.isAnswering = !sent && lingers
    connection.idleSince = Date.now()
    if (connection.isAnswering) socket.setTimeout(UNREAD_MS)
    if (lingers) return
    // What the client sent behind this request is not read.
    forget(socket)
    socket.on('error', () => socket.destroy())
    socket.setTimeout(UNREAD_MS, () => socket.destroy())
    socket.destroySoon()
  }

  /** Reads and answers requests, one after another. */
  const work = (socket: Socket, connection: Connection, chunk: Buffer): void => {
    const text = chunk.toString('latin1')
    let at = 0
    while (at < text.length && connections.has(socket)) {
      if (connection.isAnswering) {
        wait(socket, chunk.subarray(at))
        return
      }
      const request = readPlainRequest(text, at)
      const reply = request && replyTo(request.target, { socket, headers: { 'x-forwarded-for': request.forwardedFor } })
      if (request === undefined || reply === undefined) {
        handOver(socket, chunk.subarray(at))
        return
      }
      at = request.end
      if (!(reply instanceof Promise)) {
        send(socket, connection, reply, request)
        continue
      }
      connection.isAnswering = true
      void reply.then((each) => {
        if (!connections.has(socket)) return
        send(socket, connection, each, request)
        goOn(socket, connection)
      })
    }
  }

  /** Leaves bytes where they came from until the answer before them is sent. So the end of the stream stays behind them. */
  const wait = (socket: Socket, unread: Buffer): void => {
    socket.pause()
    socket.unshift(unread)
  }

  const goOn = (socket: Socket, { isAnswering }: Connection): void => {
    if (!isAnswering && connections.has(socket) && socket.isPaused()) socket.resume()
  }

  // All connections share these listeners; `this` is the connection's socket.
  const onData = function (this: Socket, chunk: Buffer): void {
    const connection = connections.get(this)
    if (connection === undefined) return
    if (this.timeout === FIRST_BYTES_MS) this.setTimeout(server.keepAliveTimeout)
    if (connection.isAnswering) wait(this, chunk)
    else work(this, connection, chunk)
  }
  const onEnd = function (this: Socket): void {
    const connection = connections.get(this)
    if (connection === undefined) return
    connection.ended = true
    if (!connection.isAnswering) this.end()
  }
  const onDrain = function (this: Socket): void {
    const connection = connections.get(this)
    if (connection === undefined) return
    connection.isAnswering = false
    this.setTimeout(server.keepAliveTimeout)
    goOn(this, connection)
  }
  const onTimeout = function (this: Socket): void {
    const connection = connections.get(this)
    if (connection === undefined) return
    if (this.bytesRead === 0) handOver(this, NOTHING)
    else if (!connection.isAnswering || this.writableLength > 0) this.destroy()
  }
  const onError = function (this: Socket): void {
    this.destroy()
  }
  const onClose = function (this: Socket): void {
    connections.delete(this)
  }

  server.off('connection', toNode)
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { isAnswering: false, idleSince: Date.now(), ended: false })
    socket.setTimeout(FIRST_BYTES_MS)
    socket.on('data', onData)
    socket.on('end', onEnd)
    socket.on('error', onError)
    socket.on('timeout', onTimeout)
    socket.on('drain', onDrain)
    socket.on('close', onClose)
  })

  return {
    idleSince: (socket) => {
      const connection = connections.get(socket)
      return connection?.isAnswering === true ? Number.POSITIVE_INFINITY : connection?.idleSince
    },
    drain: () => {
      draining = true
    },
  }
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
