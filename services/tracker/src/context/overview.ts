import { createOverviewStore } from '../overview/overview.store.ts'
import { createOverview } from '../overview/overview.ts'
import type { SwarmStatistics } from '../swarm-statistics/swarm-statistics.ts'
import type { TorznabBlocks } from '../torznab/blocks.ts'
import type { TorznabStatistics } from '../torznab/statistics.ts'
import type { Connections } from './connections.ts'

export type StaffOverview = ReturnType<typeof createStaffOverview>

/** Joins what staff look at first: numbers that the parts have anyway. */
export function createStaffOverview(
  { db, clock }: Connections,
  parts: { swarmStatistics: SwarmStatistics; torznabBlocks: TorznabBlocks; torznabStatistics: TorznabStatistics },
) {
  return {
    overview: createOverview({
      store: createOverviewStore(db),
      swarms: () => parts.swarmStatistics.now(),
      blockedAddresses: () => parts.torznabBlocks.count(),
      torznabLastDay: async () => {
        const { requests, errors } = (await parts.torznabStatistics.read({ range: '24h' })).totals
        return { requests, errors }
      },
      clock,
    }),
  }
}
