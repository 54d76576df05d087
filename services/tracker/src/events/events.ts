import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { bestOf, type Rates } from '../announce/lookups.ts'
import type { CatalogueCache } from '../search/catalogue-state.ts'
import type { ListedTorrent, ListedTorrents } from '../search/listed-torrent.ts'

/** A torrent that members see for the first time, as any of them may see it. */
export type TorrentEvent = {
  /** Later events have higher ids. */
  readonly id: number
  readonly torrent: {
    readonly id: string
    readonly infoHash: string
    readonly name: string
    /** A slug; empty if all categories were deleted. */
    readonly category: string
    readonly size: number
    readonly files: number
    /** Null for an anonymous upload. */
    readonly uploader: string | null
    readonly internal: boolean
    readonly scene: boolean
    /** The best rates of the torrent and the site. */
    readonly downloadPercent: number
    readonly uploadPercent: number
    readonly created: Date
    /** The page of the torrent. */
    readonly url: string
  }
}

/** A stored event, whose torrent may be deleted or wait for a moderator again by now. */
export type StoredEvent = { readonly id: number; readonly torrentId: string }

/** The store of events. They are inserted in the transaction of the first approval. */
export type EventStore = {
  /** The id of the newest event, or 0. */
  newest(): Promise<number>
  /** Events after an id, in order. */
  after(id: number, limit: number): Promise<readonly StoredEvent[]>
  /** Whether an event after an id may have been deleted. */
  hasExpired(id: number): Promise<boolean>
  /** Deletes events from before a time, and all except the newest. */
  expire(before: Date, most: number): Promise<void>
}

/** Receives the events that this process has read: each once, in order. */
export type EventListener = (events: readonly TorrentEvent[]) => void

/** A part of the stored events, and the id up to which they were read. */
export type EventPage = { readonly events: readonly TorrentEvent[]; readonly until: number }

export type Events = ReturnType<typeof createEvents>

/** At most 75 KB as text. */
const PAGE = 50
const KEPT_DAYS = 7
const KEPT_EVENTS = 10_000
const DAY_MS = 86_400_000

/**
 * The events of all processes. Each process reads them from Postgres when it learns of a change, and again every few seconds,
 * so that none is lost with a message.
 */
export function createEvents(deps: {
  store: EventStore
  torrents: ListedTorrents
  catalogue: CatalogueCache
  publicUrl: string
  clock: Clock
}) {
  const { store, clock } = deps
  const listeners: EventListener[] = []
  /** Undefined until the first read. Nobody listens to earlier events. */
  let last: number | undefined

  async function load(stored: readonly StoredEvent[]): Promise<readonly TorrentEvent[]> {
    const torrents = await deps.torrents.byIds(stored.map(({ torrentId }) => torrentId))
    const visible = new Map(torrents.filter(({ state }) => state === 'approved').map((each) => [each.id, each]))
    const { rates } = await deps.catalogue.current()
    return stored.flatMap(({ id, torrentId }) => {
      const torrent = visible.get(torrentId)
      return torrent === undefined ? [] : [{ id, torrent: publicFacts(torrent, rates, deps.publicUrl) }]
    })
  }

  async function page(after: number): Promise<EventPage | undefined> {
    const stored = await store.after(after, PAGE)
    const until = stored.at(-1)?.id
    return until === undefined ? undefined : { events: await load(stored), until }
  }

  const refresh = shared(async () => {
    last ??= await store.newest()
    for (let next = await page(last); next !== undefined; next = await page(last)) {
      last = next.until
      for (const listener of listeners) listener(next.events)
    }
    return last
  })

  return {
    /** Adds a listener to the events from now on. */
    listen: (listener: EventListener): void => void listeners.push(listener),

    /** Passes all committed events to the listeners. @returns the id of the last one */
    refresh,

    hasExpired: (id: number): Promise<boolean> => store.hasExpired(id),

    /** The id up to which the listeners know all events. */
    last: (): number => last ?? 0,

    /** The next events after an id, whatever the listeners know; undefined if there are none. */
    page,

    /** Deletes old events. */
    expire: (): Promise<void> => store.expire(new Date(clock.now() - KEPT_DAYS * DAY_MS), KEPT_EVENTS),
  }
}

function publicFacts(torrent: ListedTorrent, site: Rates, publicUrl: string): TorrentEvent['torrent'] {
  const { id, infoHash, name, category, size, fileCount: files, uploader, anonymous, internal, scene } = torrent
  return {
    ...{ id, infoHash, name, category, size, files, uploader: anonymous ? null : (uploader?.username ?? null) },
    ...{ internal, scene, ...bestOf([torrent, site]), created: torrent.createdAt, url: `${publicUrl}/torrents/${id}` },
  }
}

/** Runs work once at a time. A call during a run waits for one further run, which all these calls share. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    next ??= running.then(() => {
      const run = work()
      running = run.catch(() => undefined)
      next = undefined
      return run
    })
    return next
  }
}
