import type { IncomingMessage } from 'node:http'
import { type InputProblem, readQuery, type Serving } from '@vault-and-tracker/rest'
import { clientAddress } from '@vault-and-tracker/service-kit/http/client-address'
import { createRateLimit, type RateLimit } from '@vault-and-tracker/service-kit/http/rate-limit'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import {
  createAdministratorGuard,
  createIdentifyAdministrator,
  type IdentifyAdministrator,
} from '../admin/admin.guard.ts'
import { bearerToken, createTokenCheck } from '../admin/admin-token.ts'
import type { Administrators } from '../admin/administrators.ts'
import { noteRefusals } from '../audit/refusals.middleware.ts'
import type { Refusals } from '../audit/refusals.ts'
import { apiError, ERRORS, isApiError } from '../errors.ts'
import { ownAuthoritiesOnly } from '../http/authorities.middleware.ts'
import { createAuthorities } from '../http/authorities.ts'
import { parseJsonBody, readBody } from '../http/input.ts'
import type { VaultSurface } from '../http/surface.ts'
import { createAuthenticationMetrics } from '../limits/authentication.metrics.ts'
import { type CountedLimit, createFailureGuard } from '../limits/failure-limit.guard.ts'
import { createFailureLimit } from '../limits/failure-limit.ts'
import { type Answers, createSignatureGuard, receivedMessage } from '../signed-requests/signed-requests.guard.ts'
import { claimedProject, type SignedRequests } from '../signed-requests/signed-requests.ts'
import type { Connections } from './connections.ts'

/** An address is blocked when so many of its projects have as many failures as each may have. */
const PROJECTS_PER_ADDRESS = 10

/** The REST surface: how requests are guarded and read. */
export type Rest = {
  readonly serving: Serving<VaultSurface>
  /** Lets administrators in, also below paths that name nothing. */
  readonly administrator: IdentifyAdministrator
  /** Comes before everything that a caller may prove. */
  readonly ownAuthoritiesOnly: RequestHandler
  /** Notes requests that were refused. */
  readonly noteRefusals: ErrorRequestHandler
}

/** Joins limits, the admin token and signatures into the guards of the REST surface. */
export function createRest(
  { config, logger, clock, redis, metrics, unread }: Connections,
  signedRequests: SignedRequests,
  { refusals, administrators }: { refusals: Refusals; administrators: Administrators },
): Rest {
  const { proxies } = config
  const authentication = createAuthenticationMetrics(metrics.registry)

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
  const failureLimit = (name: string, limit: number, windowMs: number): CountedLimit => ({
    limit: createFailureLimit({
      limit,
      windowMs,
      clock,
      onBlocked: (client) => {
        const [address, project] = client.split(' ')
        logger.warn({ address, project, limit: name }, 'too many failures: address blocked')
      },
    }),
    countShared: rateLimit(name, limit, windowMs),
  })
  const isFailure = (error: unknown): boolean => {
    if (!isApiError(error) || ERRORS[error.code].status !== 401) return false
    authentication.failed(error.code)
    return true
  }

  const administrator = createIdentifyAdministrator({
    isToken: createTokenCheck([config.ADMIN_TOKEN, config.ADMIN_TOKEN_PREVIOUS ?? config.ADMIN_TOKEN]),
    findByToken: administrators.findByToken,
    limitFailures: createFailureGuard({
      perAddress: failureLimit('admin-failures', config.ADMIN_FAILURE_LIMIT, 300_000),
      proxies,
      isFailure: (error, request) => isFailure(error) && hasToken(request),
    }),
    addressOf: (request) => clientAddress(request, proxies),
  })
  const maxUnread = config.MAX_UNREAD_BYTES === 0 ? Infinity : config.MAX_UNREAD_BYTES
  const answers: Answers = {
    hasRoom: (projectUid) => unread.overdueBytesOf(projectUid) <= maxUnread,
    own: (response, projectUid) => unread.own(response, projectUid),
  }
  const fetchLimit = rateLimit('fetch', config.FETCH_RATE_LIMIT, 60_000)
  const limitWrite = rateLimit('write', config.WRITE_RATE_LIMIT, 60_000)
  // A leaked key can be revoked while Redis is unavailable.
  const limitAdministrator = rateLimit('admin-write', config.WRITE_RATE_LIMIT, 60_000, 'allow')

  return {
    administrator,
    ownAuthoritiesOnly: ownAuthoritiesOnly(createAuthorities(config.PUBLIC_URL), proxies),
    noteRefusals: noteRefusals(refusals, proxies),
    serving: {
      ...READING,
      guards: {
        admin: createAdministratorGuard(administrator, limitAdministrator),
        signature: createSignatureGuard({ signedRequests, proxies, fetchLimit, answers, limitWrite }),
      },
      // Around the handler too: the statement of a fetch may find that the key has ended since the signature was verified.
      around: {
        signature: createFailureGuard({
          perAddress: failureLimit(
            'address-signature-failures',
            config.SIGNATURE_FAILURE_LIMIT * PROJECTS_PER_ADDRESS,
            60_000,
          ),
          perProject: {
            ...failureLimit('signature-failures', config.SIGNATURE_FAILURE_LIMIT, 60_000),
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

/** A request without a token is not counted: a probe must not block the administrators behind its address. */
function hasToken(request: IncomingMessage): boolean {
  return bearerToken(request.headers.authorization) !== undefined
}

/** How the vault reads requests. HEAD is refused: it would read secrets under a signature made for GET. */
const READING: Omit<Serving<VaultSurface>, 'guards'> = {
  readQuery: (request, names) => readQuery(request.originalUrl, names, malformed),
  readBody: async (_endpoint, request) => ({
    body: parseJsonBody(request, await readBody(request)),
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
