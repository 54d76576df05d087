import { beforeEach, describe, expect, test } from '@jest/globals'
import { createTorrentSource, type Torrent } from '../../tests/support/torrent-source.ts'
import { batchedLoader, type LookupCache } from './cache.ts'

const { source, loads, put, cacheWith, holdLoads, releaseLoads, reset } = createTorrentSource()

beforeEach(reset)

describe.each([true, false])('a cache (serves stale entries: %s)', (serveStale) => {
  let cache: LookupCache<string, Torrent>

  beforeEach(() => {
    cache = cacheWith({ serveStale })
  })

  test('returns cached values and absences synchronously', async () => {
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

  test('does not keep a deleted value', async () => {
    put('a', 'a')
    await cache.get('a')
    source.clear()
    cache.forget('a')
    expect(await cache.get('a')).toBeUndefined()
  })

  test('does not cache a load that was in progress when its key was forgotten', async () => {
    const open = holdLoads()
    const early = cache.get('a')
    const torrent = put('a', 'a')
    cache.forget('a')
    open()
    expect(await early).toBeUndefined()
    expect(await cache.get('a')).toBe(torrent)
  })

  test('starts a new load for a lookup after forget', async () => {
    const open = holdLoads()
    const early = cache.get('a')
    const torrent = put('a', 'a')
    cache.forget('a')
    const late = cache.get('a')
    open()
    expect([await early, await late]).toEqual([undefined, torrent])
  })

  test('does not cache a load that was in progress when changes may have been missed', async () => {
    const open = holdLoads()
    const early = cache.get('a')
    cache.revalidateAll()
    open()
    await early
    expect(cache.get('a')).toBeInstanceOf(Promise)
  })

  test('reloads from the source and caches the result', async () => {
    expect(await cache.get('a')).toBeUndefined()
    const torrent = put('a', 'a')
    expect(await cache.reload('a')).toBe(torrent)
    expect(cache.get('a')).toBe(torrent)
    source.clear()
    expect(await cache.reload('a')).toBeUndefined()
    expect(cache.get('a')).toBeUndefined()
    expect(loads).toEqual(['a', 'a', 'a'])
  })

  test('reloads without joining a load in progress, which may have started before a change', async () => {
    const open = holdLoads()
    const early = cache.get('a')
    const torrent = put('a', 'a')
    const reloaded = cache.reload('a')
    open()
    expect([await early, await reloaded]).toEqual([undefined, torrent])
  })

  test('passes the failure of a load on, and loads again at the next lookup', async () => {
    const torrent = put('a', 'a')
    const fail = holdLoads()
    const lookup = cache.get('a')
    fail(new Error('the source is unavailable'))
    await expect(lookup).rejects.toThrow('the source is unavailable')
    releaseLoads()
    expect(await cache.get('a')).toBe(torrent)
  })
})

describe('the contents of a cache', () => {
  test('is bounded, and evicts the least recently used value first', async () => {
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

  test('is bounded by the sizes of its values', async () => {
    const cache = cacheWith({ maxValues: 3, sizeOf: ({ name }) => name.length })
    for (const name of ['a', 'bb', 'cc']) {
      put(name, name)
      await cache.get(name)
    }
    expect(cache.get('cc')).toMatchObject({ name: 'cc' })
    expect(cache.get('bb')).toBeInstanceOf(Promise)
  })

  test('does not evict a value for any number of unknown keys', async () => {
    const cache = cacheWith({})
    const torrent = put('a', 'a')
    await cache.get('a')
    for (let i = 0; i < 1_000; i++) await cache.get(`guess ${i}`)
    expect(cache.get('a')).toBe(torrent)
    expect(cache.get('guess 999')).toBeUndefined()
    expect(cache.get('guess 0')).toBeInstanceOf(Promise)
  })

  test('stores copies of keys if asked to', async () => {
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
      if (keys.includes('bad')) return Promise.reject(new Error('the source is unavailable'))
      return Promise.resolve(new Map(keys.filter((key) => key !== 'unknown').map((key) => [key, key.toUpperCase()])))
    },
    { concurrency: 1, maxBatchSize: 500, lingerMs: 1, isReady: () => false },
  )

  beforeEach(() => {
    batches.length = 0
  })

  test('reads keys requested at the same time in one call', async () => {
    expect(await Promise.all([load('a'), load('unknown'), load('b')])).toEqual(['A', undefined, 'B'])
    expect(batches).toEqual([['a', 'unknown', 'b']])
  })

  test('fails every key of a read that failed', async () => {
    const results = await Promise.allSettled([load('a'), load('bad')])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})
