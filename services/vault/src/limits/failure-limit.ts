import { boundedMap } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { apiError, isApiError } from '../errors.ts'

/** Blocks a client that failed too often: an address, or a project behind an address. */
export type FailureLimit = {
  /**
   * Looks into a map; no round trip.
   *
   * @throws ApiError rate_limited while the client is blocked
   */
  assertAllowed(client: string): void
  /** Whether this process counted a failure in the client's last window, or in one that began during it. */
  hasFailed(client: string): boolean
  /** Seconds until the client may try again, for `Retry-After`; 0 when it may now. */
  retryAfter(client: string): number
  /**
   * Counts a failure.
   *
   * @param countShared counts it for all replicas and fails with rate_limited when they have seen too many
   * @throws ApiError rate_limited, or whatever `countShared` fails with
   */
  count(client: string, countShared: () => Promise<void>): Promise<void>
}

type Failures = { seen: number; until: number }

const MAX_CLIENTS = 50_000

/**
 * A limit on failures per client and window. Redis is asked only about failures, so requests that succeed cost
 * nothing. Each process also counts by itself, which holds the limit while Redis is unavailable: the failing request is then
 * answered 503, and the client is blocked as soon as it reached the limit in this process.
 *
 * @param options `limit` failures per `windowMs`, 0 for no limit; `onBlocked` is called once when a client is blocked
 */
export function createFailureLimit(options: {
  limit: number
  windowMs: number
  clock: Clock
  onBlocked: (client: string) => void
}): FailureLimit {
  const { limit, windowMs, clock, onBlocked } = options
  const failures = boundedMap<string, Failures>(MAX_CLIENTS)

  function current(client: string): Failures {
    const known = failures.get(client)
    if (known !== undefined && known.until > clock.now()) return known
    const begun = { seen: 0, until: clock.now() + windowMs }
    failures.set(client, begun)
    return begun
  }

  function retryAfter(client: string): number {
    const known = failures.peek(client)
    if (limit === 0 || known === undefined || known.seen <= limit) return 0
    return Math.max(0, Math.ceil((known.until - clock.now()) / 1000))
  }

  return {
    retryAfter,
    hasFailed: (client) => (failures.peek(client)?.until ?? 0) + windowMs > clock.now(),
    assertAllowed: (client) => {
      if (retryAfter(client) > 0) throw apiError('rate_limited')
    },
    count: async (client, countShared) => {
      if (limit === 0) return
      const here = current(client)
      here.seen++
      if (here.seen === limit + 1) onBlocked(client)
      if (here.seen > limit) throw apiError('rate_limited')
      try {
        await countShared()
      } catch (error) {
        // Counted with the other replicas it is over the limit: block it here too.
        if (isApiError(error) && error.code === 'rate_limited' && here.seen <= limit) {
          here.seen = limit + 1
          onBlocked(client)
        }
        throw error
      }
    },
  }
}
