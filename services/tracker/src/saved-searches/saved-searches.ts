import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import { apiError, isApiError } from '../errors.ts'
import { changedKeys, type PublishInvalidation } from '../invalidation/invalidation.ts'
import type { ListFilters } from '../search/queries.ts'
import type { Search } from '../search/search.ts'
import type { RecentMatches } from '../search/statements.ts'

/** A search with a name. */
export type SavedSearch = {
  readonly id: string
  readonly name: string
  /** The query string of the list, without its page. */
  readonly filters: string
  /** Whether new matches notify the member. */
  readonly notify: boolean
  readonly created: Date
  /** When the member last looked at the matches. */
  readonly visited: Date
}

export type SavedSearchChanges = {
  readonly name?: string | undefined
  readonly filters?: string | undefined
  readonly notify?: boolean | undefined
}

/** The store of saved searches. Each method is one atomic change. */
export type SavedSearchStore = {
  /** @param most the number of saved searches that a user can have */
  create(userId: string, search: SavedSearch, most: number): Promise<'done' | 'full' | 'name taken'>
  change(
    id: string,
    userId: string,
    changes: SavedSearchChanges,
    at: Date,
  ): Promise<SavedSearch | 'name taken' | undefined>
  /** @returns the announce keys of its feeds; undefined if the user did not have it */
  remove(id: string, userId: string): Promise<readonly (string | null)[] | undefined>
  /** @returns whether the user has it */
  visit(id: string, userId: string, at: Date): Promise<boolean>
  /** All saved searches of a user by name. */
  listBy(userId: string): Promise<readonly SavedSearch[]>
  find(id: string, userId: string): Promise<SavedSearch | undefined>
  /** The saved searches of active users that notify and were not checked since a time, the longest unchecked first. */
  unchecked(since: Date, limit: number): Promise<readonly CheckedSearch[]>
  /**
   * Records that matches up to `until` are known and notifies the owner of them, unless another process did that.
   *
   * @param times `at` is the current time
   */
  recordCheck(
    search: CheckedSearch,
    times: { readonly until: Date; readonly at: Date },
    recent: RecentMatches | undefined,
  ): Promise<void>
}

/** A saved search that notifies its owner, who knows all matches up to `checked`. */
export type CheckedSearch = Pick<SavedSearch, 'id' | 'name' | 'filters'> & {
  readonly userId: string
  readonly checked: Date
}

export type SavedSearches = ReturnType<typeof createSavedSearches>

const MAX_SAVED_SEARCHES = 25

/** New matches are looked for this often, if there are not too many saved searches. */
const CHECK_EVERY_MS = 60_000
const CHECKED_AT_ONCE = 50
/** A torrent becomes visible when its upload commits, shortly after its `created_at`. */
const SETTLED_MS = 10_000
/** A search that is refused for longer is given up until its next turn, so that others get theirs. */
const MAX_LATE_MS = 10 * 60_000
/** Notices wait in a queue of their own, so that a member who searches too much still receives them. */
const QUEUE = 'saved-searches'

/**
 * Searches with names.
 *
 * @param deps `readFilters` reads the query string of a list. It throws ApiError BAD_REQUEST naming the parameter
 */
export function createSavedSearches(deps: {
  store: SavedSearchStore
  search: Pick<Search, 'recent'>
  readFilters: (text: string) => ListFilters
  publish: PublishInvalidation
  clock: Clock
}) {
  const { store, clock } = deps

  /** Stored filters; undefined if this release does not accept them. */
  function readable(filters: string): ListFilters | undefined {
    try {
      return deps.readFilters(filters)
    } catch (error) {
      if (isApiError(error)) return undefined
      throw error
    }
  }

  return {
    /** @throws ApiError BAD_REQUEST for filters that no list accepts; CONFLICT if the name is taken, or all are used */
    async create(userId: string, search: Pick<SavedSearch, 'name' | 'filters' | 'notify'>): Promise<SavedSearch> {
      deps.readFilters(search.filters)
      const now = new Date(clock.now())
      const saved = { ...search, id: newId(), created: now, visited: now }
      const outcome = await store.create(userId, saved, MAX_SAVED_SEARCHES)
      if (outcome === 'name taken') throw nameTaken()
      if (outcome === 'full')
        throw apiError('CONFLICT', `You already have ${MAX_SAVED_SEARCHES} saved searches. Delete one of them first.`)
      return saved
    },

    /** @throws ApiError NOT_FOUND, BAD_REQUEST or CONFLICT, as `create` does */
    async change(id: string, userId: string, changes: SavedSearchChanges): Promise<SavedSearch> {
      if (changes.filters !== undefined) deps.readFilters(changes.filters)
      const changed = isId(id) ? await store.change(id, userId, changes, new Date(clock.now())) : undefined
      if (changed === undefined) throw notFound()
      if (changed === 'name taken') throw nameTaken()
      return changed
    },

    /** Deletes a saved search with its feeds. @throws ApiError NOT_FOUND */
    async remove(id: string, userId: string): Promise<void> {
      const announceKeys = isId(id) ? await store.remove(id, userId) : undefined
      if (announceKeys === undefined) throw notFound()
      await deps.publish(...changedKeys(announceKeys))
    },

    /** Counts matches from now on. @throws ApiError NOT_FOUND */
    async visit(id: string, userId: string): Promise<void> {
      if (!isId(id) || !(await store.visit(id, userId, new Date(clock.now())))) throw notFound()
    },

    /**
     * All saved searches of a user by name, with the matches since the last visit; null if its category or uploader no
     * longer exists, or counting took too long, which must not hide the searches.
     */
    async listBy(userId: string): Promise<readonly (SavedSearch & { readonly recent: RecentMatches | null })[]> {
      const saved = await store.listBy(userId)
      const queries = saved.flatMap(({ id, filters, visited: after }) => {
        const read = readable(filters)
        return read === undefined ? [] : [{ id, filters: read, after }]
      })
      const recent = queries.length === 0 ? undefined : await deps.search.recent(queries, userId).catch(noneIfRefused)
      return saved.map((each) => ({ ...each, recent: recent?.get(each.id) ?? null }))
    },

    /** Notifies members of new matches, of a bounded number of saved searches. */
    async notifyOfMatches(): Promise<void> {
      const now = clock.now()
      const until = new Date(now - SETTLED_MS)
      for (const saved of await store.unchecked(new Date(now - CHECK_EVERY_MS), CHECKED_AT_ONCE)) {
        const filters = readable(saved.filters)
        const query = filters && { id: saved.id, filters: forNewTorrents(filters), after: saved.checked, until }
        const recent = query && (await deps.search.recent([query], saved.userId, QUEUE).catch(noneIfRefused))
        const isRefused = query !== undefined && recent === undefined
        if (isRefused && now - saved.checked.getTime() < MAX_LATE_MS) continue
        await store.recordCheck(saved, { until, at: new Date(now) }, recent?.get(saved.id))
      }
    },

    /** The name and the filters of a saved search. @throws ApiError NOT_FOUND */
    async find(id: string, userId: string): Promise<{ readonly name: string; readonly filters: ListFilters }> {
      const saved = isId(id) ? await store.find(id, userId) : undefined
      if (saved === undefined) throw notFound()
      return { name: saved.name, filters: deps.readFilters(saved.filters) }
    },
  }
}

/** The filters for torrents that were just listed: few of them have a seeder, and they are checked only once. */
export function forNewTorrents(filters: ListFilters): ListFilters {
  return { ...filters, alive: undefined }
}

function notFound(): Error {
  return apiError('NOT_FOUND', 'There is no such saved search.')
}

function noneIfRefused(error: unknown): undefined {
  if (!isApiError(error)) throw error
}

function nameTaken(): Error {
  return apiError('CONFLICT', 'name: you already have a saved search with this name.')
}
