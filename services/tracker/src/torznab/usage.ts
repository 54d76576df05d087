import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type AdminLog, actedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import type { AddressBlocks, TorznabLimits } from './limits.ts'
import type { TorznabConfiguration } from './settings.ts'

export type TorznabUsage = ReturnType<typeof createTorznabUsage>

/** The counts of the limits: members' own requests, and the blocked addresses. */
export function createTorznabUsage(deps: {
  settings: Pick<TorznabConfiguration, 'current'>
  limits: TorznabLimits & AddressBlocks
  adminLog: AdminLog
  clock: Clock
}) {
  const { limits, clock } = deps
  return {
    /**
     * A member's requests in the current window and their limits. Reading them is not counted.
     *
     * @throws an error that `isUnavailable` recognises when Postgres or Redis is unavailable
     */
    async of(user: { readonly id: string; readonly apiBlocked: boolean }, address: string) {
      const { enabled, windowSeconds, searchLimit, downloadLimit } = await deps.settings.current()
      const windowMs = windowSeconds * 1_000
      const [usage, blockedUntil] = await Promise.all([
        limits.usage(user.id, windowSeconds),
        limits.blockedUntil(address),
      ])
      return {
        enabled,
        blocked: user.apiBlocked,
        addressBlockedUntil: blockedUntil ?? null,
        windowSeconds,
        resetsAt: new Date((Math.floor(clock.now() / windowMs) + 1) * windowMs),
        searches: { used: usage.searches, limit: searchLimit },
        downloads: { used: usage.downloads, limit: downloadLimit },
      }
    },

    blocks: () => limits.list(),

    countBlocks: () => limits.count(),

    /**
     * Ends a block. Blocks are in Redis, so the admin log is written afterwards, not in the same transaction.
     *
     * @throws ApiError NOT_FOUND if the address is not blocked
     */
    async unblock(address: string, actorId: string): Promise<void> {
      if (!(await limits.lift(address))) throw apiError('NOT_FOUND', 'This address is not blocked.')
      await deps.adminLog.record({
        ...actedBy(clock, actorId),
        action: 'torznab.unblock',
        target: { type: 'address', id: address, name: null },
        before: { blocked: true },
        after: { blocked: false },
      })
    },
  }
}
