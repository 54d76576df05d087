import type { Checks } from '@vault-and-tracker/service-kit/http/health'
import type { Background } from '@vault-and-tracker/service-kit/lifecycle/background'
import { withResources } from '@vault-and-tracker/service-kit/lifecycle/resources'
import { createReadinessMetrics } from '@vault-and-tracker/service-kit/metrics/operational'
import type { Metrics } from '@vault-and-tracker/service-kit/metrics/registry'
import type { Addresses } from './addresses/addresses.ts'
import { type AccountUseCases, createAccountUseCases } from './context/accounts.ts'
import { type AnnounceEngine, createAnnounceEngine } from './context/announce.ts'
import { type Catalogue, createCatalogue } from './context/catalogue.ts'
import { connect, type Start } from './context/connections.ts'
import { createEventUseCases, type EventUseCases } from './context/events.ts'
import { createIrcPart, type IrcPart } from './context/irc.ts'
import { createStaffOverview, type StaffOverview } from './context/overview.ts'
import { createRest, type Rest } from './context/rest.ts'
import { createSavedSearchUseCases } from './context/saved-searches.ts'
import { createSetupAnnouncement } from './context/setup.ts'
import { createSite, type Site } from './context/site.ts'
import { createTokenUseCases, type TokenUseCases } from './context/tokens.ts'
import { createTorznabPart, type TorznabPart } from './context/torznab.ts'
import { createUnit3dUseCases } from './context/unit3d.ts'
import { createUserAddresses } from './context/user-addresses.ts'
import { createWebhookUseCases, type WebhookUseCases } from './context/webhooks.ts'

/** The use cases that handlers call. */
export type UseCases = Site &
  AccountUseCases &
  Catalogue['useCases'] &
  TorznabPart['useCases'] &
  AnnounceEngine['useCases'] &
  TokenUseCases &
  EventUseCases &
  WebhookUseCases &
  Omit<IrcPart, 'irc'> &
  ReturnType<typeof createSavedSearchUseCases> &
  ReturnType<typeof createUnit3dUseCases> &
  StaffOverview & { readonly addresses: Addresses }

/** The assembled service. */
export type Context = {
  readonly useCases: UseCases
  readonly rest: Rest
  readonly announces: AnnounceEngine['requests']
  /** Undefined if WebSockets are disabled. */
  readonly sockets: AnnounceEngine['sockets']
  /** Undefined without an IRC listener. */
  readonly irc: IrcPart['irc']
  /** Whether announces are parsed before node:http. */
  readonly hasAnnounceFront: boolean
  readonly torznabRoutes: TorznabPart['routes']
  /** Logs a code for the first administrator, if the site never had one. Call it before the background tasks start. */
  readonly announceSetup: () => Promise<void>
  /** Background tasks, which run only once started. */
  readonly background: Pick<Background, 'start' | 'stop'>
  readonly metrics: Pick<Metrics, 'middleware' | 'handler'>
  readonly checks: Checks
  /** Closes the connections; requests and background tasks must have ended. */
  readonly close: () => Promise<void>
}

/**
 * Connects to Postgres and Redis and assembles the service.
 *
 * @param options `swarmClock` is for tests. By default swarms use the time of their Redis, which all processes share
 * @throws UnavailableError if Redis does not respond; no connection is left open then
 */
export function createContext(options: Omit<Start, 'resources'>): Promise<Context> {
  return withResources(options.logger, (resources) => join({ ...options, resources }))
}

async function join(start: Start): Promise<Omit<Context, 'close'>> {
  const connections = await connect(start)
  const site = createSite(connections)
  const addresses = createUserAddresses(connections)
  const recordAddress = addresses.record
  const accounts = await createAccountUseCases(connections, site.siteConfiguration, recordAddress)
  const catalogue = createCatalogue(connections, accounts, site.siteConfiguration)
  const engine = await createAnnounceEngine(connections, addresses)
  const tokens = createTokenUseCases(connections)
  const torznab = createTorznabPart(connections, {
    ...catalogue,
    accounts: accounts.accounts,
    lookups: engine.lookups,
    site: site.siteConfiguration,
    apiTokens: tokens.apiTokens,
    recordAddress,
  })
  const parts = { site, accounts, catalogue, torznab, tokens, recordAddress }
  const events = createEventUseCases(connections, { ...accounts, ...tokens, events: catalogue.events })
  const { irc, ...ircParts } = await createIrcPart(connections, { ...site, ...tokens, events: catalogue.events })
  const saved = createSavedSearchUseCases(connections, parts)
  const webhooks = createWebhookUseCases(connections, {
    ...{ events: catalogue.events, savedSearches: saved.savedSearches, search: catalogue.useCases.search },
  })
  const useCases = {
    ...{ ...site, ...accounts, ...catalogue.useCases, ...torznab.useCases, ...engine.useCases, ...tokens },
    ...{ ...events, ...saved, ...webhooks, ...ircParts },
    addresses,
    ...createUnit3dUseCases(connections, parts),
  }
  const { metrics, background } = connections
  const checks = { ...connections.checks, swarms: engine.check }
  createReadinessMetrics(metrics.registry, checks)
  return {
    useCases: { ...useCases, ...createStaffOverview(connections, useCases) },
    rest: createRest(connections, useCases),
    announces: engine.requests,
    sockets: engine.sockets,
    irc,
    hasAnnounceFront: connections.config.ANNOUNCE_FRONT,
    torznabRoutes: torznab.routes,
    announceSetup: createSetupAnnouncement(
      { publicUrl: connections.config.PUBLIC_URL, logger: connections.logger, background },
      accounts.firstAdministrator,
    ),
    background,
    metrics: { middleware: metrics.middleware, handler: metrics.handler },
    checks,
  }
}
