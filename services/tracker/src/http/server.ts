import { createServer, type Server, STATUS_CODES } from 'node:http'
import { answerMalformed, type RequestFront } from '@vault-and-tracker/service-kit/http-server'
import type { Express } from 'express'
import type { AnnounceRoutes } from '../announce/announce.routes.ts'
import type { Sockets } from '../announce/sockets.ws.ts'
import { attachAnnounceFront } from './announce-front.ts'

/** What is answered before the app. `sockets` is undefined where WebSockets are switched off. */
type BeforeApp = {
  readonly announces: AnnounceRoutes
  readonly sockets: Pick<Sockets, 'attach'> | undefined
  /** Whether announces are read before node:http. */
  readonly hasAnnounceFront: boolean
}

/** A server that is not listening yet. */
export type TrackerServer = { readonly server: Server; readonly front: RequestFront | undefined }

/** An upload over a slow line may take long. Headers do not: a connection that sends them too slowly is closed. */
const OPTIONS = { requestTimeout: 120_000, headersTimeout: 10_000, connectionsCheckingInterval: 2_000 } as const

/** The HTTP server of an app. Announces and scrapes, also malformed ones, are answered before the app. */
export function createTrackerServer(app: Express, { announces, sockets, hasAnnounceFront }: BeforeApp): TrackerServer {
  const server = createServer(OPTIONS, (request, response) => {
    if (!announces.answer(request, response)) app(request, response)
  })
  // Node would answer an expectation it does not know by itself, without a body; nothing obliges us to refuse it.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  sockets?.attach(server)
  answerMalformed(server, (error) => announces.answerMalformed(error.rawPacket) ?? plainAnswer(error.code))
  // A client may end its half of the connection behind its last request (RFC 9112 section 9.6). Node has a property for
  // it that its types lack; without it the answer is lost.
  Object.assign(server, { httpAllowHalfOpen: true })
  return { server, front: hasAnnounceFront ? attachAnnounceFront(server, announces.replyTo) : undefined }
}

/** As Node itself answers what it cannot read. */
function plainAnswer(code: string | undefined): string {
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\n\r\n`
}
