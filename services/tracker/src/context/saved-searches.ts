import type { RecordAddress } from '../addresses/addresses.ts'
import type { FeedFormat } from '../saved-searches/feed-documents.ts'
import { createFeeds } from '../saved-searches/feeds.ts'
import { createSavedSearchStore } from '../saved-searches/saved-searches.store.ts'
import { createSavedSearches } from '../saved-searches/saved-searches.ts'
import { readListFilters } from '../torrents/torrent-filters.routes.ts'
import type { AccountUseCases } from './accounts.ts'
import type { Catalogue } from './catalogue.ts'
import type { Connections } from './connections.ts'
import { createLeadingTasks } from './leading-tasks.ts'
import type { Site } from './site.ts'
import type { TokenUseCases } from './tokens.ts'
import { siteTitle, type TorznabPart } from './torznab.ts'

const NOTIFY_EVERY_MS = 10_000

/** Creates saved searches and their feeds. In the background, members are notified of new matches. */
export function createSavedSearchUseCases(
  connections: Connections,
  parts: {
    readonly site: Site
    readonly accounts: AccountUseCases
    readonly catalogue: Catalogue
    readonly torznab: TorznabPart
    readonly tokens: TokenUseCases
    readonly recordAddress: RecordAddress
  },
) {
  const { config, db, clock, invalidations } = connections
  const { search, torrents, bookmarks } = parts.catalogue.useCases
  const { tokens, apiTokens } = parts.tokens
  const savedSearches = createSavedSearches({
    store: createSavedSearchStore(db),
    search,
    readFilters: readListFilters,
    ...{ publish: invalidations.publish, clock },
  })
  const addAsLeader = createLeadingTasks(connections, 'saved-searches')
  addAsLeader('search for matches of saved searches', NOTIFY_EVERY_MS, () => savedSearches.notifyOfMatches())
  const feeds = createFeeds({
    ...{ tokens, apiTokens, savedSearches, search, torrents, bookmarks },
    accounts: parts.accounts.accounts,
    catalogue: parts.catalogue.catalogueCache,
    settings: parts.torznab.useCases.torznabConfiguration,
    limits: parts.torznab.limits,
    recordAddress: parts.recordAddress,
    publicUrl: config.PUBLIC_URL,
    siteTitle: async () => siteTitle((await parts.site.siteConfiguration.current()).name, config),
  })
  return {
    ...{ savedSearches, feeds },
    /** The address of a feed. */
    feedUrl: (token: string, format: FeedFormat): string => `${config.PUBLIC_URL}/api/feeds/${format}?token=${token}`,
  }
}
