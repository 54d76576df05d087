import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { AddressBlocks, TorznabLimits } from './limits.ts'
import type { TorznabConfiguration } from './settings.ts'

export type TorznabUsage = ReturnType<typeof createTorznabUsage>

/** A member's requests in the current window and their limits. Reading them is not counted. */
export function createTorznabUsage(deps: {
  settings: Pick<TorznabConfiguration, 'current'>
  limits: TorznabLimits & AddressBlocks
  clock: Clock
}) {
  const { limits, clock } = deps
  return {
    /** @throws an error that `isUnavailable` recognises when Postgres or Redis is unavailable */
    async of(user: { readonly id: string; readonly apiBlocked: boolean }, address: string) {
      const { enabled, windowSeconds, searchLimit, downloadLimit } = await deps.settings.current()
      const windowMs = windowSeconds * 1_000
      const [usage, addressBlockedUntil] = await Promise.all([
        limits.usage(user.id, windowSeconds),
        limits.blockedUntil(address),
      ])
      return {
        enabled,
        blocked: user.apiBlocked,
        /** The end of the block of the request's address; undefined if it is not blocked. */
        addressBlockedUntil,
        windowSeconds,
        /** The end of the window. */
        resetsAt: new Date((Math.floor(clock.now() / windowMs) + 1) * windowMs),
        searches: { used: usage.searches, limit: searchLimit },
        downloads: { used: usage.downloads, limit: downloadLimit },
      }
    },
  }
}
