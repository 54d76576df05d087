import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { createTorrentSource, type Torrent } from '../../tests/support/torrent-source.ts'
import type { LookupCache } from './cache.ts'

const { source, loads, clock, put, cacheWith, holdLoads, releaseLoads, reset } = createTorrentSource()

beforeEach(reset)

describe('a cache that waits for the new value', () => {
  test('reloads values and absences after their own times to live', async () => {
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

  test('never falls back to the old value when the load fails', async () => {
    const cache = cacheWith({})
    put('a', 'a')
    await cache.get('a')
    clock.time += 60_000
    for (let i = 0; i < 2; i++) {
      const fail = holdLoads()
      const lookup = cache.get('a')
      fail(new Error('the source is unavailable'))
      await expect(lookup).rejects.toThrow('the source is unavailable')
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

  test('removes stale entries from memory with dropStale', async () => {
    put('old', 'a')
    put('young', 'b')
    await cache.get('a')
    clock.time += 59_999
    await cache.get('b')
    cache.dropStale()
    expect(cache.get('a')).toMatchObject({ name: 'old' })
    clock.time += 1
    cache.dropStale()
    expect(cache.get('a')).toBeInstanceOf(Promise)
    expect(cache.get('b')).toMatchObject({ name: 'young' })
  })

  test('serves the old value while the source is unavailable, and retries every two seconds', async () => {
    const old = put('old', 'a')
    await cache.get('a')
    clock.time += 60_000
    loads.length = 0
    holdLoads()(new Error('the source is unavailable'))
    for (let i = 0; i < 8; i++) {
      expect(cache.get('a')).toBe(old)
      await turn()
      clock.time += 500
    }
    expect(loads).toEqual(['a', 'a'])
    releaseLoads()
    const changed = put('changed', 'a')
    void cache.get('a')
    await turn()
    expect(cache.get('a')).toBe(changed)
  })

  test('waits another two seconds after a load that took longer than that to fail', async () => {
    put('old', 'a')
    await cache.get('a')
    clock.time += 60_000
    loads.length = 0
    const fail = holdLoads()
    void cache.get('a')
    clock.time += 10_000
    fail(new Error('the source is unavailable'))
    await turn()
    void cache.get('a')
    expect(loads).toEqual(['a'])
    clock.time += 2_000
    void cache.get('a')
    expect(loads).toEqual(['a', 'a'])
  })

  test('never serves a forgotten value', async () => {
    put('old', 'a')
    await cache.get('a')
    cache.forget('a')
    const fail = holdLoads()
    const lookup = cache.get('a')
    fail(new Error('the source is unavailable'))
    await expect(lookup).rejects.toThrow('the source is unavailable')
  })
})
