import type { Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { documentRoutes, type OpenApiDocument, openApiDocument, serve, webApplication } from '@vault-and-tracker/rest'
import { readVersion } from '@vault-and-tracker/service-kit/config/env'
import { healthRoutes } from '@vault-and-tracker/service-kit/http/health'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import express, { type Express } from 'express'
import { administratorsOnly, administratorsOnlyOnError } from './admin/admin.middleware.ts'
import { administratorEndpoints } from './admin/administrators.routes.ts'
import { auditEndpoints } from './audit/audit.routes.ts'
import { consoleEndpoints } from './console/console.routes.ts'
import type { Context, UseCases } from './context.ts'
import { apiError, ERRORS } from './errors.ts'
import { plainFramingOnly } from './http/authorities.middleware.ts'
import { errorBodySchema } from './http/error-body.ts'
import { createErrorAnswer } from './http/errors.middleware.ts'
import { standardHeaders, unknownPath } from './http/headers.middleware.ts'
import { createVaultServer } from './http/server.ts'
import { codesOf, type VaultEndpoint, type VaultSurface } from './http/surface.ts'
import { projectEndpoints } from './projects/projects.routes.ts'
import { secretAdminEndpoints, secretEndpoints } from './secrets/secrets.routes.ts'

/** Every endpoint of the REST surface. */
export const ENDPOINTS: readonly VaultEndpoint<UseCases>[] = [
  ...secretEndpoints,
  ...projectEndpoints,
  ...secretAdminEndpoints,
  ...auditEndpoints,
  ...administratorEndpoints,
  ...consoleEndpoints,
]

/** Beside the header `Signature`, which OpenAPI knows as the security scheme. */
const SIGNATURE_HEADERS = [
  { name: 'Signature-Input', description: 'what is signed, when, and the nonce (RFC 9421)' },
  { name: 'Signature-Agent', description: 'the project and the public key that verifies the signature' },
] as const

/** The OpenAPI document of the vault. */
export function describeApi(): OpenApiDocument {
  return openApiDocument<VaultSurface>(ENDPOINTS, {
    title: 'Secrets vault',
    version: readVersion(new URL('../package.json', import.meta.url)),
    description: 'Every path knows its methods: another one is 405 method_not_allowed, another path 404 not_found.',
    tags: {
      secrets: 'What applications do with the secrets of their own project, by signed requests',
      administration: 'What administrators do with projects, secrets and the audit log',
    },
    securitySchemes: {
      admin: { type: 'http', scheme: 'bearer', description: 'The admin token, or that of a named administrator' },
      signature: {
        type: 'apiKey',
        in: 'header',
        name: 'Signature',
        description: 'HTTP Message Signatures (RFC 9421) with Ed25519; Signature-Input and Signature-Agent go with it',
      },
    },
    security: (access) => [{ [access]: [] }],
    errors: ERRORS,
    errorBody: errorBodySchema,
    codesOf,
    headersOf: ({ access }) => (access === 'signature' ? SIGNATURE_HEADERS : []),
  })
}

/** What `pnpm build` makes of `web`; the same folder seen from the sources and from what was compiled. */
const WEB_FOLDER = fileURLToPath(new URL('../web/dist', import.meta.url))
/** The first parts of the console's addresses below `/console`. */
const WEB_PAGES = ['projects', 'administrators', 'audit'] as const

type Options = { readonly logger: Logger; readonly stopping: AbortSignal }

/**
 * The server that answers every request of the vault; it does not listen yet.
 *
 * @param options `stopping` aborts when the service was asked to stop; `/ready` is 503 from then on
 */
export function createHttpServer(context: Context, options: Options): Server {
  return createVaultServer(createApp(context, options))
}

/** The REST surface. No answer may be cached, and paths are taken literally. */
export function createApp(context: Context, { logger, stopping }: Options): Express {
  const { useCases, rest, metrics, checks } = context
  const app = express()
  app.disable('x-powered-by')
  // An ETag would be a hash of secrets.
  app.disable('etag')
  app.disable('query parser')
  app.enable('case sensitive routing')
  app.enable('strict routing')

  app.use(standardHeaders, metrics.middleware, plainFramingOnly)
  app.use('/v1', rest.ownAuthoritiesOnly)
  app.use(serve(ENDPOINTS, useCases, rest.serving))
  app.use('/v1/admin', administratorsOnly(rest.administrator), administratorsOnlyOnError(rest.administrator))
  const methodNotAllowed = () => apiError('method_not_allowed')
  app.use(healthRoutes({ checks, stopping, logger, metrics: metrics.handler, methodNotAllowed }))
  app.use(documentRoutes(describeApi(), { methodNotAllowed }))
  app.use('/console', webApplication({ folder: WEB_FOLDER, pages: WEB_PAGES, onMissing: (text) => logger.warn(text) }))
  app.use(unknownPath)
  app.use(rest.noteRefusals, createErrorAnswer(logger))
  return app
}
