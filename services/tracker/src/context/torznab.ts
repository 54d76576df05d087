import { clientAddress, trustedProxies } from '@vault-and-tracker/service-kit/client-address'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { isPostgresUnavailable } from '@vault-and-tracker/service-kit/postgres'
import { isRedisUnavailable } from '@vault-and-tracker/service-kit/redis'
import type { Categories } from '../categories/categories.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/schema.ts'
import type { Search } from '../search/search.ts'
import type { SiteSettings } from '../site-settings/site-settings.ts'
import type { Torrents } from '../torrents/torrents.ts'
import { createCallerStore } from '../torznab/callers.store.ts'
import { createCallers } from '../torznab/callers.ts'
import type { TorznabLimits } from '../torznab/ladder.ts'
import type { TorznabConfiguration } from '../torznab/settings.ts'
import { torznabRoutes } from '../torznab/torznab.routes.ts'
import { createTorznab, type OnAnswered } from '../torznab/torznab.ts'
import type { Invalidations } from './invalidations.ts'

/** Joins the routes of the Torznab API. */
export function createTorznabApi(options: {
  config: Config
  db: Db
  invalidations: Invalidations
  logger: Logger
  clock: Clock
  useCases: { categories: Categories; torrents: Torrents; siteSettings: SiteSettings; search: Search }
  settings: TorznabConfiguration
  limits: TorznabLimits
  onAnswered: OnAnswered
}) {
  const { config, db, invalidations, logger, clock, useCases, settings, limits, onAnswered } = options
  const callers = createCallers({ store: createCallerStore(db), clock })
  invalidations.addCache({ onChange: (change) => callers.forget(change), onMissed: () => callers.revalidateAll() })
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
    isOutage: (error) => error instanceof UnavailableError || isPostgresUnavailable(error) || isRedisUnavailable(error),
    reportError: (error) => logger.error({ err: error }, 'a Torznab request failed'),
  })
  const proxies = trustedProxies(config.TRUSTED_PROXIES)
  return {
    routes: torznabRoutes({
      torznab,
      onAnswered,
      addressOf: (request) => clientAddress(request, proxies),
      errorStatus: config.TORZNAB_ERROR_STATUS,
    }),
  }
}
