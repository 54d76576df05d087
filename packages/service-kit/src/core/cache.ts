import { LRUCache } from 'lru-cache'
import { type BatcherOptions, createBatcher } from './batch.ts'
import type { Clock } from './clock.ts'

/** A value, or `undefined` for a known absence; a promise if it has to be loaded first. */
export type Lookup<Value> = Value | undefined | Promise<Value | undefined>

/** A bounded cache in front of a source of single values. */
export type LookupCache<Key extends string, Value> = {
  /**
   * Looks up a key. Simultaneous lookups of a key share one load. Cached values and absences are returned synchronously.
   *
   * @throws the error of loading, if nothing is cached for the key
   */
  get(key: Key): Lookup<Value>
  /** Loads a key now, without joining an earlier load, and caches the result. @throws the error of loading */
  reload(key: Key): Promise<Value | undefined>
  /** Removes a changed value under all of its keys, and every absence. */
  forget(key: Key): void
  /** Removes entries that are no longer fresh, so that their content does not stay in memory. */
  dropStale(): void
  /** Makes every entry stale. Called when changes may have been missed. */
  revalidateAll(): void
}

export type LookupCacheOptions<Key extends string, Value> = {
  /** Reads a key from its source; `undefined` if it does not exist. {@link batchedLoader} creates one from a bulk read. */
  readonly load: (key: Key) => Promise<Value | undefined>
  readonly clock: Clock
  /** Maximum number of keys with a value. The least recently used key is evicted first. */
  readonly maxValues: number
  /** How many of `maxValues` a value counts as; 1 by default. */
  readonly sizeOf?: (value: Value) => number
  /** Maximum number of absences. They are stored separately, so unknown keys never evict a value. */
  readonly maxAbsences: number
  readonly valueTtlMs: number
  readonly absenceTtlMs: number
  /**
   * Whether a stale entry is returned, however old, while it is loaded again in the background, so that lookups continue
   * while the source is unavailable. Otherwise, the lookup waits for the new value.
   */
  readonly serveStale: boolean
  /** All keys of a value; by default the one that it was loaded by. */
  readonly keysOf?: (value: Value, key: Key) => readonly Key[]
  /** Copies a key before it is stored. A substring would keep the whole string that it was cut from in memory. */
  readonly copyKey?: (key: Key) => Key
}

type Entry<Value> = { readonly value: Value | undefined; freshUntil: number; generation: number }

/** The time between attempts to load a stale entry again. */
const RETRY_MS = 2_000

/** Creates a cache. The result of a load that started before `forget` or `revalidateAll` is returned but not cached. */
export function createLookupCache<Key extends string, Value>(
  options: LookupCacheOptions<Key, Value>,
): LookupCache<Key, Value> {
  const { clock } = options
  const keysOf = options.keysOf ?? ((_value: Value, key: Key): readonly Key[] => [key])
  const copyKey = options.copyKey ?? ((key: Key): Key => key)
  const { sizeOf = () => 1 } = options
  const values = boundedMap<Key, Entry<Value>>(options.maxValues, ({ value }) =>
    value === undefined ? 1 : sizeOf(value),
  )
  const absences = boundedMap<Key, Entry<Value>>(options.maxAbsences)
  const loading = new Map<Key, Promise<Value | undefined>>()
  // Entries of an older generation are stale.
  let generation = 0
  let invalidations = 0

  const store = (key: Key, value: Value | undefined): void => {
    if (value === undefined) {
      values.delete(key)
      absences.set(key, { value, freshUntil: clock.now() + options.absenceTtlMs, generation })
      return
    }
    const freshUntil = clock.now() + options.valueTtlMs
    for (const each of keysOf(value, key)) {
      absences.delete(each)
      values.set(each, { value, freshUntil, generation })
    }
  }

  const loadAndStore = async (key: Key): Promise<Value | undefined> => {
    const before = invalidations
    const value = await options.load(key)
    if (invalidations === before) store(key, value)
    return value
  }

  const joinOrLoad = (given: Key): Promise<Value | undefined> => {
    const inProgress = loading.get(given)
    if (inProgress !== undefined) return inProgress
    const key = copyKey(given)
    const promise = loadAndStore(key).finally(() => {
      if (loading.get(key) === promise) loading.delete(key)
    })
    loading.set(key, promise)
    return promise
  }

  const revalidate = (key: Key, entry: Entry<Value>): void => {
    entry.freshUntil = clock.now() + RETRY_MS
    entry.generation = generation
    joinOrLoad(key).catch(() => {
      entry.freshUntil = clock.now() + RETRY_MS
    })
  }

  return {
    get: (key) => {
      const entry = values.get(key) ?? absences.get(key)
      if (entry === undefined) return joinOrLoad(key)
      if (entry.freshUntil > clock.now() && entry.generation === generation) return entry.value
      if (!options.serveStale) return joinOrLoad(key)
      revalidate(key, entry)
      return entry.value
    },

    reload: (key) => loadAndStore(copyKey(key)),

    forget: (key) => {
      invalidations += 1
      loading.delete(key)
      const value = values.peek(key)?.value
      if (value !== undefined) for (const each of keysOf(value, key)) values.delete(each)
      // A value that is new may have been looked up before under any of its keys.
      absences.clear()
    },

    dropStale: () => {
      for (const entries of [values, absences])
        for (const [key, { freshUntil }] of entries.entries()) if (freshUntil <= clock.now()) entries.delete(key)
    },

    revalidateAll: () => {
      generation += 1
      invalidations += 1
    },
  }
}

/** A loader of one key that reads keys requested at about the same time in one call; see `createBatcher`. */
export function batchedLoader<Key extends string, Value>(
  loadMany: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>,
  options: BatcherOptions,
): (key: Key) => Promise<Value | undefined> {
  const load = createBatcher(async (keys: readonly Key[]) => {
    const found = await loadMany(keys)
    // Wrapped, because a batch needs a defined result per item.
    return keys.map((key) => ({ value: found.get(key) }))
  }, options)
  return async (key) => (await load(key)).value
}

/**
 * A map that evicts its least recently used entry when it is full. Bounded by size, because a bound by number would allocate
 * the space for all entries at once.
 */
export function boundedMap<Key extends string, Value extends object>(
  bound: number,
  sizeOf: (value: Value) => number = () => 1,
): LRUCache<Key, Value> {
  return new LRUCache({ maxSize: bound, sizeCalculation: sizeOf })
}
