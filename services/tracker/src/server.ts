import { createServer, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { answerMalformed, hasTooManyFields, type RequestFront } from '@vault-and-tracker/service-kit/http/server'
import type { Express } from 'express'
import type { TrackerClient, TrackerRequests } from './announce/announce.routes.ts'
import { createAnnounceFront } from './announce/connections.routes.ts'
import type { HttpAnnounce } from './announce/http-announce.ts'
import type { Reply } from './announce/reply.ts'
import { type SocketServer, UpgradableRequest } from './webtorrent/server.ws.ts'

/** Handlers that run before the app. `sockets` is undefined if WebSockets are disabled. */
type BeforeApp = {
  readonly announces: TrackerRequests
  readonly sockets: Pick<SocketServer, 'attach'> | undefined
  /** Whether announces are parsed before node:http. */
  readonly hasAnnounceFront: boolean
}

/** A server that does not listen yet. */
export type TrackerServer = { readonly server: Server; readonly front: RequestFront | undefined }

/** Uploads over slow connections take long. Headers do not, so connections that send them slowly are closed. */
const OPTIONS = { requestTimeout: 120_000, headersTimeout: 10_000, connectionsCheckingInterval: 2_000 } as const

/** The HTTP server of an app. Announces and scrapes, including malformed ones, are handled before the app. */
export function createTrackerServer(app: Express, { announces, sockets, hasAnnounceFront }: BeforeApp): TrackerServer {
  const server: Server = createServer({ ...OPTIONS, IncomingMessage: UpgradableRequest }, (request, response) => {
    if (hasTooManyFields(request)) {
      response.writeHead(431, { Connection: 'close', 'Content-Length': 0 }).end()
      return
    }
    const isTaken = request.method === 'GET' && announces.take(request.url ?? '', request, new NodeClient(response))
    if (!isTaken) app(request, response)
  })
  // By default Node refuses unknown expectations without a body. The RFC lets a server ignore them.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  sockets?.attach(server)
  answerMalformed(server, (error) => announces.answerMalformed(error.rawPacket) ?? plainAnswer(error.code))
  // A client may close its half of the connection after its last request (RFC 9112 section 9.6). Node needs this property,
  // which its types lack, to send the response.
  Object.assign(server, { httpAllowHalfOpen: true })
  return { server, front: hasAnnounceFront ? createAnnounceFront(announces) : undefined }
}

/** The client of one request that node:http has parsed. */
class NodeClient implements TrackerClient {
  announce?: HttpAnnounce
  private readonly response: ServerResponse

  constructor(response: ServerResponse) {
    this.response = response
  }

  send({ status, body, retryAfter }: Reply): void {
    const headers = ['Content-Type', 'text/plain', 'Content-Length', String(body.length), 'Cache-Control', 'no-store']
    if (retryAfter !== undefined) headers.push('Retry-After', String(retryAfter))
    this.response.writeHead(status, headers)
    // A latin1 string is sent in one write with the head; a buffer would need a second write.
    this.response.end(body.toString('latin1'), 'latin1')
  }
}

/** Node's default response to a request that it cannot parse. */
function plainAnswer(code: string | undefined): string {
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\n\r\n`
}
