import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FrontAnswers, FrontConnection, RequestFront } from '@vault-and-tracker/service-kit/http/server'
import type { Sender, TrackerClient, TrackerRequests } from './announce.routes.ts'
import type { HttpAnnounce } from './http-announce.ts'
import { leaveReply, type Reply, wholeReply } from './reply.ts'
import { readPlainRequest } from './request-reader.ts'

/** A connection that sends nothing for this long is passed to node:http, which enforces its own time limit. */
const FIRST_BYTES_MS = 1_000
const NOTHING = Buffer.alloc(0)

/**
 * Answers announces and scrapes without node:http, whose parser and objects cost more than the reply. It handles one
 * complete request at a time. If `readPlainRequest` cannot read a request, the connection and the unread bytes are
 * passed to node:http.
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

/** A connection until it ends or is passed to node:http. */
class Connection implements TrackerClient, Sender {
  announce?: HttpAnnounce
  readonly socket: Socket
  /** The headers of the current request. */
  readonly headers: { 'x-forwarded-for': string | undefined } = { 'x-forwarded-for': undefined }
  private readonly surroundings: Surroundings
  /** `isAnswering` is true from reading a request until the kernel has accepted its reply. */
  private readonly state: FrontConnection
  private wantsMore = true
  /** No further request is read: the client has ended its half, or this reply closes the connection. */
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
    // A request gets exactly one reply.
    if (!state.isAnswering) return
    const { server, answers } = this.surroundings
    const closes = !this.wantsMore || answers.isDraining()
    if (closes) this.isLast = true
    socket.write(wholeReply(reply, closes ? undefined : server.keepAliveTimeout))
    if (socket.writableLength > 0) {
      leaveReply()
      answers.waits(socket)
      if (closes) socket.resume()
      // Calls back once the kernel has accepted everything written before.
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

  /** Resumes in a later turn of the event loop, so that a client that pipelines requests cannot starve others. */
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

  /** Returns unread bytes to the stream, so that they are read before later data and little is buffered. */
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
