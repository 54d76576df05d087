import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Account } from '../accounts/accounts.ts'

/** The peers of a torrent at the start of a span. */
type PeerCounts = { readonly start: Date; readonly seeders: number; readonly leechers: number }

/** Stored counts, newest first. Torrents without peers get no further ones. */
export type StoredHistory = {
  readonly lastSlot: number
  readonly seeders: readonly number[]
  readonly leechers: readonly number[]
}

/** The store of counts. */
export type TorrentHistoryStore = {
  read(torrentId: string): Promise<StoredHistory | undefined>
  /**
   * Adds the current counts of some torrents with peers, in the order of their ids. Does nothing for those that have a
   * count for this slot.
   *
   * @returns the id to continue after; undefined at the end
   */
  sample(part: { slot: number; after: string | undefined; limit: number; keep: number }): Promise<string | undefined>
  /** Deletes torrents whose last count is before a slot. */
  prune(slot: number): Promise<void>
}

const SPAN_SECONDS = 6 * 3_600
/** A month. */
const KEPT = 120
const BATCH = 5_000

export type TorrentHistories = ReturnType<typeof createTorrentHistories>

/** The peers of each torrent over the last month. */
export function createTorrentHistories(deps: {
  store: TorrentHistoryStore
  torrents: { findVisible(id: string, viewer: Account): Promise<{ readonly id: string }> }
  clock: Clock
}) {
  const { store, clock } = deps
  let sampled = 0
  const currentSlot = (): number => Math.floor(clock.now() / (SPAN_SECONDS * 1_000))

  return {
    /** From the first count on, oldest first; empty if there is none. @throws ApiError NOT_FOUND */
    async read(id: string, viewer: Account): Promise<{ stepSeconds: number; items: readonly PeerCounts[] }> {
      const torrent = await deps.torrents.findVisible(id, viewer)
      const history = await store.read(torrent.id)
      return { stepSeconds: SPAN_SECONDS, items: history === undefined ? [] : itemsOf(history, currentSlot()) }
    },

    /** Adds the current counts, once per span. */
    async sample(): Promise<void> {
      const slot = currentSlot()
      if (slot <= sampled) return
      let after: string | undefined
      do after = await store.sample({ slot, after, limit: BATCH, keep: KEPT })
      while (after !== undefined)
      await store.prune(slot - KEPT)
      sampled = slot
    },
  }
}

/** Slots after the last count had no peers. */
function itemsOf({ lastSlot, seeders, leechers }: StoredHistory, now: number): readonly PeerCounts[] {
  if (lastSlot <= now - KEPT) return []
  const first = Math.max(lastSlot - seeders.length + 1, now - KEPT + 1)
  return Array.from({ length: Math.max(0, now - first + 1) }, (_, i) => ({
    start: new Date((first + i) * SPAN_SECONDS * 1_000),
    seeders: seeders[lastSlot - first - i] ?? 0,
    leechers: leechers[lastSlot - first - i] ?? 0,
  }))
}
