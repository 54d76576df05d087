import type { Accounts } from '../accounts/accounts.ts'
import { createOwnTransfers } from '../own-torrents/own-torrents.store.ts'
import { createReportStore } from '../reports/reports.store.ts'
import { createReports } from '../reports/reports.ts'
import { createReviewStore } from '../reviews/reviews.store.ts'
import { createReviews } from '../reviews/reviews.ts'
import type { CatalogueCache } from '../search/catalogue-state.ts'
import { createTorrentHistoryStore } from '../swarm-statistics/torrent-history.store.ts'
import { createTorrentHistories } from '../swarm-statistics/torrent-history.ts'
import { createTorrentDetails } from '../torrents/torrent-details.ts'
import type { Torrents } from '../torrents/torrents.ts'
import type { Connections } from './connections.ts'

const SAMPLE_EVERY_MS = 600_000

/** Creates what the page of a torrent shows: details, peers over time, reports and reviews. */
export function createTorrentPage(
  connections: Connections,
  deps: { torrents: Torrents; accounts: Accounts; catalogue: CatalogueCache; peerTtlMs: number },
) {
  const { torrents } = deps
  const { db, clock, logger, background } = connections
  const transferOf = createOwnTransfers(db)
  const torrentHistories = createTorrentHistories({ store: createTorrentHistoryStore(db), torrents, clock })
  background.add({
    everyMs: SAMPLE_EVERY_MS,
    task: () => torrentHistories.sample(),
    onError: (error) => logger.warn({ err: error }, 'sampling peers failed; will retry'),
  })
  return {
    torrentHistories,
    torrentDetails: createTorrentDetails({
      ...deps,
      transferOf: (userId, torrentId) => transferOf(userId, torrentId, new Date(clock.now() - deps.peerTtlMs)),
    }),
    reviews: createReviews({ store: createReviewStore(db), torrents, accounts: deps.accounts, clock }),
    reports: createReports({ store: createReportStore(db), torrents, clock }),
  }
}
