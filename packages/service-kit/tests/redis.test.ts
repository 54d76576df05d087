import { expect, test } from '@jest/globals'
import { startRedis, temporaryFolder, testRedis } from '@vault-and-tracker/dev-env'
import { isRedisUnavailable, isUnavailable } from '../src/core/unavailable.ts'
import { createLogger } from '../src/log/logger.ts'
import { closeRedis, connectRedis, pingRedis, warnOfEviction } from '../src/redis/connection.ts'

const logger = createLogger({ name: 'test', level: 'silent' })

test('a connection responds and can be closed', async () => {
  const redis = await connectRedis({ url: (await testRedis()).url, name: 'test', logger })
  await pingRedis(redis)
  expect(await redis.set('k', 'v')).toBe('OK')
  await closeRedis(redis)
  await expect(pingRedis(redis)).rejects.toThrow('redis is unavailable')
})

test('an invalid command does not count as unavailable', async () => {
  const redis = await connectRedis({ url: (await testRedis()).url, name: 'test', logger })
  await redis.set('text', 'x')
  expect(isRedisUnavailable(await redis.incr('text').catch((error: unknown) => error))).toBe(false)
  await expect(redis.incr('text')).rejects.toThrow('not an integer')
  await closeRedis(redis)
})

test('commands fail at once while Redis is stopped or frozen, and work again when it is back', async () => {
  const server = await startRedis({ dataDir: temporaryFolder('kit'), durable: false })
  const redis = await connectRedis({ url: server.url, name: 'test', logger, commandTimeout: 200 })
  await pingRedis(redis)

  server.pause()
  expect(isRedisUnavailable(await redis.get('k').catch((error: unknown) => error))).toBe(true)
  server.resume()
  await pingRedis(redis)

  await server.kill()
  expect(isRedisUnavailable(await redis.get('k').catch((error: unknown) => error))).toBe(true)
  expect(isUnavailable(await redis.get('k').catch((error: unknown) => error))).toBe(true)
  const ready = new Promise((resolve) => redis.once('ready', resolve))
  await server.restart()
  await ready
  await pingRedis(redis)
  await closeRedis(redis)
  await server.stop()
})

test('the connection to a frozen Redis is closed, so that no commands queue up', async () => {
  const server = await startRedis({ dataDir: temporaryFolder('kit'), durable: false })
  const redis = await connectRedis({ url: server.url, name: 'test', logger, commandTimeout: 200 })
  server.pause()
  const frozenAt = Date.now()
  while (Date.now() - frozenAt < 1_000) await redis.incr('during').catch(() => undefined)
  // Not 'Command timed out': it was not sent.
  await expect(redis.get('k')).rejects.toThrow("Stream isn't writeable")
  const ready = new Promise((resolve) => redis.once('ready', resolve))
  server.resume()
  await ready
  await pingRedis(redis)
  await closeRedis(redis)
  await server.stop()
})

test('a Redis that evicts keys causes a warning', async () => {
  const server = await startRedis({ dataDir: temporaryFolder('kit'), durable: false })
  const redis = await connectRedis({ url: server.url, name: 'test', logger })
  const lines: string[] = []
  const listening = createLogger({
    name: 'test',
    level: 'warn',
    destination: { write: (line) => void lines.push(line) },
  })
  await warnOfEviction(redis, listening)
  expect(lines).toEqual([])
  await redis.config('SET', 'maxmemory-policy', 'volatile-lru')
  await warnOfEviction(redis, listening)
  expect(lines).toEqual([expect.stringContaining('maxmemory-policy noeviction')])
  await closeRedis(redis)
  await server.stop()
})

test('a Redis that never responds ends the start with an error', async () => {
  const connecting = connectRedis({ url: 'redis://127.0.0.1:1', name: 'test', logger })
  await expect(connecting).rejects.toThrow('redis is unavailable')
})
