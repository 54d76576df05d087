import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import { createAdminLog } from '../admin-log/admin-log.store.ts'
import { createCategoryStore } from '../categories/categories.store.ts'
import { createCategories } from '../categories/categories.ts'
import type { Schema } from '../db/schema.ts'
import { createOwnTorrentStore } from '../own-torrents/own-torrents.store.ts'
import { createOwnTorrents } from '../own-torrents/own-torrents.ts'
import { createCatalogueCache } from '../search/catalogue-state.ts'
import { createSearchMetrics } from '../search/search.metrics.ts'
import { createSearchStore } from '../search/search.store.ts'
import { createSearch } from '../search/search.ts'
import { createSearchQueue, type SearchBounds } from '../search/search-queue.ts'
import type { SiteConfiguration } from '../site-settings/site-settings.ts'
import { timeToLive } from '../swarm/interval.ts'
import { createAnnounceKeyStore } from '../tokens/announce-keys.store.ts'
import { createAnnounceKeys } from '../tokens/announce-keys.ts'
import { createBookmarkStore } from '../torrents/bookmarks.store.ts'
import { createBookmarks } from '../torrents/bookmarks.ts'
import { createReindexStore } from '../torrents/reindex.store.ts'
import { createReindex } from '../torrents/reindex.ts'
import { createTorrentFileReader } from '../torrents/torrent-file.thread.ts'
import { createTorrentPreviews } from '../torrents/torrent-preview.ts'
import { createListedTorrents } from '../torrents/torrent-rows.store.ts'
import { createTorrentStore } from '../torrents/torrents.store.ts'
import { createTorrents, type Torrents } from '../torrents/torrents.ts'
import type { AccountUseCases } from './accounts.ts'
import type { Connections } from './connections.ts'
import { createTorrentEvents } from './events.ts'
import { createTorrentPage } from './torrent-page.ts'

const PURGE_EVERY_MS = 3_600_000
const REINDEX_EVERY_MS = 5_000

/** A member's applications may send many searches at the same moment, which take a few milliseconds each. */
const SEARCHES = {
  underWayEach: 60,
  underWay: 500,
  waitMs: 5_000,
  runMs: 1_000,
  // Ordinary searches are shorter, even on a busy machine. A member can run four of the slowest, then eight per minute.
  freeMs: 250,
  burstMs: 3_000,
  share: 0.1,
} satisfies Partial<SearchBounds>

/** The assembled catalogue. */
export type Catalogue = ReturnType<typeof createCatalogue>

/** Creates categories, torrents, search, and the admin log, with their background tasks. */
export function createCatalogue(
  connections: Connections,
  { announceUrl, accounts }: Pick<AccountUseCases, 'announceUrl' | 'accounts'>,
  site: SiteConfiguration,
) {
  const { config, db, invalidations, clock, resources } = connections
  const { publish } = invalidations
  const categories = createCategories({ store: createCategoryStore(db), publish, clock })
  const catalogueCache = createCatalogueCache({ categories, site, invalidations, clock })
  const torrentStore = createTorrentStore(db)
  const listedTorrents = createListedTorrents(db)
  const { searches, queue } = createSearches(connections)
  const peerTtlMs = timeToLive(config.ANNOUNCE_INTERVAL) * 1_000
  const search = createSearch({
    store: createSearchStore(db, searches, connections.countLimits),
    queue,
    torrents: listedTorrents,
    ...{ catalogue: catalogueCache, clock, peerTtlMs },
  })
  const torrentFiles = createTorrentFileReader(connections)
  resources.defer(() => torrentFiles.close())
  const source = config.TORRENT_SOURCE ?? new URL(config.PUBLIC_URL).host
  const torrents = createTorrents({
    store: torrentStore,
    torrentFiles,
    categories,
    publish,
    clock,
    site,
    bytesPerDay: config.UPLOAD_BYTES_PER_DAY,
    source,
    publicUrl: config.PUBLIC_URL,
    announceKeys: createAnnounceKeys(createAnnounceKeyStore(db)),
    announceUrl,
    socketUrl: config.WEBSOCKET ? (passkey) => announceUrl(passkey).replace(/^http/i, 'ws') : undefined,
  })
  addBackground(connections, torrents)
  const events = createTorrentEvents(connections, { torrents: listedTorrents, catalogue: catalogueCache })
  const torrentPreviews = createTorrentPreviews({ store: torrentStore, torrentFiles, categories, source })
  return {
    useCases: {
      categories,
      torrents,
      torrentPreviews,
      ...createTorrentPage(connections, { torrents, accounts, catalogue: catalogueCache, peerTtlMs }),
      search,
      ownTorrents: createOwnTorrents({
        store: createOwnTorrentStore(searches),
        ...{ site, clock, peerTtlMs, queue },
      }),
      adminLog: createAdminLog(db),
      bookmarks: createBookmarks({ store: createBookmarkStore(db), clock }),
    },
    catalogueCache,
    events,
  }
}

/** Searches have a separate connection pool, so that nothing else waits for them. */
function createSearches({ config, logger, metrics, resources, searchTimes }: Connections) {
  const size = config.SEARCH_POOL_SIZE
  const bounds = { ...SEARCHES, ...searchTimes }
  const searches = createKysely<Schema>(
    createPool({ url: config.DATABASE_URL, name: 'tracker search', size, logger, statementTimeoutMs: bounds.runMs }),
  )
  resources.defer(() => searches.destroy())
  const counters = createSearchMetrics(metrics.registry, () => queue.counts())
  const queue = createSearchQueue({ ...bounds, atOnce: size, runningEach: Math.ceil(size / 2) }, counters)
  return { searches, queue }
}

function addBackground({ db, logger, background }: Connections, torrents: Torrents): void {
  background.add({
    everyMs: PURGE_EVERY_MS,
    task: () => torrents.purgeDeleted(),
    onError: (error) => logger.warn({ err: error }, 'purging deleted torrents failed; will retry'),
  })
  background.add({
    everyMs: REINDEX_EVERY_MS,
    task: createReindex({
      store: createReindexStore(db),
      onUnreadable: (error, torrent) => logger.error({ err: error, torrent }, 'reading a release name failed'),
    }),
    onError: (error) => logger.warn({ err: error }, 'release name reindex failed; will retry'),
  })
}
