import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { removeTemporaryFolder, startRedis, temporaryFolder, testRedis } from '@vault-and-tracker/dev-env'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { Redis } from 'ioredis'
import request from 'supertest'
import { ApiError } from '../src/core/errors.ts'
import { healthRoutes } from '../src/http/health.ts'
import { createRateLimit } from '../src/http/rate-limit.ts'
import { createLogger } from '../src/log/logger.ts'
import { createMetrics } from '../src/metrics/registry.ts'
import { closeRedis, connectRedis } from '../src/redis/connection.ts'

const logger = createLogger({ name: 'test', level: 'silent' })
let redis: Redis

beforeAll(async () => {
  redis = await connectRedis({ url: (await testRedis()).url, name: 'test', logger })
})
afterAll(() => closeRedis(redis))

function appOf(...handlers: (RequestHandler | ErrorRequestHandler)[]): Express {
  const app = express()
  for (const handler of handlers) app.use(handler)
  return app
}

function limiter(
  store: Redis,
  limit: number,
  whenRedisIsUnavailable: 'allow' | 'refuse',
  name = 'test',
): RequestHandler {
  const count = createRateLimit({
    name,
    redis: store,
    limit,
    windowMs: 60_000,
    createError: () => new ApiError('rate_limited', 'too many requests'),
    whenRedisIsUnavailable,
    logger,
  })
  return (request, response, next) => {
    count(request.get('x-who') ?? 'nobody', request, response).then(() => next(), next)
  }
}

const refused: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (error instanceof ApiError) response.status(429).json({ error: 'rate_limited' })
  else next(error)
}

const hello: RequestHandler = (_request, response) => void response.send('hello')

test('a limit is shared by all replicas and counted per key', async () => {
  const one = appOf(limiter(redis, 2, 'refuse', 'shared'), hello, refused)
  const two = appOf(limiter(redis, 2, 'refuse', 'shared'), hello, refused)
  await request(one).get('/').set('x-who', 'a').expect(200)
  await request(two).get('/').set('x-who', 'a').expect(200)
  await request(one)
    .get('/')
    .set('x-who', 'a')
    .expect(429, { error: 'rate_limited' })
    .expect('retry-after', /^\d+$/)
    .expect('ratelimit', /r=0/)
  await request(two).get('/').set('x-who', 'b').expect(200)
})

test('a limit of 0 is no limit', async () => {
  const app = appOf(limiter(redis, 0, 'refuse', 'off'), hello)
  for (let i = 0; i < 20; i++) await request(app).get('/').expect(200)
})

const unavailable: ErrorRequestHandler = (_error, _request, response, _next) => void response.status(503).end()

test('without Redis, a limit allows or refuses as configured', async () => {
  const own = await startRedis({ dataDir: temporaryFolder('kit'), durable: false })
  const store = await connectRedis({ url: own.url, name: 'test', logger, commandTimeout: 200 })
  const open = appOf(limiter(store, 1, 'allow', 'open'), hello)
  const closed = appOf(limiter(store, 1, 'refuse', 'closed'), hello, unavailable)
  await request(open).get('/').expect(200)
  await request(closed).get('/').expect(200)
  await own.kill()
  await request(open).get('/').expect(200)
  await request(closed).get('/').expect(503)
  store.disconnect()
})

test('a limit works again when Redis is back, even if it could not load its script before', async () => {
  const folder = temporaryFolder('limit-recovery')
  const own = await startRedis({ dataDir: folder, durable: false })
  const store = await connectRedis({ url: own.url, name: 'test', logger })
  await own.kill()
  const app = appOf(limiter(store, 5, 'refuse'), hello, unavailable)
  await request(app).get('/').expect(503)
  await own.restart()
  if (store.status !== 'ready') await once(store, 'ready')
  await request(app).get('/').expect(200)
  // A restarted Redis has lost the script.
  await own.restart()
  if (store.status !== 'ready') await once(store, 'ready')
  await request(app).get('/').expect(200)
  store.disconnect()
  await own.stop()
  removeTemporaryFolder(folder)
})

test('health runs no checks, readiness runs all of them and names the failed ones', async () => {
  const stopping = new AbortController()
  let postgres: () => Promise<void> = () => Promise.resolve()
  const app = appOf(
    healthRoutes({
      checks: { postgres: () => postgres(), redis: () => Promise.resolve() },
      stopping: stopping.signal,
      logger,
      methodNotAllowed: () => new Error('not with this method'),
      metrics: createMetrics().handler,
    }),
  )
  await request(app)
    .get('/ready')
    .expect(200, { ok: true, checks: { postgres: 'ok', redis: 'ok' } })
  postgres = () => Promise.reject(new Error('unavailable'))
  await request(app)
    .get('/ready')
    .expect(503, { ok: false, checks: { postgres: 'failed', redis: 'ok' } })
  await request(app).get('/health').expect(200, { ok: true })
  postgres = () => Promise.resolve()
  stopping.abort()
  await request(app)
    .get('/ready')
    .expect(503, { ok: false, checks: { postgres: 'ok', redis: 'ok' } })
})

test('requests are measured by route pattern', async () => {
  const metrics = createMetrics()
  const router = express.Router()
  router.get('/items/:id', hello)
  const unknown: RequestHandler = (_request, response) => void response.status(404).end()
  const app = appOf(metrics.middleware, router, unknown)
  await request(app).get('/items/canary-1').expect(200)
  await request(app).get('/items/canary-2').expect(200)
  await request(app).propfind('/canary-3').expect(404)
  const text = await metrics.registry.metrics()
  expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/items/:id",status="200"} 2')
  expect(text).toContain('http_request_duration_seconds_count{method="other",route="unmatched",status="404"} 1')
  expect(text).not.toContain('canary')
})
