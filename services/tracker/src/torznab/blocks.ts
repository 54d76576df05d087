import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type AdminLog, actedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import type { AddressBlocks } from './limits.ts'

export type TorznabBlocks = ReturnType<typeof createTorznabBlocks>

/** Blocked addresses for administrators. */
export function createTorznabBlocks(deps: { blocks: AddressBlocks; adminLog: AdminLog; clock: Clock }) {
  const { blocks, adminLog, clock } = deps
  return {
    list: () => blocks.list(),

    count: () => blocks.count(),

    /**
     * Ends a block. Blocks are in Redis, so the admin log is written afterwards, not in the same transaction.
     *
     * @throws ApiError NOT_FOUND if the address is not blocked
     */
    async lift(address: string, actorId: string): Promise<void> {
      if (!(await blocks.lift(address))) throw apiError('NOT_FOUND', 'This address is not blocked.')
      await adminLog.record({
        ...actedBy(clock, actorId),
        action: 'torznab.unblock',
        target: { type: 'address', id: address, name: null },
        before: { blocked: true },
        after: { blocked: false },
      })
    },
  }
}
