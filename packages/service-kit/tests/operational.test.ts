import { EventEmitter, once } from 'node:events'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  createTestDatabase,
  eventually,
  startRedis,
  type TestDatabase,
  temporaryFolder,
  withClient,
} from '@vault-and-tracker/dev-env'
import { Registry } from 'prom-client'
import { readVersion } from '../src/config/env.ts'
import { createLogger } from '../src/log/logger.ts'
import {
  createBuildMetrics,
  createPoolMetrics,
  createReadinessMetrics,
  createRedisMetrics,
} from '../src/metrics/operational.ts'
import { createPool } from '../src/postgres/pool.ts'
import { connectRedis } from '../src/redis/connection.ts'

const logger = createLogger({ name: 'test', level: 'silent' })
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase({ service: 'kit', migrate: () => Promise.resolve() })
})
afterAll(() => database.drop())

/** The lines of a metric, without its description. */
async function linesOf(registry: Registry, name: string): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith(name))
}

test('the build is reported as labels', async () => {
  const registry = new Registry()
  const version = readVersion(new URL('../package.json', import.meta.url))
  createBuildMetrics(registry, { service: 'vault', version, revision: 'a1b2c3d' })
  expect(await linesOf(registry, 'service_build_info')).toEqual([
    `service_build_info{service="vault",version="${version}",revision="a1b2c3d"} 1`,
  ])
  expect(version).toMatch(/^\d+\.\d+\.\d+$/)
})

test('readiness checks pass, fail, or hang; a hanging check counts as failed and is not started twice', async () => {
  const registry = new Registry()
  let started = 0
  const hanging = new EventEmitter()
  const released = once(hanging, 'released')
  createReadinessMetrics(registry, {
    good: () => Promise.resolve(),
    bad: () => Promise.reject(new Error('away')),
    slow: async () => {
      started += 1
      await released
    },
  })
  const [first, second] = await Promise.all([linesOf(registry, 'service_ready'), linesOf(registry, 'service_ready')])
  expect(first.toSorted()).toEqual([
    'service_ready{check="bad"} 0',
    'service_ready{check="good"} 1',
    'service_ready{check="slow"} 0',
  ])
  expect([second, started]).toEqual([first, 1])
  hanging.emit('released')
  expect(await linesOf(registry, 'service_ready')).toContain('service_ready{check="slow"} 1')
})

test('reports used and idle connections, and waiting queries', async () => {
  const registry = new Registry()
  const pool = createPool({ url: database.appUrl, name: 'test', size: 2, logger })
  createPoolMetrics(registry, pool, 2)
  await pool.query('select 1')
  expect(await linesOf(registry, 'postgres_pool')).toEqual([
    'postgres_pool_connections{state="used"} 0',
    'postgres_pool_connections{state="idle"} 1',
    'postgres_pool_max_connections 2',
    'postgres_pool_waiting 0',
  ])
  await withClient(database.adminUrl, async (holder) => {
    await holder.query('select pg_advisory_lock(14)')
    const queries = Array.from({ length: 5 }, () => pool.query('select pg_advisory_lock_shared(14)'))
    await eventually(() => pool.waitingCount === 3)
    expect(await linesOf(registry, 'postgres_pool')).toEqual([
      'postgres_pool_connections{state="used"} 2',
      'postgres_pool_connections{state="idle"} 0',
      'postgres_pool_max_connections 2',
      'postgres_pool_waiting 3',
    ])
    await holder.query('select pg_advisory_unlock(14)')
    await Promise.all(queries)
  })
  await pool.end()
})

test('reports the memory of Redis while it responds, without its address', async () => {
  const registry = new Registry()
  const server = await startRedis({ dataDir: temporaryFolder('kit-metrics'), durable: false })
  const redis = await connectRedis({ url: server.url, name: 'test', logger })
  createRedisMetrics(registry, { main: redis })
  await redis.config('SET', 'maxmemory', '50mb')
  const lines = await linesOf(registry, 'redis_')
  expect(lines).toEqual([
    expect.stringMatching(/^redis_memory_used_bytes\{redis="main"\} \d{6,}$/),
    'redis_memory_max_bytes{redis="main"} 52428800',
    'redis_append_only_file_ok{redis="main"} 1',
  ])
  expect(await registry.metrics()).not.toContain(new URL(server.url).password)
  await server.stop()
  expect(await linesOf(registry, 'redis_')).toEqual([])
  redis.disconnect()
})
