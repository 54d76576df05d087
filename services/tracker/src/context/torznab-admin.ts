import { repeat } from '@vault-and-tracker/service-kit/repeat'
import type { AdminLog } from '../admin-log/admin-log.ts'
import { createLeadership } from '../background/background.ts'
import { createRedisFunctions } from '../swarm/functions.redis.ts'
import { createTorznabBlocks } from '../torznab/blocks.ts'
import { createTorznabLimits } from '../torznab/ladder.redis.ts'
import { createRequestLogMetrics } from '../torznab/request-log.metrics.ts'
import { createRequestLogStore } from '../torznab/request-log.store.ts'
import { createRequestLog } from '../torznab/request-log.ts'
import { createRequestLists } from '../torznab/request-log-lists.store.ts'
import { createTorznabSettingsStore } from '../torznab/settings.store.ts'
import { createTorznabSettings } from '../torznab/settings.ts'
import { createStatisticsStore } from '../torznab/statistics.store.ts'
import { createTorznabStatistics } from '../torznab/statistics.ts'
import { createTorznabUsage } from '../torznab/usage.ts'
import type { Connections } from './connections.ts'

const PRUNE_EVERY_MS = 600_000

export type TorznabAdmin = ReturnType<typeof createTorznabAdmin>

/** Joins what administrators set and see of the Torznab API: settings, request log, statistics. */
export function createTorznabAdmin(connections: Connections, adminLog: AdminLog) {
  const { config, db, redis, invalidations, metrics, logger, clock, resources } = connections
  const settings = createTorznabSettings({
    store: createTorznabSettingsStore(db),
    publish: invalidations.publish,
    clock,
  })
  invalidations.addCache({ onChange: (change) => settings.forget(change), onMissed: () => settings.revalidateAll() })
  const log = createRequestLog({
    store: createRequestLogStore(db),
    settings: () => settings.current(),
    counters: createRequestLogMetrics(metrics.registry),
    clock,
    keepDays: config.TORZNAB_LOG_DAYS,
    onError: (error) => logger.warn({ err: error }, 'could not write the Torznab request log'),
  })
  resources.defer(() => log.close())
  const leadership = createLeadership(createRedisFunctions(redis, 'background'), 'torznab-log')
  const pruning = repeat({
    everyMs: PRUNE_EVERY_MS,
    task: async () => {
      if (await leadership.acquire()) await log.prune()
    },
    onError: (error) => logger.warn({ err: error }, 'could not prune the Torznab request log; it is retried'),
  })
  resources.defer(() => leadership.release())
  resources.defer(() => pruning.stop())
  const limits = createTorznabLimits({ redis, functions: createRedisFunctions(redis, 'torznab'), clock })
  return {
    useCases: {
      torznabConfiguration: settings,
      torznabStatistics: createTorznabStatistics({ store: createStatisticsStore(db), clock }),
      torznabLists: createRequestLists(db),
      torznabBlocks: createTorznabBlocks({ blocks: limits, adminLog, clock }),
      torznabUsage: createTorznabUsage({ settings: () => settings.current(), limits, clock }),
    },
    settings,
    limits,
    log,
  }
}
