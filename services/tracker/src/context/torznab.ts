import { clientAddress } from '@vault-and-tracker/service-kit/http/client-address'
import { createAnswers } from '../torznab/answers.ts'
import { createAuthorize } from '../torznab/authorization.ts'
import { createCallerStore } from '../torznab/callers.store.ts'
import { createCallers } from '../torznab/callers.ts'
import { torznabRoutes } from '../torznab/torznab.routes.ts'
import { createTorznab } from '../torznab/torznab.ts'
import type { Catalogue } from './catalogue.ts'
import type { Connections } from './connections.ts'
import type { TorznabAdmin } from './torznab-admin.ts'

export type TorznabApi = ReturnType<typeof createTorznabApi>

/** Joins the routes of the Torznab API. */
export function createTorznabApi(
  { config, db, invalidations, logger, clock }: Connections,
  { catalogue, torznabAdmin }: { catalogue: Catalogue; torznabAdmin: TorznabAdmin },
) {
  const { settings, limits, log } = torznabAdmin
  const { catalogueState, useCases } = catalogue
  const callers = createCallers({ store: createCallerStore(db), clock })
  invalidations.addCache({ onChange: (change) => callers.forget(change), onMissed: () => callers.revalidateAll() })
  const torznab = createTorznab({
    settings: () => settings.current(),
    authorize: createAuthorize({ callers, limits }),
    answers: createAnswers({
      indexer: {
        publicUrl: config.PUBLIC_URL,
        title: config.SITE_NAME ?? new URL(config.PUBLIC_URL).hostname,
        registration: { available: config.REGISTRATION !== 'closed', open: config.REGISTRATION === 'open' },
      },
      catalogueState: () => catalogueState.current(),
      search: useCases.search,
      torrents: useCases.torrents,
      clock,
    }),
    onError: (error) => logger.error({ err: error }, 'a Torznab request failed'),
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
