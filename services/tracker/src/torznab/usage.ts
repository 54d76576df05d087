import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { AddressBlocks, TorznabLimits } from './ladder.ts'
import type { TorznabSettings } from './settings.ts'

/** How many requests a limit allowed in the current window; `used` is above it where it was lowered meanwhile. */
type Meter = { readonly used: number; readonly limit: number }

/** What is left of the limits of a user. */
export type OwnUsage = {
  /** False where an administrator switched the API off for everybody. */
  readonly enabled: boolean
  /** Whether an administrator blocked this user from the API. */
  readonly blocked: boolean
  /** Until when the address that asks is blocked; null where it is not. */
  readonly addressBlockedUntil: Date | null
  readonly windowSeconds: number
  /** When the window ends and the next begins with nothing used. */
  readonly resetsAt: Date
  readonly searches: Meter
  readonly downloads: Meter
}

export type TorznabUsage = ReturnType<typeof createTorznabUsage>

/** The usage of a user's limits. Reading it counts nothing. */
export function createTorznabUsage(deps: {
  settings: () => Promise<TorznabSettings>
  limits: TorznabLimits & AddressBlocks
  clock: Clock
}) {
  const { limits, clock } = deps
  return {
    /** @throws what `isUnavailable` recognises when Postgres or Redis is unavailable */
    async of(user: { readonly id: string; readonly apiBlocked: boolean }, address: string): Promise<OwnUsage> {
      const { enabled, windowSeconds, searchLimit, downloadLimit } = await deps.settings()
      const windowMs = windowSeconds * 1_000
      const [usage, addressBlockedUntil] = await Promise.all([
        limits.usage(user.id, windowSeconds),
        limits.blockedUntil(address),
      ])
      return {
        enabled,
        blocked: user.apiBlocked,
        addressBlockedUntil: addressBlockedUntil ?? null,
        windowSeconds,
        resetsAt: new Date((Math.floor(clock.now() / windowMs) + 1) * windowMs),
        searches: { used: usage.searches, limit: searchLimit },
        downloads: { used: usage.downloads, limit: downloadLimit },
      }
    },
  }
}
