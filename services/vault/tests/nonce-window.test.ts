import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { testRedis, withClient } from '@vault-and-tracker/dev-env'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import { Redis } from 'ioredis'
import type { Db, Schema } from '../src/database.ts'
import { createNonces } from '../src/integrity/nonces.redis.ts'
import { createNonceRecord } from '../src/integrity/nonces.store.ts'
import { createVaultDatabase } from './support/vault.ts'

/** Instead of five minutes, to wait for its ends. */
const WINDOW_MS = 1_500

let database: Awaited<ReturnType<typeof createVaultDatabase>>
let db: Db
let redis: Redis

beforeAll(async () => {
  database = await createVaultDatabase()
  const logger = createLogger({ name: 'test', level: 'silent' })
  db = createKysely<Schema>(createPool({ url: database.appUrl, name: 'test', size: 4, logger }))
  redis = new Redis((await testRedis()).url)
})
afterAll(async () => {
  redis.disconnect()
  await db.destroy()
  await database.drop()
})

/** The nonces of a replica. */
async function replica() {
  const store = createNonces(redis, createNonceRecord(db), { onLoss: () => undefined, windowMs: WINDOW_MS })
  await store.open()
  const spend = async (createdMs: number, nonce = newId()) => {
    const [verdict] = await store.spend([{ publicKeyHex: 'key', nonce, created: createdMs / 1000 }])
    return verdict
  }
  return { store, spend }
}

async function redisMs(): Promise<number> {
  const [seconds = 0, microseconds = 0] = await redis.time()
  return seconds * 1000 + Math.floor(microseconds / 1000)
}

test('spends a nonce once during the whole validity of its request, at all replicas', async () => {
  const [one, two] = [await replica(), await replica()]
  const nonce = newId()
  const created = (await redisMs()) + WINDOW_MS
  expect(await one.spend(created, nonce)).toBe('unspent')
  const verdicts: unknown[] = []
  while ((await redisMs()) < created + WINDOW_MS - 10) {
    verdicts.push(await one.spend(created, nonce), await two.spend(created, nonce))
    await sleep(60)
  }
  expect(verdicts.length).toBeGreaterThan(25)
  expect(new Set(verdicts)).toEqual(new Set(['replayed']))
  await sleep(30)
  expect([await one.spend(created, nonce), await two.spend(created, nonce)]).toEqual(['expired', 'expired'])
  const [kept = ''] = await redis.keys(`*${nonce}`)
  expect(await redis.pttl(kept)).toBeGreaterThan(30_000)
})

test('refuses nonces outside the window without spending them', async () => {
  const { spend, store } = await replica()
  const now = await redisMs()
  expect(Math.abs(store.now() - now)).toBeLessThan(1_000)
  const nonce = newId()
  expect([await spend(now - WINDOW_MS - 1, nonce), await spend(now + WINDOW_MS + 1_000, nonce)]).toEqual([
    'expired',
    'expired',
  ])
  expect(await spend(await redisMs(), nonce)).toBe('unspent')
})

test('accepts no request again that was accepted before a loss', async () => {
  const [one, two] = [await replica(), await replica()]
  const now = await redisMs()
  const before = [-WINDOW_MS + 400, -200, 0, 700, WINDOW_MS - 100].map((offset) => ({
    created: now + offset,
    nonce: newId(),
  }))
  for (const { created, nonce } of before) expect(await one.spend(created, nonce)).toBe('unspent')
  await redis.flushdb()
  const again = new Set<unknown>()
  while ((await redisMs()) < now + 2 * WINDOW_MS) {
    for (const { created, nonce } of before)
      again.add(await two.spend(created, nonce)).add(await one.spend(created, nonce))
    await sleep(60)
  }
  expect(again).toEqual(new Set(['replayed', 'expired']))
  for (const { spend } of [two, one]) while ((await spend(await redisMs())) !== 'unspent') await sleep(50)
}, 60_000)

test('accepts requests signed a second after a loss if none were dated ahead', async () => {
  await withClient(database.adminUrl, (client) => client.query('delete from nonce_memory'))
  await redis.flushdb()
  const one = await replica()
  await redis.flushdb()
  const lost = await redisMs()
  expect(await one.spend(lost)).toBe('replayed')
  await sleep(1_050)
  const verdicts: unknown[] = []
  while (verdicts.length < 50 && !verdicts.includes('unspent')) {
    verdicts.push(await one.spend(await redisMs()))
    await sleep(20)
  }
  expect(verdicts).toContain('unspent')
  expect(await one.spend(lost)).toBe('replayed')
})
