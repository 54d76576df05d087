import { createOverviewMetrics } from '../overview/overview.metrics.ts'
import { createOverviewStore } from '../overview/overview.store.ts'
import { createOverview } from '../overview/overview.ts'
import type { SwarmStatistics } from '../swarm-statistics/swarm-statistics.ts'
import type { TorznabStatistics } from '../torznab/statistics.ts'
import type { TorznabUsage } from '../torznab/usage.ts'
import type { Connections } from './connections.ts'
import { createLeadingTasks } from './leading-tasks.ts'

export type StaffOverview = ReturnType<typeof createStaffOverview>

/** A leader renews its lease twice per term. */
const LEAD_EVERY_MS = 5_000
/** Counting takes a tenth of a second with a million torrents. */
const COUNT_EVERY_MS = 30_000

/** Creates the overview for staff. One process also exports it in its metrics. */
export function createStaffOverview(
  connections: Connections,
  parts: { swarmStatistics: SwarmStatistics; torznabUsage: TorznabUsage; torznabStatistics: TorznabStatistics },
) {
  const { db, clock, metrics } = connections
  const overview = createOverview({
    store: createOverviewStore(db),
    swarms: () => parts.swarmStatistics.now(),
    blockedAddresses: () => parts.torznabUsage.countBlocks(),
    torznabLastDay: async () => {
      const { requests, errors } = (await parts.torznabStatistics.read({ range: '24h' })).totals
      return { requests, errors }
    },
    clock,
  })
  const gauges = createOverviewMetrics(metrics.registry)
  let countedAtMs = 0
  const clear = (): void => {
    countedAtMs = 0
    gauges.clear()
  }
  const show = async (): Promise<void> => {
    if (clock.now() - countedAtMs < COUNT_EVERY_MS) return
    gauges.show(await overview.figures())
    countedAtMs = clock.now()
  }
  const addAsLeader = createLeadingTasks(connections, 'overview')
  addAsLeader('overview for the metrics', LEAD_EVERY_MS, show, { otherwise: clear, onFailure: clear })
  return { overview }
}
