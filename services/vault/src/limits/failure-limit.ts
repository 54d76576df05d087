import { boundedMap } from '@vault-and-tracker/service-kit/cache'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { apiError, isApiError } from '../errors.ts'

/** Blocks an address that failed too often. */
export type FailureLimit = {
  /**
   * Looks into a map; no round trip.
   *
   * @throws ApiError rate_limited while the address is blocked
   */
  assertAllowed(address: string): void
  /** Seconds until the address may try again, for `Retry-After`; 0 when it may now. */
  retryAfter(address: string): number
  /**
   * Counts a failure.
   *
   * @param countShared counts it for all replicas and fails with rate_limited when they have seen too many
   * @throws ApiError rate_limited, or whatever `countShared` fails with
   */
  count(address: string, countShared: () => Promise<void>): Promise<void>
}

type Failures = { seen: number; until: number }

const MAX_ADDRESSES = 50_000

/**
 * A limit on failures per address and window. Redis is asked only about failures, so requests that succeed cost
 * nothing. Each process also counts by itself, which holds the limit while Redis is unavailable: the failing request is then
 * answered 503, and the address is blocked as soon as it reached the limit in this process.
 *
 * @param options `limit` failures per `windowMs`, 0 for no limit; `onBlocked` is called once when an address is blocked
 */
export function createFailureLimit(options: {
  limit: number
  windowMs: number
  clock: Clock
  onBlocked: (address: string) => void
}): FailureLimit {
  const { limit, windowMs, clock, onBlocked } = options
  const failures = boundedMap<string, Failures>(MAX_ADDRESSES)

  function current(address: string): Failures {
    const known = failures.get(address)
    if (known !== undefined && known.until > clock.now()) return known
    const begun = { seen: 0, until: clock.now() + windowMs }
    failures.set(address, begun)
    return begun
  }

  function retryAfter(address: string): number {
    const known = failures.peek(address)
    if (limit === 0 || known === undefined || known.seen <= limit) return 0
    return Math.max(0, Math.ceil((known.until - clock.now()) / 1000))
  }

  return {
    retryAfter,
    assertAllowed: (address) => {
      if (retryAfter(address) > 0) throw apiError('rate_limited')
    },
    count: async (address, countShared) => {
      if (limit === 0) return
      const here = current(address)
      here.seen++
      if (here.seen === limit + 1) onBlocked(address)
      if (here.seen > limit) throw apiError('rate_limited')
      try {
        await countShared()
      } catch (error) {
        // Counted with the other replicas it is over the limit: block it here too.
        if (isApiError(error) && error.code === 'rate_limited' && here.seen <= limit) {
          here.seen = limit + 1
          onBlocked(address)
        }
        throw error
      }
    },
  }
}
