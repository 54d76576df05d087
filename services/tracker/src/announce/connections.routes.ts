import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FrontAnswers, FrontConnection, RequestFront } from '@vault-and-tracker/service-kit/http-server'
import type { Sender, TrackerClient, TrackerRequests } from './announce.routes.ts'
import type { HttpAnnounce } from './http-announce.ts'
import { leaveReply, type Reply, wholeReply } from './reply.ts'
import { readPlainRequest } from './request-reader.ts'

/** A connection that sends nothing for this long is left to node:http, which has a limit for that. */
const FIRST_BYTES_MS = 1_000
const NOTHING = Buffer.alloc(0)

/**
 * Answers announces and scrapes before node:http reads them: its parser and its objects cost more than the answer.
 * Requests are taken whole, one at a time, and as `readPlainRequest` reads them. At the first byte that it cannot read,
 * the connection and those bytes are passed to node:http.
 */
export function createAnnounceFront(requests: Pick<TrackerRequests, 'take'>): RequestFront {
  return {
    start: (server, answers) => {
      const [toNode] = server.listeners('connection') as ((socket: Socket) => void)[]
      if (toNode === undefined) throw new Error('the server has no listener for connections')
      server.off('connection', toNode)
      const surroundings = { server, answers, requests, toNode: toNode.bind(server) }
      server.on('connection', (socket: Socket) => new Connection(socket, surroundings))
    },
  }
}

type Surroundings = {
  readonly server: Server
  readonly answers: FrontAnswers
  readonly requests: Pick<TrackerRequests, 'take'>
  readonly toNode: (socket: Socket) => void
}

/** A connection until it ends or node:http gets it. */
class Connection implements TrackerClient, Sender {
  announce?: HttpAnnounce
  readonly socket: Socket
  /** Of the request that is being answered. */
  readonly headers: { 'x-forwarded-for': string | undefined } = { 'x-forwarded-for': undefined }
  private readonly surroundings: Surroundings
  /** `isAnswering` from when a request was read until the system has taken its answer. */
  private readonly state: FrontConnection
  private wantsMore = true
  /** Nothing behind the request is read: the client has ended its half, or the answer ends the connection. */
  private isLast = false

  constructor(socket: Socket, surroundings: Surroundings) {
    this.socket = socket
    this.surroundings = surroundings
    this.state = surroundings.answers.connectionOf(socket)
    socket.on('data', this.onData).on('end', this.onEnd).on('timeout', this.onTimeout).on('error', this.onError)
    socket.setTimeout(FIRST_BYTES_MS)
  }

  send(reply: Reply): void {
    const { socket, state } = this
    // A request has one reply.
    if (!state.isAnswering) return
    const { server, answers } = this.surroundings
    const closes = !this.wantsMore || answers.isDraining()
    if (closes) this.isLast = true
    socket.write(wholeReply(reply, closes ? undefined : server.keepAliveTimeout))
    if (socket.writableLength > 0) {
      leaveReply()
      answers.waits(socket)
      if (closes) socket.resume()
      // Its callback is called when the system has taken everything before it.
      socket.write(NOTHING, this.onTaken)
    } else this.taken()
  }

  private taken(): void {
    this.state.isAnswering = false
    if (this.surroundings.answers.isDraining()) this.state.idleSince = Date.now()
    if (this.isLast) {
      this.socket.resume()
      this.socket.destroySoon()
    } else if (this.socket.isPaused()) setImmediate(this.resume)
  }

  /** In a later turn of the event loop, so that a client that pipelines requests takes turns with the others. */
  private readonly resume = (): void => void this.socket.resume()

  private readonly onTaken = (): void => {
    this.surroundings.answers.taken(this.socket)
    this.taken()
  }

  private readonly onData = (bytes: Buffer): void => {
    const { socket, state, headers } = this
    const { server, requests } = this.surroundings
    if (this.isLast) return
    if (state.isAnswering) {
      this.putBack(bytes)
      return
    }
    const request = readPlainRequest(bytes)
    if (request === undefined) {
      this.handOver(bytes)
      return
    }
    state.isAnswering = true
    this.wantsMore = request.keepAlive
    headers['x-forwarded-for'] = request.forwardedFor
    if (socket.timeout !== server.keepAliveTimeout) socket.setTimeout(server.keepAliveTimeout)
    if (request.length < bytes.length) this.putBack(bytes.subarray(request.length))
    if (requests.take(request.target, this, this)) return
    state.isAnswering = false
    this.handOver(bytes.subarray(0, request.length))
  }

  /** Returns unread bytes to the stream, so later data and its end are read after them and little is buffered. */
  private putBack(bytes: Buffer): void {
    this.socket.pause()
    this.socket.unshift(bytes)
  }

  private readonly onEnd = (): void => {
    this.isLast = true
    this.wantsMore = false
    if (!this.state.isAnswering) this.socket.destroySoon()
  }

  private readonly onTimeout = (): void => {
    if (this.socket.bytesRead === 0) this.handOver(NOTHING)
    else if (!this.state.isAnswering) this.socket.destroy()
  }

  private readonly onError = (): void => void this.socket.destroy()

  private handOver(bytes: Buffer): void {
    const { socket } = this
    socket.off('data', this.onData).off('end', this.onEnd).off('timeout', this.onTimeout).off('error', this.onError)
    socket.setTimeout(0)
    this.putBack(bytes)
    this.surroundings.toNode(socket)
    socket.resume()
  }
}
