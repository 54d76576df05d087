import type { Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { documentRoutes, type OpenApiDocument, openApiDocument, serve, webApplication } from '@vault-and-tracker/rest'
import { readVersion } from '@vault-and-tracker/service-kit/config/env'
import { healthRoutes } from '@vault-and-tracker/service-kit/http/health'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import express, { type Express } from 'express'
import { administratorsOnly, administratorsOnlyOnError } from './admin/admin.guard.ts'
import { administratorEndpoints } from './admin/administrators.routes.ts'
import { auditEndpoints } from './audit/audit.routes.ts'
import { changeEndpoints } from './changes/changes.routes.ts'
import type { Context, UseCases } from './context.ts'
import { apiError, ERRORS } from './errors.ts'
import { exchangeEndpoints } from './exchange/exchanges.routes.ts'
import { trustRuleEndpoints } from './exchange/trust-rules.routes.ts'
import { expiryEndpoints } from './expiry/expiry.routes.ts'
import { administratorsTakeTurns } from './http/admin-reads.ts'
import { createErrorAnswer, errorBodySchema } from './http/errors.middleware.ts'
import { plainFramingOnly, standardHeaders, unknownPath } from './http/headers.middleware.ts'
import { createVaultServer } from './http/server.ts'
import { codesOf, type VaultEndpoint, type VaultSurface } from './http/surface.ts'
import { inheritanceEndpoints } from './inheritance/inheritance.routes.ts'
import { overviewEndpoints } from './overview/overview.routes.ts'
import { projectEndpoints } from './projects/projects.routes.ts'
import { referenceRuleEndpoints } from './references/reference-rules.routes.ts'
import { secretEndpoints } from './secrets/secrets.routes.ts'
import { secretAdminEndpoints } from './secrets/secrets-administration.routes.ts'
import { sessionEndpoints } from './sign-in/sessions.routes.ts'
import { webhookEndpoints } from './webhooks/webhooks.routes.ts'

/** Every endpoint of the REST surface. */
export const ENDPOINTS: readonly VaultEndpoint<UseCases>[] = [
  // Before the path of a secret, which it matches.
  ...changeEndpoints,
  ...secretEndpoints,
  ...exchangeEndpoints,
  ...projectEndpoints,
  ...trustRuleEndpoints,
  ...referenceRuleEndpoints,
  ...webhookEndpoints,
  ...secretAdminEndpoints,
  ...inheritanceEndpoints,
  ...expiryEndpoints,
  ...auditEndpoints,
  ...administratorEndpoints,
  ...sessionEndpoints,
  ...overviewEndpoints,
]

/** In addition to the header `Signature`, which is the security scheme in OpenAPI. */
const SIGNATURE_HEADERS = [
  { name: 'Signature-Input', description: 'The signed components, the time and the nonce (RFC 9421).' },
  { name: 'Signature-Agent', description: 'The project, and the public key that verifies the signature.' },
] as const

/** Returns the OpenAPI document of the vault. */
export function describeApi(): OpenApiDocument {
  return openApiDocument<VaultSurface>(ENDPOINTS, {
    title: 'Secrets vault',
    version: readVersion(new URL('../package.json', import.meta.url)),
    description: 'Unsupported methods return 405 method_not_allowed, unknown paths 404 not_found.',
    tags: {
      secrets: 'The secrets of a project, for applications with signed requests.',
      webhooks: 'The public key that verifies webhooks.',
      administration: 'Projects, secrets and the audit log, for administrators.',
    },
    securitySchemes: {
      admin: {
        type: 'http',
        scheme: 'bearer',
        description:
          'ADMIN_TOKEN, or the token of a named administrator. Pages of the vault send the cookie of a session instead.',
      },
      signature: {
        type: 'apiKey',
        in: 'header',
        name: 'Signature',
        description:
          'HTTP Message Signatures (RFC 9421) with Ed25519, together with Signature-Input and Signature-Agent.',
      },
    },
    // An ID token is in the body, which OpenAPI does not count as a security scheme.
    security: ({ access }) => (access === 'idToken' || access === 'anyone' ? [] : [{ [access]: [] }]),
    errors: ERRORS,
    errorBody: errorBodySchema,
    codesOf,
    headersOf: ({ access }) => (access === 'signature' ? SIGNATURE_HEADERS : []),
  })
}

/** The built web application; the path is valid from `src` and from `dist`. */
const WEB_FOLDER = fileURLToPath(new URL('../web/dist', import.meta.url))
/** The first path segments of the console's pages. */
const WEB_PAGES = ['projects', 'expiring', 'administrators', 'audit'] as const

type Options = { readonly logger: Logger; readonly stopping: AbortSignal }

/**
 * Creates the HTTP server of the vault, which does not listen yet.
 *
 * @param options `stopping` aborts when the service has to stop: then `/ready` returns 503, and no client waits any
 *   more
 */
export function createHttpServer(context: Context, options: Options): Server {
  return createVaultServer(createApp(context, options))
}

/** Creates the app. No response may be cached, and paths are taken literally. */
export function createApp(context: Context, { logger, stopping }: Options): Express {
  const { useCases, rest, metrics, checks } = context
  stopping.addEventListener('abort', () => useCases.changes.stop(), { once: true })
  const app = express()
  app.disable('x-powered-by')
  // An ETag would be a hash of secrets.
  app.disable('etag')
  app.disable('query parser')
  app.enable('case sensitive routing')
  app.enable('strict routing')

  app.use(standardHeaders, metrics.middleware, plainFramingOnly)
  app.use('/v1', rest.ownAuthoritiesOnly)
  app.use(serve(administratorsTakeTurns(ENDPOINTS), useCases, rest.serving))
  if (rest.signIn !== undefined) app.use(rest.signIn)
  app.use('/v1/admin', administratorsOnly(rest.administrator), administratorsOnlyOnError(rest.administrator))
  const methodNotAllowed = () => apiError('method_not_allowed')
  app.use(healthRoutes({ checks, stopping, logger, metrics: metrics.handler, methodNotAllowed }))
  app.use(documentRoutes(describeApi, { methodNotAllowed }))
  app.all('/', ({ method }, response) => {
    response.setHeader('Allow', 'GET, HEAD')
    if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed()
    response.status(302).set('Location', '/console').end()
  })
  app.use('/console', webApplication({ folder: WEB_FOLDER, pages: WEB_PAGES, onMissing: (text) => logger.warn(text) }))
  app.use(unknownPath)
  app.use(rest.noteRefusals, createErrorAnswer(logger))
  return app
}
