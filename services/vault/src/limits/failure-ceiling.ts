import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { apiError, isApiError } from '../errors.ts'

/** Closes the door for an address that failed too often. */
export type FailureCeiling = {
  /**
   * Costs a look into a map, no round trip.
   *
   * @throws rate_limited while the address is shut out
   */
  assertOpen(address: string): void
  /** Seconds until the address may try again, for `Retry-After`; 0 when it may now. */
  retryAfter(address: string): number
  /**
   * Counts a failure.
   *
   * @param countShared counts it for all replicas and fails with rate_limited when they have seen too many
   * @throws rate_limited, or whatever `countShared` fails with
   */
  count(address: string, countShared: () => Promise<void>): Promise<void>
}

type Failures = { seen: number; until: number }

const MAX_ADDRESSES = 50_000

/**
 * A ceiling on failures per address and window. Nothing is asked of Redis until something fails, so what succeeds
 * pays nothing. Each process also counts by itself, which holds the ceiling when Redis is away: the failing request is
 * answered 503 then, and the address is shut out all the same once it has had its number here.
 *
 * @param options `limit` failures per `windowMs`, 0 for no ceiling; `onShut` is told once when an address is shut out
 */
export function createFailureCeiling(options: {
  limit: number
  windowMs: number
  clock: Clock
  onShut: (address: string) => void
}): FailureCeiling {
  const { limit, windowMs, clock, onShut } = options
  const failures = new Map<string, Failures>()

  function current(address: string): Failures {
    const known = failures.get(address)
    if (known !== undefined && known.until > clock.now()) return known
    const begun = { seen: 0, until: clock.now() + windowMs }
    failures.delete(address)
    failures.set(address, begun)
    if (failures.size > MAX_ADDRESSES) failures.delete(failures.keys().next().value ?? '')
    return begun
  }

  function retryAfter(address: string): number {
    const known = failures.get(address)
    if (limit === 0 || known === undefined || known.seen <= limit) return 0
    return Math.max(0, Math.ceil((known.until - clock.now()) / 1000))
  }

  return {
    retryAfter,
    assertOpen: (address) => {
      if (retryAfter(address) > 0) throw apiError('rate_limited')
    },
    count: async (address, countShared) => {
      if (limit === 0) return
      const here = current(address)
      here.seen++
      if (here.seen === limit + 1) onShut(address)
      if (here.seen > limit) throw apiError('rate_limited')
      try {
        await countShared()
      } catch (error) {
        // The other replicas have seen the rest: shut the door here too.
        if (isApiError(error) && error.code === 'rate_limited' && here.seen <= limit) {
          here.seen = limit + 1
          onShut(address)
        }
        throw error
      }
    },
  }
}
