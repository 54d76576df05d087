import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startRedis, temporaryFolder, testRedis } from 'dev-env'
import express, { type RequestHandler } from 'express'
import type { Redis } from 'ioredis'
import { healthRoutes } from '../src/health.ts'
import { createLogger } from '../src/logger.ts'
import { createMetrics } from '../src/metrics.ts'
import { createRateLimit } from '../src/rate-limit.ts'
import { closeRedis, connectRedis } from '../src/redis.ts'

const logger = createLogger({ name: 'test', level: 'silent' })
let redis: Redis

beforeAll(async () => {
  redis = await connectRedis({ url: (await testRedis()).url, name: 'test', logger })
})
afterAll(() => closeRedis(redis))

async function serving(...handlers: RequestHandler[]): Promise<{ url: string; [Symbol.dispose]: () => void }> {
  const app = express()
  for (const handler of handlers) app.use(handler)
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening))
  })
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    [Symbol.dispose]: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function limiter(store: Redis, limit: number, whenRedisIsAway: 'allow' | 'refuse', name = 'test'): RequestHandler {
  return createRateLimit({
    name,
    redis: store,
    limit,
    windowMs: 60_000,
    keyOf: (request) => request.get('x-who') ?? 'nobody',
    refuse: (_request, response) => void response.status(429).json({ error: 'rate_limited' }),
    whenRedisIsAway,
    logger,
  })
}

const hello: RequestHandler = (_request, response) => void response.send('hello')

test('a limit is shared by all replicas and counted apart for each key', async () => {
  using one = await serving(limiter(redis, 2, 'refuse', 'shared'), hello)
  using two = await serving(limiter(redis, 2, 'refuse', 'shared'), hello)
  expect((await fetch(one.url, { headers: { 'x-who': 'a' } })).status).toBe(200)
  expect((await fetch(two.url, { headers: { 'x-who': 'a' } })).status).toBe(200)
  const refused = await fetch(one.url, { headers: { 'x-who': 'a' } })
  expect(refused.status).toBe(429)
  expect(await refused.json()).toEqual({ error: 'rate_limited' })
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(refused.headers.get('ratelimit')).toContain('r=0')
  expect((await fetch(two.url, { headers: { 'x-who': 'b' } })).status).toBe(200)
})

test('a limit of 0 is no limit', async () => {
  using server = await serving(limiter(redis, 0, 'refuse', 'off'), hello)
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await fetch(server.url)).status))
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test('which way a limit fails without Redis is what it was told', async () => {
  const own = await startRedis({ dataDir: temporaryFolder('kit'), durable: false })
  const store = await connectRedis({ url: own.url, name: 'test', logger, commandTimeout: 200 })
  using open = await serving(limiter(store, 1, 'allow', 'open'), hello)
  using closed = await serving(
    limiter(store, 1, 'refuse', 'closed'),
    hello,
    ((_error, _request, response, _next) =>
      void response.status(503).end()) as express.ErrorRequestHandler as unknown as RequestHandler,
  )
  expect([(await fetch(open.url)).status, (await fetch(closed.url)).status]).toEqual([200, 200])
  await own.kill()
  expect([(await fetch(open.url)).status, (await fetch(closed.url)).status]).toEqual([200, 503])
  store.disconnect()
})

test('health never asks anything, readiness asks everything and names what failed', async () => {
  const stopping = new AbortController()
  let postgres: () => Promise<void> = () => Promise.resolve()
  const metrics = createMetrics()
  using server = await serving(
    healthRoutes({
      checks: { postgres: () => postgres(), redis: () => Promise.resolve() },
      stopping: stopping.signal,
      logger,
      metrics: metrics.handler,
    }),
  )
  const ready = async (): Promise<unknown[]> => {
    const response = await fetch(`${server.url}/ready`)
    return [response.status, await response.json()]
  }
  expect(await ready()).toEqual([200, { ok: true, checks: { postgres: 'ok', redis: 'ok' } }])
  postgres = () => Promise.reject(new Error('away'))
  expect(await ready()).toEqual([503, { ok: false, checks: { postgres: 'failed', redis: 'ok' } }])
  expect(await (await fetch(`${server.url}/health`)).json()).toEqual({ ok: true })
  postgres = () => Promise.resolve()
  stopping.abort()
  expect(await ready()).toEqual([503, { ok: false, checks: { postgres: 'ok', redis: 'ok' } }])
})

test('requests are measured by route pattern, whatever they name', async () => {
  const metrics = createMetrics()
  const router = express.Router()
  router.get('/items/:id', hello)
  using server = await serving(
    metrics.middleware,
    router,
    ((_request, response) => void response.status(404).end()) as RequestHandler,
  )
  await fetch(`${server.url}/items/canary-1`)
  await fetch(`${server.url}/items/canary-2`)
  await fetch(`${server.url}/canary-3`, { method: 'PROPFIND' }).catch(() => undefined)
  const text = await metrics.registry.metrics()
  expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/items/:id",status="200"} 2')
  expect(text).toContain('http_request_duration_seconds_count{method="other",route="unmatched",status="404"} 1')
  expect(text).not.toContain('canary')
})
