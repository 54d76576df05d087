import { createServer, type Server, STATUS_CODES } from 'node:http'
import { parseTrackerTarget } from '@vault-and-tracker/bencode-tracker'
import { trustedProxies } from '@vault-and-tracker/service-kit/client-address'
import { healthRoutes } from '@vault-and-tracker/service-kit/health'
import { answerMalformed } from '@vault-and-tracker/service-kit/http-server'
import express, { type Express } from 'express'
import { accountRoutes } from './accounts/account.routes.ts'
import { manageUsersRoutes } from './accounts/manage-users.routes.ts'
import { ABSOLUTE_MS } from './accounts/sessions.ts'
import { categoryRoutes } from './categories/categories.routes.ts'
import type { Context } from './context.ts'
import { apiError } from './errors.ts'
import type { BoundEndpoint } from './rest/endpoint.routes.ts'
import { createErrorAnswer } from './rest/errors.middleware.ts'
import { createIdentify, createRefuseCrossSite, restHeaders } from './rest/guards.middleware.ts'
import { createLimits } from './rest/limits.middleware.ts'
import { serveEndpoints } from './rest/serve.routes.ts'
import { siteRoutes } from './site-settings/site-settings.routes.ts'
import { timeToLive } from './swarm/interval.ts'
import { moderationRoutes } from './torrents/moderation.routes.ts'
import { torrentRoutes } from './torrents/torrents.routes.ts'

/** Every endpoint of the REST surface. */
export function restEndpoints(context: Context): readonly BoundEndpoint[] {
  const peerTtlMs = timeToLive(context.config.ANNOUNCE_INTERVAL) * 1_000
  return [
    ...accountRoutes({ ...context, peerTtlMs }),
    ...categoryRoutes(context),
    ...torrentRoutes(context),
    ...manageUsersRoutes(context),
    ...moderationRoutes(context),
    ...siteRoutes(context),
  ]
}

/** The REST surface: middleware in order, the routes, then the answers to what matched nothing or failed. */
function createRest(context: Context, stopping: AbortSignal): Express {
  const { config, logger, metrics, checks, sessions, redis } = context
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.use(metrics.middleware)
  app.use(healthRoutes({ checks, stopping, logger, metrics: metrics.handler }))
  app.use(restHeaders)
  app.use(
    serveEndpoints(restEndpoints(context), {
      refuseCrossSite: createRefuseCrossSite(config.PUBLIC_URL),
      identify: createIdentify({
        secure: config.PUBLIC_URL.startsWith('https:'),
        cookieMaxAgeMs: ABSOLUTE_MS,
        proxies: trustedProxies(config.TRUSTED_PROXIES),
        findSession: (token) => sessions.find(token),
      }),
      limits: createLimits({
        redis,
        logger,
        read: config.REST_READ_LIMIT,
        write: config.REST_WRITE_LIMIT,
        authentication: config.AUTH_LIMIT,
      }),
    }),
  )
  app.use((request, response) => {
    if (parseTrackerTarget(request.url) === undefined) throw apiError('NOT_FOUND', 'There is no such resource.')
    response.set('Allow', 'GET')
    throw apiError('METHOD_NOT_ALLOWED', 'Announces and scrapes are made with GET.')
  })
  app.use(createErrorAnswer(logger))
  return app
}

/** An upload over a slow line takes its time; headers never do, and who dribbles them is cut off. */
const SERVER_OPTIONS = {
  requestTimeout: 120_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
} as const

/**
 * The server that answers every HTTP request of the service; it does not listen yet.
 *
 * @param stopping aborts when the service was asked to stop; `/ready` is 503 from then on
 */
export function createHttpServer(context: Context, stopping: AbortSignal): Server {
  const rest = createRest(context, stopping)
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    if (!context.engine.answer(request, response)) rest(request, response)
  })
  answerMalformed(server, (error) => context.engine.answerMalformed(error.rawPacket) ?? plainAnswer(error.code))
  // A client may end its half of the connection behind its last request (RFC 9112 section 9.6). Node has a property for
  // it that its types lack; without it the answer is lost.
  return Object.assign(server, { httpAllowHalfOpen: true })
}

/** As Node itself answers what it cannot read. */
function plainAnswer(code: string | undefined): string {
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\n\r\n`
}
