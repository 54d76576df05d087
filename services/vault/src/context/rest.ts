import { type InputProblem, readQuery, type Serving } from '@vault-and-tracker/rest'
import { clientAddress } from '@vault-and-tracker/service-kit/http/client-address'
import { createRateLimit, type RateLimit } from '@vault-and-tracker/service-kit/http/rate-limit'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import {
  bearerToken,
  createAdministratorGuard,
  createIdentifyAdministrator,
  type IdentifyAdministrator,
} from '../admin/admin.guard.ts'
import type { Refusals } from '../audit/refusals.ts'
import { apiError, ERRORS, isApiError } from '../errors.ts'
import { createExchangeGuard } from '../exchange/exchanges.routes.ts'
import { ownAuthoritiesOnly } from '../http/authorities.ts'
import { createBrowsers } from '../http/browser.ts'
import { parseJsonBody, readBody } from '../http/input.ts'
import type { VaultSurface } from '../http/surface.ts'
import { createFailureGuard, createFailureLimit, type FailureLimit } from '../limits/failure-limit.guard.ts'
import { signInRoutes } from '../sign-in/sign-ins.routes.ts'
import { createSignatureGuard, receivedMessage } from '../signed-requests/signed-requests.guard.ts'
import { claimedProject, type SignedRequests } from '../signed-requests/signed-requests.ts'
import type { Connections } from './connections.ts'
import type { SignInParts } from './sign-in.ts'

/**
 * A machine with many watchers asks twice per minute and watcher, and more often while secrets change. Its limit is
 * separate, so that watchers never use up the fetches of programs that start.
 */
const CHANGES_PER_FETCH = 10

/** An address is blocked once this many of its projects have used up their failures. */
const PROJECTS_PER_ADDRESS = 10

/** How requests of the REST surface are guarded and read. */
export type Rest = {
  readonly serving: Serving<VaultSurface>
  /** The addresses that browsers visit to sign in, if a provider is configured. */
  readonly signIn: RequestHandler | undefined
  /** Also guards unknown paths of administrators. */
  readonly administrator: IdentifyAdministrator
  /** Runs before any authentication. */
  readonly ownAuthoritiesOnly: RequestHandler
  /** Records refused requests. */
  readonly noteRefusals: ErrorRequestHandler
}

/** Creates the guards of the REST surface from limits, admin tokens and signatures. */
export function createRest(
  { config, logger, clock, redis, metrics, unread }: Connections,
  signedRequests: SignedRequests,
  parts: SignInParts & { refusals: Refusals },
): Rest {
  const { refusals, tokens, sessions, signIns } = parts
  const { proxies } = config
  const browsers = createBrowsers(config.PUBLIC_URL, proxies)

  const rateLimit = (
    name: string,
    limit: number,
    windowMs: number,
    whenRedisIsUnavailable: 'allow' | 'refuse' = 'refuse',
  ): RateLimit =>
    createRateLimit({
      ...{ name: `vault-${name}`, limit, windowMs, whenRedisIsUnavailable },
      ...{ redis, logger, createError: () => apiError('rate_limited') },
    })
  const failureLimit = (name: string, limit: number, windowMs: number): FailureLimit =>
    createFailureLimit({
      ...{ limit, windowMs, clock },
      countShared: rateLimit(name, limit, windowMs),
      onBlocked: (client) => {
        const [address, project] = client.split(' ')
        logger.warn({ address, project, limit: name }, 'address blocked after too many failures')
      },
    })
  const isFailure = (error: unknown): boolean => {
    if (!isApiError(error) || ERRORS[error.code].status !== 401) return false
    metrics.authenticationFailed(error.code)
    return true
  }

  const adminFailures = failureLimit('admin-failures', config.ADMIN_FAILURE_LIMIT, 300_000)
  const administrator = createIdentifyAdministrator({
    tokens,
    findSession: sessions.find,
    browsers,
    limitFailures: createFailureGuard({
      perAddress: adminFailures,
      proxies,
      // A request without a token is not counted: probes must not block the administrators at their address.
      isFailure: (error, { headers }) => isFailure(error) && bearerToken(headers.authorization) !== undefined,
    }),
    proxies,
  })
  const readLimits = {
    fetch: rateLimit('fetch', config.FETCH_RATE_LIMIT, 60_000),
    changes: rateLimit('changes', config.FETCH_RATE_LIMIT * CHANGES_PER_FETCH, 60_000),
  }
  const limitWrite = rateLimit('write', config.WRITE_RATE_LIMIT, 60_000)
  // A leaked key can be revoked while Redis is unavailable.
  const limitAdministrator = rateLimit('admin-write', config.WRITE_RATE_LIMIT, 60_000, 'allow')
  const maxUnreadBytes = config.MAX_UNREAD_BYTES === 0 ? Infinity : config.MAX_UNREAD_BYTES

  return {
    administrator,
    signIn:
      signIns &&
      signInRoutes({
        ...{ signIns, browsers, proxies, refusals, logger },
        limit: rateLimit('sign-in', config.WRITE_RATE_LIMIT, 60_000),
        limitFailures: createFailureGuard({ perAddress: adminFailures, proxies, isFailure }),
      }),
    ownAuthoritiesOnly: ownAuthoritiesOnly(config.PUBLIC_URL, proxies),
    // Express recognises an error handler by its four parameters.
    noteRefusals: (error: unknown, request, _response, next) => {
      refusals.noteError(error, clientAddress(request, proxies))
      next(error)
    },
    serving: {
      ...READING,
      guards: {
        admin: createAdministratorGuard(administrator, limitAdministrator),
        anyone: (_endpoint, request) => {
          const hasSession = browsers.readCookie(request, 'session') !== undefined
          return Promise.resolve({ kind: 'visitor', hasSession })
        },
        idToken: createExchangeGuard(proxies),
        signature: createSignatureGuard({ signedRequests, proxies, readLimits, limitWrite, unread, maxUnreadBytes }),
      },
      // Around the handler too: its statement may find that the key expired after the signature was verified.
      around: {
        idToken: createFailureGuard({
          perAddress: failureLimit('exchange-failures', config.SIGNATURE_FAILURE_LIMIT, 60_000),
          proxies,
          isFailure,
        }),
        signature: createFailureGuard({
          perAddress: failureLimit(
            'address-signature-failures',
            config.SIGNATURE_FAILURE_LIMIT * PROJECTS_PER_ADDRESS,
            60_000,
          ),
          perProject: {
            limit: failureLimit('signature-failures', config.SIGNATURE_FAILURE_LIMIT, 60_000),
            projectOf: (request) => claimedProject(receivedMessage(request, proxies)),
            isProject: signedRequests.isProject,
          },
          proxies,
          isFailure,
        }),
      },
    },
  }
}

/** An ID token and a public key, before any of it is verified. */
const MAX_EXCHANGE_BYTES = 32 * 1024

/** Such as `environment` or `Env`: a misspelt parameter must not select the default environment. */
const MISSPELT_ENV = /[?&]env[^&]*=/i

/** How requests are read. HEAD is refused: it would read secrets with a signature of GET. */
const READING: Omit<Serving<VaultSurface>, 'guards'> = {
  readQuery: ({ originalUrl }, names) => {
    const query = readQuery(originalUrl, names, malformed)
    if (names.includes('env') && query['env'] === undefined && MISSPELT_ENV.test(originalUrl))
      throw malformed({ name: 'env', problem: 'a parameter has a similar name.' })
    return query
  },
  readBody: async ({ access }, request) => ({
    body: parseJsonBody(request, await readBody(request, access === 'idToken' ? MAX_EXCHANGE_BYTES : undefined)),
  }),
  malformed,
  notFound: () => apiError('not_found'),
  methodNotAllowed: () => apiError('method_not_allowed'),
  answersHead: false,
  guardsMethods: (access) => access === 'admin',
}

function malformed({ name, problem }: InputProblem): Error {
  return apiError('invalid_request', name === '' ? `The body ${problem}` : `${name}: ${problem}`)
}
