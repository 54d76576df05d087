import { clientAddress } from '@vault-and-tracker/service-kit/client-address'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { isPostgresUnavailable } from '@vault-and-tracker/service-kit/postgres'
import { isRedisUnavailable } from '@vault-and-tracker/service-kit/redis'
import type { Config } from '../config.ts'
import type { Db } from '../db/schema.ts'
import type { Search } from '../search/search.ts'
import type { Torrents } from '../torrents/torrents.ts'
import { createAdmit } from '../torznab/admission.ts'
import { createAnswers } from '../torznab/answers.ts'
import { createCallerStore } from '../torznab/callers.store.ts'
import { createCallers } from '../torznab/callers.ts'
import type { SiteStates } from '../torznab/site-state.ts'
import { torznabRoutes } from '../torznab/torznab.routes.ts'
import { createTorznab } from '../torznab/torznab.ts'
import type { Invalidations } from './invalidations.ts'
import type { TorznabAdmin } from './torznab-admin.ts'

/** Joins the routes of the Torznab API. */
export function createTorznabApi(options: {
  config: Config
  db: Db
  invalidations: Invalidations
  logger: Logger
  clock: Clock
  torznabAdmin: Pick<TorznabAdmin, 'settings' | 'limits' | 'log'>
  siteStates: SiteStates
  torrents: Torrents
  search: Search
}) {
  const { config, db, invalidations, logger, clock, torznabAdmin, siteStates, torrents, search } = options
  const { settings, limits, log } = torznabAdmin
  const callers = createCallers({ store: createCallerStore(db), clock })
  invalidations.addCache({ onChange: (change) => callers.forget(change), onMissed: () => callers.revalidateAll() })
  const torznab = createTorznab({
    settings: () => settings.current(),
    admit: createAdmit({ callers, limits }),
    answers: createAnswers({
      site: {
        publicUrl: config.PUBLIC_URL,
        title: new URL(config.PUBLIC_URL).hostname,
        registration: { available: config.REGISTRATION !== 'closed', open: config.REGISTRATION === 'open' },
      },
      siteState: () => siteStates.current(),
      ...{ search, torrents, clock },
    }),
    isOutage: (error) => error instanceof UnavailableError || isPostgresUnavailable(error) || isRedisUnavailable(error),
    reportError: (error) => logger.error({ err: error }, 'a Torznab request failed'),
  })
  return {
    routes: torznabRoutes({
      torznab,
      onAnswered: (request) => log.record(request),
      addressOf: (request) => clientAddress(request, config.proxies),
      errorStatus: config.TORZNAB_ERROR_STATUS,
    }),
  }
}
