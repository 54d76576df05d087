import type { RecordAddress } from '../addresses/addresses.ts'
import type { Lookups } from '../announce/lookups.ts'
import type { Config } from '../config.ts'
import { createRedisFunctions } from '../redis/functions.redis.ts'
import type { SiteConfiguration } from '../site-settings/site-settings.ts'
import { createAnswers } from '../torznab/answers.ts'
import { createTorznabLimits } from '../torznab/limits.redis.ts'
import { createRequestLists } from '../torznab/request-lists.store.ts'
import { createRequestLogMetrics } from '../torznab/request-log.metrics.ts'
import { createRequestLogStore } from '../torznab/request-log.store.ts'
import { createRequestLog } from '../torznab/request-log.ts'
import { createTorznabSettingsStore } from '../torznab/settings.store.ts'
import { createTorznabSettings } from '../torznab/settings.ts'
import { createStatisticsStore } from '../torznab/statistics.store.ts'
import { createTorznabStatistics } from '../torznab/statistics.ts'
import { torznabRoutes } from '../torznab/torznab.routes.ts'
import { createTorznab } from '../torznab/torznab.ts'
import { createTorznabUsage } from '../torznab/usage.ts'
import type { AccountUseCases } from './accounts.ts'
import type { Catalogue } from './catalogue.ts'
import type { Connections } from './connections.ts'
import { createLeadingTasks } from './leading-tasks.ts'
import type { TokenUseCases } from './tokens.ts'

/** The delay until a request appears in the log and the statistics. */
const WRITE_EVERY_MS = 500
const PRUNE_EVERY_MS = 600_000

export type TorznabPart = ReturnType<typeof createTorznabPart>

/** Joins the routes of the Torznab API and its administration. */
export function createTorznabPart(
  connections: Connections,
  parts: Catalogue &
    Pick<TokenUseCases, 'apiTokens'> &
    Pick<AccountUseCases, 'accounts'> & {
      readonly lookups: Lookups
      readonly site: SiteConfiguration
      readonly recordAddress: RecordAddress
    },
) {
  const { config, db, redis, invalidations, clock, logger } = connections
  const { search, torrents, adminLog } = parts.useCases
  const settings = createTorznabSettings({ store: createTorznabSettingsStore(db), invalidations, clock })
  const limits = createTorznabLimits({ redis, functions: createRedisFunctions(redis, 'torznab'), clock })
  const log = createLog(connections)
  const torznab = createTorznab({
    settings,
    lookups: parts.lookups,
    tokens: parts.apiTokens,
    accounts: parts.accounts,
    limits,
    answers: createAnswers({
      publicUrl: config.PUBLIC_URL,
      indexer: async () => {
        const { name, registration } = await parts.site.current()
        return {
          title: siteTitle(name, config),
          registration: { available: registration !== 'closed', open: registration === 'open' },
        }
      },
      catalogue: parts.catalogueCache,
      search,
      torrents,
      clock,
    }),
    onError: (error) => logger.error({ err: error }, 'Torznab request failed'),
  })
  return {
    useCases: {
      torznabConfiguration: settings,
      torznabStatistics: createTorznabStatistics({ store: createStatisticsStore(db), clock }),
      torznabLists: createRequestLists(db),
      torznabUsage: createTorznabUsage({ settings, limits, adminLog, clock }),
    },
    limits,
    routes: torznabRoutes({
      torznab,
      log,
      recordAddress: parts.recordAddress,
      proxies: config.proxies,
      errorStatus: config.TORZNAB_ERROR_STATUS,
    }),
  }
}

/** The name of the site in feeds. */
export function siteTitle(name: string | null | undefined, { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): string {
  return name ?? new URL(PUBLIC_URL).hostname
}

/** The request log with its background tasks. */
function createLog(connections: Connections) {
  const { config, db, metrics, logger, clock, resources, background } = connections
  const onError = (error: unknown): void => logger.warn({ err: error }, 'writing the Torznab request log failed')
  const log = createRequestLog({
    store: createRequestLogStore(
      db,
      { requests: config.TORZNAB_LOG_REQUESTS, bytes: config.TORZNAB_LOG_BYTES },
      config.ADDRESS_LOG_DAYS > 0,
    ),
    counters: createRequestLogMetrics(metrics.registry),
    clock,
    keepDays: config.TORZNAB_LOG_DAYS,
    onError,
  })
  resources.defer(() => log.close())
  background.add({ everyMs: WRITE_EVERY_MS, task: () => log.flush(), onError })
  const addAsLeader = createLeadingTasks(connections, 'torznab-log')
  addAsLeader('pruning of the Torznab request log', PRUNE_EVERY_MS, () => log.prune())
  return log
}
