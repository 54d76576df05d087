import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { batchedLoader, createLookupCache, type LookupCache, type LookupCacheOptions } from '../src/cache.ts'

type Torrent = { readonly name: string; readonly keys: readonly string[] }

const clock = { time: 1_000, now: () => clock.time }

/** What the source holds, by key. */
let source: Map<string, Torrent>
let loads: string[]
/** What a load waits for; rejected, the source is away. */
let gate: Promise<void>

beforeEach(() => {
  source = new Map()
  loads = []
  gate = Promise.resolve()
})

function put(name: string, ...keys: string[]): Torrent {
  const torrent = { name, keys }
  for (const key of keys) source.set(key, torrent)
  return torrent
}

function cacheWith(options: Partial<LookupCacheOptions<string, Torrent>>): LookupCache<string, Torrent> {
  return createLookupCache<string, Torrent>({
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
  })
}

/** Has loads wait until the returned function is called, with a reason to fail them. */
function holdLoads(): (failure?: Error) => void {
  let open: (failure?: Error) => void = () => undefined
  gate = new Promise((resolve, reject) => {
    open = (failure) => (failure === undefined ? resolve() : reject(failure))
  })
  gate.catch(() => undefined)
  return open
}

describe.each([true, false])('a cache (serves stale entries: %s)', (serveStale) => {
  let cache: LookupCache<string, Torrent>

  beforeEach(() => {
    cache = cacheWith({ serveStale })
  })

  test('returns what it knows at once, values and absences alike', async () => {
    const torrent = put('a', 'a')
    expect(cache.get('a')).toBeInstanceOf(Promise)
    await cache.get('a')
    await cache.get('unknown')
    expect(cache.get('a')).toBe(torrent)
    expect(cache.get('unknown')).toBeUndefined()
    expect(loads).toEqual(['a', 'unknown'])
  })

  test('shares one load between simultaneous lookups', async () => {
    put('a', 'a')
    await Promise.all(Array.from({ length: 10 }, async () => cache.get('a')))
    expect(loads).toEqual(['a'])
  })

  test('finds a value under each of its keys after one load', async () => {
    const hybrid = put('hybrid', 'v1', 'v2')
    await cache.get('v1')
    expect(cache.get('v2')).toBe(hybrid)
  })

  test('forgets a value under each of its keys', async () => {
    put('hybrid', 'v1', 'v2')
    await cache.get('v1')
    cache.forget('v2')
    expect(cache.get('v1')).toBeInstanceOf(Promise)
    expect(cache.get('v2')).toBeInstanceOf(Promise)
  })

  test('forgets an absence when the value appears under another key', async () => {
    await cache.get('v2')
    const hybrid = put('hybrid', 'v1', 'v2')
    cache.forget('v1')
    expect(await cache.get('v2')).toBe(hybrid)
  })

  test('does not keep a value that was deleted', async () => {
    put('a', 'a')
    await cache.get('a')
    source.clear()
    cache.forget('a')
    expect(await cache.get('a')).toBeUndefined()
  })

  test('does not cache what was being loaded when it was forgotten', async () => {
    const open = holdLoads()
    const early = cache.get('a')
    const torrent = put('a', 'a')
    cache.forget('a')
    open()
    expect(await early).toBeUndefined()
    expect(await cache.get('a')).toBe(torrent)
  })

  test('starts a load of its own for a lookup after forget', async () => {
    const open = holdLoads()
    const early = cache.get('a')
    const torrent = put('a', 'a')
    cache.forget('a')
    const late = cache.get('a')
    open()
    expect([await early, await late]).toEqual([undefined, torrent])
  })

  test('does not cache what was being loaded when changes may have been missed', async () => {
    const open = holdLoads()
    const early = cache.get('a')
    cache.revalidateAll()
    open()
    await early
    expect(cache.get('a')).toBeInstanceOf(Promise)
  })

  test('reloads from the source whatever is cached, and caches the result', async () => {
    expect(await cache.get('a')).toBeUndefined()
    const torrent = put('a', 'a')
    expect(await cache.reload('a')).toBe(torrent)
    expect(cache.get('a')).toBe(torrent)
    source.clear()
    expect(await cache.reload('a')).toBeUndefined()
    expect(cache.get('a')).toBeUndefined()
    expect(loads).toEqual(['a', 'a', 'a'])
  })

  test('reloads without joining a load under way, which may have begun before a change', async () => {
    const open = holdLoads()
    const early = cache.get('a')
    const torrent = put('a', 'a')
    const reloaded = cache.reload('a')
    open()
    expect([await early, await reloaded]).toEqual([undefined, torrent])
  })

  test('hands on the failure of a load, and loads again at the next lookup', async () => {
    const torrent = put('a', 'a')
    const fail = holdLoads()
    const lookup = cache.get('a')
    fail(new Error('the source is away'))
    await expect(lookup).rejects.toThrow('the source is away')
    gate = Promise.resolve()
    expect(await cache.get('a')).toBe(torrent)
  })
})

describe('a cache that waits for the new value', () => {
  test('loads a value again after its time, and an absence after its own', async () => {
    const cache = cacheWith({})
    const torrent = put('a', 'a')
    await cache.get('a')
    await cache.get('unknown')
    clock.time += 999
    expect(cache.get('unknown')).toBeUndefined()
    clock.time += 1
    expect(cache.get('unknown')).toBeInstanceOf(Promise)
    clock.time += 58_999
    expect(cache.get('a')).toBe(torrent)
    clock.time += 1
    source.clear()
    expect(await cache.get('a')).toBeUndefined()
  })

  test('never falls back on the old value when the load fails', async () => {
    const cache = cacheWith({})
    put('a', 'a')
    await cache.get('a')
    clock.time += 60_000
    for (let i = 0; i < 2; i++) {
      const fail = holdLoads()
      const lookup = cache.get('a')
      fail(new Error('the source is away'))
      await expect(lookup).rejects.toThrow('the source is away')
    }
  })

  test('waits for every value when changes may have been missed', async () => {
    const cache = cacheWith({})
    put('a', 'a')
    await cache.get('a')
    const changed = put('changed', 'a')
    cache.revalidateAll()
    expect(await cache.get('a')).toBe(changed)
  })
})

describe('a cache that serves stale entries', () => {
  let cache: LookupCache<string, Torrent>

  beforeEach(() => {
    cache = cacheWith({ serveStale: true, absenceTtlMs: 60_000 })
  })

  test.each(['expired', 'may have changed unnoticed'])(
    'returns an entry that %s while it is loaded again',
    async (why) => {
      const old = put('old', 'a')
      await cache.get('a')
      await cache.get('b')
      const [a, b] = [put('new a', 'a'), put('new b', 'b')]
      if (why === 'expired') clock.time += 60_000
      else cache.revalidateAll()
      expect(cache.get('a')).toBe(old)
      expect(cache.get('b')).toBeUndefined()
      await turn()
      expect(cache.get('a')).toBe(a)
      expect(cache.get('b')).toBe(b)
    },
  )

  test('goes on with the old value while the source is away, and tries again every two seconds', async () => {
    const old = put('old', 'a')
    await cache.get('a')
    clock.time += 60_000
    loads = []
    holdLoads()(new Error('the source is away'))
    for (let i = 0; i < 8; i++) {
      expect(cache.get('a')).toBe(old)
      await turn()
      clock.time += 500
    }
    expect(loads).toEqual(['a', 'a'])
    gate = Promise.resolve()
    const changed = put('changed', 'a')
    void cache.get('a')
    await turn()
    expect(cache.get('a')).toBe(changed)
  })

  test('waits two seconds more after a load that took longer than that to fail', async () => {
    put('old', 'a')
    await cache.get('a')
    clock.time += 60_000
    loads = []
    const fail = holdLoads()
    void cache.get('a')
    clock.time += 10_000
    fail(new Error('the source is away'))
    await turn()
    void cache.get('a')
    expect(loads).toEqual(['a'])
    clock.time += 2_000
    void cache.get('a')
    expect(loads).toEqual(['a', 'a'])
  })

  test('never serves what was forgotten', async () => {
    put('old', 'a')
    await cache.get('a')
    cache.forget('a')
    const fail = holdLoads()
    const lookup = cache.get('a')
    fail(new Error('the source is away'))
    await expect(lookup).rejects.toThrow('the source is away')
  })
})

describe('what a cache keeps', () => {
  test('is bounded, and the least recently used value goes first', async () => {
    const cache = cacheWith({ maxValues: 2 })
    for (const key of ['a', 'b']) {
      put(key, key)
      await cache.get(key)
    }
    put('c', 'c')
    void cache.get('a')
    await cache.get('c')
    expect(cache.get('a')).toMatchObject({ name: 'a' })
    expect(cache.get('b')).toBeInstanceOf(Promise)
  })

  test('does not lose a value to any number of unknown keys', async () => {
    const cache = cacheWith({})
    const torrent = put('a', 'a')
    await cache.get('a')
    for (let i = 0; i < 1_000; i++) await cache.get(`guess ${i}`)
    expect(cache.get('a')).toBe(torrent)
    expect(cache.get('guess 999')).toBeUndefined()
    expect(cache.get('guess 0')).toBeInstanceOf(Promise)
  })

  test('has keys of its own where they are to be copied', async () => {
    const copied: string[] = []
    const cache = cacheWith({
      copyKey: (key) => {
        copied.push(key)
        return key.toLowerCase()
      },
    })
    const torrent = put('a', 'a')
    await cache.get('A')
    expect(loads).toEqual(['a'])
    expect(cache.get('a')).toBe(torrent)
    expect(copied).toEqual(['A'])
  })
})

describe('a batched loader', () => {
  const batches: (readonly string[])[] = []
  const load = batchedLoader(
    (keys: readonly string[]) => {
      batches.push(keys)
      if (keys.includes('bad')) return Promise.reject(new Error('the source is away'))
      return Promise.resolve(new Map(keys.filter((key) => key !== 'unknown').map((key) => [key, key.toUpperCase()])))
    },
    { concurrency: 1, maxBatchSize: 500, lingerMs: 1, isReady: () => false },
  )

  beforeEach(() => {
    batches.length = 0
  })

  test('reads what is asked for at the same time in one call', async () => {
    expect(await Promise.all([load('a'), load('unknown'), load('b')])).toEqual(['A', undefined, 'B'])
    expect(batches).toEqual([['a', 'unknown', 'b']])
  })

  test('fails every key of a read that failed', async () => {
    const results = await Promise.allSettled([load('a'), load('bad')])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})
