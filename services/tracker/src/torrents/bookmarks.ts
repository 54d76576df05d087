import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId } from '@vault-and-tracker/service-kit/core/ids'
import { apiError } from '../errors.ts'
import type { ListedTorrent } from '../search/listed-torrent.ts'

/** A bookmarked torrent, and when it was bookmarked. */
export type Bookmarked = { readonly torrent: ListedTorrent; readonly at: Date }

/** The store of bookmarks. Each method is one atomic change. */
export type BookmarkStore = {
  /**
   * Nothing changes for a torrent that is bookmarked already.
   *
   * @param most the number of bookmarks that a user can have
   */
  add(userId: string, torrentId: string, at: Date, most: number): Promise<'done' | 'full' | 'unknown torrent'>
  remove(userId: string, torrentId: string): Promise<void>
  /** The torrents among the given ones that the user bookmarked. */
  among(userId: string, torrentIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Approved torrents, the last bookmarked first. */
  newest(userId: string, limit: number): Promise<readonly Bookmarked[]>
}

export type Bookmarks = ReturnType<typeof createBookmarks>

const MAX_BOOKMARKS = 1_000

/** The torrents that users put aside. Lists find them with the filter `mine=bookmarked`. */
export function createBookmarks({ store, clock }: { store: BookmarkStore; clock: Clock }) {
  return {
    /** @throws ApiError NOT_FOUND for a torrent that is not in the catalogue, CONFLICT if the user has too many */
    async add(userId: string, torrentId: string): Promise<void> {
      const at = new Date(clock.now())
      const outcome = isId(torrentId) ? await store.add(userId, torrentId, at, MAX_BOOKMARKS) : 'unknown torrent'
      if (outcome === 'unknown torrent') throw apiError('NOT_FOUND', 'There is no such torrent.')
      if (outcome === 'full')
        throw apiError(
          'CONFLICT',
          `You already have ${MAX_BOOKMARKS.toLocaleString('en')} bookmarks. Remove some of them.`,
        )
    },

    /** Does nothing if the torrent is not bookmarked. */
    async remove(userId: string, torrentId: string): Promise<void> {
      if (isId(torrentId)) await store.remove(userId, torrentId)
    },

    among: (userId: string, torrentIds: readonly string[]) => store.among(userId, torrentIds),

    newest: (userId: string, limit: number) => store.newest(userId, limit),
  }
}
