import { clientAddress, trustedProxies } from '@vault-and-tracker/service-kit/client-address'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import type { Redis } from 'ioredis'
import type { Categories } from '../categories/categories.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/schema.ts'
import type { Search } from '../search/search.ts'
import type { SiteSettings } from '../site-settings/site-settings.ts'
import { createRedisFunctions } from '../swarm/functions.redis.ts'
import type { Torrents } from '../torrents/torrents.ts'
import { createCallerStore } from '../torznab/callers.store.ts'
import { createCallers } from '../torznab/callers.ts'
import { createTorznabLimits } from '../torznab/ladder.redis.ts'
import { createTorznabSettingsStore } from '../torznab/settings.store.ts'
import { createTorznabSettings } from '../torznab/settings.ts'
import { torznabRoutes } from '../torznab/torznab.routes.ts'
import { createTorznab, type OnAnswered } from '../torznab/torznab.ts'
import type { Invalidations } from './invalidations.ts'

/** Joins the Torznab API: its routes, and what administrators do with it. */
export function createTorznabApi(options: {
  config: Config
  db: Db
  redis: Redis
  invalidations: Invalidations
  logger: Logger
  clock: Clock
  useCases: { categories: Categories; torrents: Torrents; siteSettings: SiteSettings; search: Search }
  onAnswered: OnAnswered
}) {
  const { config, db, redis, invalidations, logger, clock, useCases, onAnswered } = options
  const settings = createTorznabSettings({
    store: createTorznabSettingsStore(db),
    publish: invalidations.publish,
    clock,
  })
  const callers = createCallers({ store: createCallerStore(db), clock })
  for (const cache of [settings, callers])
    invalidations.addCache({
      onChange: (change) => cache.forget(change),
      onMissed: () => cache.revalidateAll(),
    })
  const limits = createTorznabLimits({ redis, functions: createRedisFunctions(redis, 'torznab'), clock })
  const torznab = createTorznab({
    ...useCases,
    site: {
      publicUrl: config.PUBLIC_URL,
      title: new URL(config.PUBLIC_URL).hostname,
      registration: { available: config.REGISTRATION !== 'closed', open: config.REGISTRATION === 'open' },
    },
    settings: () => settings.current(),
    callers,
    limits,
    siteMultipliers: () => useCases.siteSettings.read(),
    clock,
    reportError: (error) => logger.error({ err: error }, 'a Torznab request failed'),
  })
  const proxies = trustedProxies(config.TRUSTED_PROXIES)
  return {
    settings,
    blocks: limits,
    routes: torznabRoutes({
      torznab,
      onAnswered,
      addressOf: (request) => clientAddress(request, proxies),
      errorStatus: config.TORZNAB_ERROR_STATUS,
    }),
  }
}
