import { createServer, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { answerMalformed, hasTooManyFields, type RequestFront } from '@vault-and-tracker/service-kit/http-server'
import type { Express } from 'express'
import type { AnnounceRoutes, Reply } from '../announce/announce.routes.ts'
import type { Sockets } from '../announce/sockets.ws.ts'
import { UpgradableRequest } from '../announce/upgrades.ws.ts'
import { createAnnounceFront } from './announce-front.ts'

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
  const server: Server = createServer({ ...OPTIONS, IncomingMessage: UpgradableRequest }, (request, response) => {
    if (hasTooManyFields(request)) {
      response.writeHead(431, { Connection: 'close', 'Content-Length': 0 }).end()
      return
    }
    const reply = request.method === 'GET' ? announces.replyTo(request.url ?? '', request) : undefined
    if (reply === undefined) app(request, response)
    else void reply.then((each) => send(response, each))
  })
  // Node would answer an expectation it does not know by itself, without a body; nothing obliges us to refuse it.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  sockets?.attach(server)
  answerMalformed(server, (error) => announces.answerMalformed(error.rawPacket) ?? plainAnswer(error.code))
  // A client may end its half of the connection behind its last request (RFC 9112 section 9.6). Node has a property for
  // it that its types lack; without it the answer is lost.
  Object.assign(server, { httpAllowHalfOpen: true })
  return { server, front: hasAnnounceFront ? createAnnounceFront(announces.replyTo) : undefined }
}

function send(response: ServerResponse, { status, body, retryAfter }: Reply): void {
  const headers = ['Content-Type', 'text/plain', 'Content-Length', String(body.length), 'Cache-Control', 'no-store']
  if (retryAfter !== undefined) headers.push('Retry-After', String(retryAfter))
  response.writeHead(status, headers)
  // As a latin1 string the body leaves in one write with the head; a buffer would be a second one.
  response.end(body.toString('latin1'), 'latin1')
}

/** As Node itself answers what it cannot read. */
function plainAnswer(code: string | undefined): string {
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\n\r\n`
}
