import type { AdminLog } from '../admin-log/admin-log.ts'
import { createLeadership } from '../leadership/leadership.redis.ts'
import { createRedisFunctions } from '../redis/functions.redis.ts'
import { createTorznabBlocks } from '../torznab/blocks.ts'
import { createTorznabLimits } from '../torznab/ladder.redis.ts'
import { createRequestLogMetrics } from '../torznab/request-log.metrics.ts'
import { createRequestLogStore } from '../torznab/request-log.store.ts'
import { createRequestLog } from '../torznab/request-log.ts'
import { createRequestListStore } from '../torznab/request-log-lists.store.ts'
import { createRequestLists } from '../torznab/request-log-lists.ts'
import { createTorznabSettingsStore } from '../torznab/settings.store.ts'
import { createTorznabSettings } from '../torznab/settings.ts'
import { createStatisticsStore } from '../torznab/statistics.store.ts'
import { createTorznabStatistics } from '../torznab/statistics.ts'
import { createTorznabUsage } from '../torznab/usage.ts'
import type { AccountUseCases } from './accounts.ts'
import type { Connections } from './connections.ts'

/** How long a request is missing from the log and the statistics. */
const WRITE_EVERY_MS = 500
const PRUNE_EVERY_MS = 600_000

export type TorznabAdmin = ReturnType<typeof createTorznabAdmin>

/** Joins what administrators set and see of the Torznab API: settings, request log, statistics. */
export function createTorznabAdmin(
  connections: Connections,
  { accounts, adminLog }: Pick<AccountUseCases, 'accounts'> & { adminLog: AdminLog },
) {
  const { config, db, redis, invalidations, metrics, logger, clock, resources, background } = connections
  const settings = createTorznabSettings({
    store: createTorznabSettingsStore(db),
    publish: invalidations.publish,
    clock,
  })
  invalidations.addCache({ onChange: (change) => settings.forget(change), onMissed: () => settings.revalidateAll() })
  const onError = (error: unknown): void => logger.warn({ err: error }, 'could not write the Torznab request log')
  const log = createRequestLog({
    store: createRequestLogStore(db, { requests: config.TORZNAB_LOG_REQUESTS, bytes: config.TORZNAB_LOG_BYTES }),
    settings: () => settings.current(),
    counters: createRequestLogMetrics(metrics.registry),
    clock,
    keepDays: config.TORZNAB_LOG_DAYS,
    onError,
  })
  resources.defer(() => log.close())
  background.add({
    everyMs: WRITE_EVERY_MS,
    task: () => log.flush(),
    onError,
  })
  const leadership = createLeadership(redis, 'torznab-log')
  resources.defer(() => leadership.release())
  background.add({
    everyMs: PRUNE_EVERY_MS,
    task: async () => {
      if (await leadership.acquire()) await log.prune()
    },
    onError: (error) => logger.warn({ err: error }, 'could not prune the Torznab request log; it is retried'),
  })
  const limits = createTorznabLimits({ redis, functions: createRedisFunctions(redis, 'torznab'), clock })
  return {
    useCases: {
      torznabConfiguration: settings,
      torznabStatistics: createTorznabStatistics({ store: createStatisticsStore(db), clock }),
      torznabLists: createRequestLists({ store: createRequestListStore(db), findUserId: accounts.findId }),
      torznabBlocks: createTorznabBlocks({ blocks: limits, adminLog, clock }),
      torznabUsage: createTorznabUsage({ settings: () => settings.current(), limits, clock }),
    },
    settings,
    limits,
    log,
  }
}
