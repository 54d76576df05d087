import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { sourceArguments, startRedis, temporaryFolder, testRedis } from '@vault-and-tracker/dev-env'
import { createLogger } from '../src/logger.ts'
import { closeRedis, connectRedis, pingRedis, warnOfEviction } from '../src/redis.ts'
import { isRedisUnavailable, isUnavailable } from '../src/unavailable.ts'

const logger = createLogger({ name: 'test', level: 'silent' })

test('a connection answers and can be given back', async () => {
  const redis = await connectRedis({ url: (await testRedis()).url, name: 'test', logger })
  await pingRedis(redis)
  expect(await redis.set('k', 'v')).toBe('OK')
  await closeRedis(redis)
  await expect(pingRedis(redis)).rejects.toThrow('redis is unavailable')
})

test('the methods of strings are as fast as without ioredis', async () => {
  const module = fileURLToPath(new URL('../src/redis.ts', import.meta.url))
  const { url } = await testRedis()
  const program = `
    const { connectRedis, closeRedis } = await import(${JSON.stringify(module)})
    const before = %HasFastProperties(String.prototype)
    const logger = { warn: () => undefined }
    await closeRedis(await connectRedis({ url: ${JSON.stringify(url)}, name: 'test', logger }))
    console.log(before, %HasFastProperties(String.prototype))`
  const [, loader = ''] = sourceArguments(module)
  const args = ['--allow-natives-syntax', '--import', loader, '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '' } })
  // `true` first would say that connecting need not do this any more.
  expect(stdout).toBe('false true\n')
})

test('a command that is wrong does not count as unavailable', async () => {
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

test('a Redis that stays frozen is given up, so that nothing queues up for it', async () => {
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

test('commands of one turn reach Redis in one piece, each answered, when writes are gathered', async () => {
  const { url } = await testRedis()
  const pieces: string[] = []
  const proxy = createServer((client) => {
    const upstream = connect({ host: new URL(url).hostname, port: Number(new URL(url).port) })
    client.on('data', (piece) => pieces.push(piece.toString()))
    client.pipe(upstream).pipe(client)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const through = new URL(url)
  through.port = String((proxy.address() as AddressInfo).port)
  for (const corkWrites of [true, false]) {
    const redis = await connectRedis({ url: through.href, name: 'test', logger, corkWrites })
    pieces.length = 0
    const texts = Array.from({ length: 20 }, (_, i) => `text ${String(i)}`)
    expect(await Promise.all(texts.map((text) => redis.echo(text)))).toEqual(texts)
    expect(await redis.echo('later')).toBe('later')
    const whole = pieces.filter((piece) => texts.every((text) => piece.includes(`\r\n${text}\r\n`)))
    expect([corkWrites, whole.length]).toEqual([corkWrites, corkWrites ? 1 : 0])
    await closeRedis(redis)
  }
  proxy.close()
})

test('a Redis that evicts keys is warned of', async () => {
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

test('a Redis that never answers ends the start with an error', async () => {
  const connecting = connectRedis({ url: 'redis://127.0.0.1:1', name: 'test', logger })
  await expect(connecting).rejects.toThrow('redis is unavailable')
})
