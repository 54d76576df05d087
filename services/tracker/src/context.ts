import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Checks } from '@vault-and-tracker/service-kit/health'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import type { Metrics } from '@vault-and-tracker/service-kit/metrics'
import { withResources } from '@vault-and-tracker/service-kit/resources'
import type { Config } from './config.ts'
import { type AccountUseCases, createAccountUseCases } from './context/accounts.ts'
import { type AnnounceEngine, createAnnounceEngine } from './context/announce.ts'
import { type Catalogue, createCatalogue } from './context/catalogue.ts'
import { connect, type Start } from './context/connections.ts'
import { createStaffOverview, type StaffOverview } from './context/overview.ts'
import { createRest, type Rest } from './context/rest.ts'
import { createTorznabApi, type TorznabApi } from './context/torznab.ts'
import { createTorznabAdmin, type TorznabAdmin } from './context/torznab-admin.ts'

/** What handlers call. */
export type UseCases = AccountUseCases &
  Catalogue['useCases'] &
  TorznabAdmin['useCases'] &
  AnnounceEngine['watch']['useCases'] &
  StaffOverview

/** The service, joined: what it does, who may call it, how it is watched, and how it ends. */
export type Context = Readonly<{
  useCases: UseCases
  rest: Rest
  announceEngine: AnnounceEngine
  torznabRoutes: TorznabApi['routes']
  torznabLog: TorznabAdmin['log']
  metrics: Metrics
  checks: Checks
  /** Stops the background tasks and closes the connections; requests must have ended. */
  close: () => Promise<void>
}>

/**
 * Connects to Postgres and Redis and joins the parts.
 *
 * @param options `swarmClock` is for tests: without it swarms have the time of their Redis, which all processes share
 * @throws UnavailableError when Redis does not respond; everything opened before is closed then
 */
export function createContext(options: {
  config: Config
  logger: Logger
  clock: Clock
  swarmClock?: Clock
}): Promise<Context> {
  return withResources(options.logger, (resources) => join({ ...options, resources }))
}

async function join(start: Start): Promise<Omit<Context, 'close'>> {
  const connections = await connect(start)
  const accounts = await createAccountUseCases(connections)
  const catalogue = createCatalogue(connections, accounts.announceUrl)
  const announceEngine = await createAnnounceEngine(connections)
  const torznabAdmin = createTorznabAdmin(connections, catalogue.useCases.adminLog)
  const torznab = createTorznabApi(connections, { catalogue, torznabAdmin })
  const ownUseCases = { ...accounts, ...catalogue.useCases, ...torznabAdmin.useCases, ...announceEngine.watch.useCases }
  return {
    useCases: { ...ownUseCases, ...createStaffOverview(connections, ownUseCases) },
    rest: createRest(connections, accounts.sessions),
    announceEngine,
    torznabRoutes: torznab.routes,
    torznabLog: torznabAdmin.log,
    metrics: connections.metrics,
    checks: { ...connections.checks, swarms: announceEngine.check },
  }
}
