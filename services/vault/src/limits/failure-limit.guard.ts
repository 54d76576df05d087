import type { Around } from '@vault-and-tracker/rest'
import { boundedMap } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { addressKey, clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { RateLimit } from '@vault-and-tracker/service-kit/http/rate-limit'
import type { Request, Response } from 'express'
import { apiError, isApiError } from '../errors.ts'

/** Limits the failures of each client, which is an address, or a project at an address. */
export type FailureLimit = ReturnType<typeof createFailureLimit>

const MAX_CLIENTS = 50_000

/**
 * Limits failures per window for each client. Only failures are counted in Redis, so requests that succeed cost
 * nothing. Each process also counts its own, which enforces the limit while Redis is unavailable: a failure that cannot
 * be counted is a 503, which does not reveal the kind of failure.
 *
 * @param options `limit` failures per `windowMs`, 0 for no limit; `countShared` counts the failures at all replicas;
 *   `onBlocked` is called once when a client is blocked
 */
export function createFailureLimit(options: {
  limit: number
  windowMs: number
  clock: Clock
  countShared: RateLimit
  onBlocked: (client: string) => void
}) {
  const { limit, windowMs, clock, countShared, onBlocked } = options
  const failures = boundedMap<string, { seen: number; until: number }>(MAX_CLIENTS)

  function current(client: string) {
    const known = failures.get(client)
    if (known !== undefined && known.until > clock.now()) return known
    const added = { seen: 0, until: clock.now() + windowMs }
    failures.set(client, added)
    return added
  }

  /** Seconds until the client may try again, for `Retry-After`; 0 if it may now. */
  function retryAfter(client: string): number {
    const known = failures.peek(client)
    if (limit === 0 || known === undefined || known.seen <= limit) return 0
    return Math.max(0, Math.ceil((known.until - clock.now()) / 1000))
  }

  return {
    retryAfter,

    /** Whether this process counted a failure in the client's last window, or in one that began during it. */
    hasFailed: (client: string): boolean => (failures.peek(client)?.until ?? 0) + windowMs > clock.now(),

    /** @throws ApiError rate_limited while the client is blocked; costs no round trip */
    assertAllowed: (client: string): void => {
      if (retryAfter(client) > 0) throw apiError('rate_limited')
    },

    /** Counts a failure. @throws ApiError rate_limited, or the error of `countShared` */
    count: async (client: string, request: Request, response: Response): Promise<void> => {
      if (limit === 0) return
      const own = current(client)
      own.seen++
      if (own.seen === limit + 1) onBlocked(client)
      if (own.seen > limit) throw apiError('rate_limited')
      try {
        await countShared(client, request, response)
      } catch (error) {
        // Together with the failures at other replicas it is over the limit, so it is blocked here too.
        if (isApiError(error) && error.code === 'rate_limited' && own.seen <= limit) {
          own.seen = limit + 1
          onBlocked(client)
        }
        throw error
      }
    },
  }
}

/** A limit for each project at an address, so that one project with a revoked key does not block the others there. */
export type ProjectLimit = {
  readonly limit: FailureLimit
  /** The project that a request names, which is not proven. */
  readonly projectOf: (request: Request) => string | undefined
  /** Failures of unknown projects share one count per address, because names are unbounded. */
  readonly isProject: (name: string) => Promise<boolean>
}

/**
 * Refuses requests of blocked clients, and counts failures around guard and handler. Every failure counts for its address,
 * except requests that the limit of a project refuses.
 */
export function createFailureGuard(deps: {
  perAddress: FailureLimit
  perProject?: ProjectLimit
  proxies: TrustedProxies
  isFailure: (error: unknown, request: Request) => boolean
}): Around {
  const { perAddress, perProject, proxies, isFailure } = deps

  /** Failures of a project count for its address too, so the request is parsed only if the address has some. */
  const blockable = (address: string, request: Request): string | undefined =>
    perAddress.hasFailed(address) ? perProject?.projectOf(request) : undefined

  async function countFailure(address: string, request: Request, response: Response): Promise<void> {
    await perAddress.count(address, request, response)
    if (perProject === undefined) return
    const project = perProject.projectOf(request)
    const isKnown = project !== undefined && (await perProject.isProject(project))
    await perProject.limit.count(clientOf(address, isKnown ? project : NO_PROJECT), request, response)
  }

  return async (request, response, work) => {
    const address = addressKey(clientAddress(request, proxies))
    try {
      perAddress.assertAllowed(address)
      const project = blockable(address, request)
      if (project !== undefined) perProject?.limit.assertAllowed(clientOf(address, project))
      return await work()
    } catch (error) {
      if (isFailure(error, request)) await countFailure(address, request, response)
      throw error
    } finally {
      const project = blockable(address, request)
      const ofProject = project === undefined ? 0 : (perProject?.limit.retryAfter(clientOf(address, project)) ?? 0)
      const seconds = Math.max(perAddress.retryAfter(address), ofProject)
      if (seconds > 0 && !response.headersSent) response.setHeader('Retry-After', String(seconds))
    }
  }
}

/** Represents all unknown projects. */
const NO_PROJECT = '-'

/** Addresses and names of projects have no spaces. */
const clientOf = (address: string, project: string): string => `${address} ${project}`
