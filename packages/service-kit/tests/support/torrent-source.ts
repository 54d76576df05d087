import { createLookupCache, type LookupCache, type LookupCacheOptions } from '../../src/core/cache.ts'

export type Torrent = { readonly name: string; readonly keys: readonly string[] }

/** A source of torrents by key, and caches that load from it. */
export type TorrentSource = {
  readonly clock: { time: number; now: () => number }
  /** The content of the source, by key. */
  readonly source: Map<string, Torrent>
  /** The keys that were loaded, in order. */
  readonly loads: string[]
  /** Puts a torrent into the source under each of these keys. */
  readonly put: (name: string, ...keys: string[]) => Torrent
  readonly cacheWith: (options: Partial<LookupCacheOptions<string, Torrent>>) => LookupCache<string, Torrent>
  /** Has loads wait until the returned function is called, with a reason to fail them. */
  readonly holdLoads: () => (failure?: Error) => void
  /** Loads that begin from now on do not wait. */
  readonly releaseLoads: () => void
  /** Empties the source and forgets the loads. The clock continues. */
  readonly reset: () => void
}

export function createTorrentSource(): TorrentSource {
  const clock = { time: 1_000, now: () => clock.time }
  const source = new Map<string, Torrent>()
  const loads: string[] = []
  /** Loads wait for this promise. If it rejects, the source is unavailable. */
  let gate = Promise.resolve()

  return {
    clock,
    source,
    loads,
    put(name, ...keys) {
      const torrent = { name, keys }
      for (const key of keys) source.set(key, torrent)
      return torrent
    },
    cacheWith: (options) =>
      createLookupCache<string, Torrent>({
        load: async (key) => {
          loads.push(key)
          const found = source.get(key)
          await gate
          return found
        },
        clock,
        maxValues: 100,
        maxAbsences: 100,
        valueTtlMs: 60_000,
        absenceTtlMs: 1_000,
        serveStale: false,
        keysOf: (torrent) => torrent.keys,
        ...options,
      }),
    holdLoads() {
      let open: (failure?: Error) => void = () => undefined
      gate = new Promise((resolve, reject) => {
        open = (failure) => (failure === undefined ? resolve() : reject(failure))
      })
      gate.catch(() => undefined)
      return open
    },
    releaseLoads() {
      gate = Promise.resolve()
    },
    reset() {
      source.clear()
      loads.length = 0
      gate = Promise.resolve()
    },
  }
}
