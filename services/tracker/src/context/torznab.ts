import { clientAddress } from '@vault-and-tracker/service-kit/client-address'
import { createAdmit } from '../torznab/admission.ts'
import { createAnswers } from '../torznab/answers.ts'
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
  const { siteStates, useCases } = catalogue
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
