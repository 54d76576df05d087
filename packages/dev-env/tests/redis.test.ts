import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { removeTemporaryFolder, startRedis, temporaryFolder, testRedis } from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'

const folder = temporaryFolder('redis-test')
afterAll(() => removeTemporaryFolder(folder))

describe('startRedis', () => {
  it('keeps acknowledged writes over a restart if it is durable', async () => {
    const redis = await startRedis({ dataDir: join(folder, 'kept'), durable: true })
    const client = new Redis(redis.url)
    await client.set('kept', 'yes')
    await redis.restart()
    expect(await client.get('kept')).toBe('yes')
    client.disconnect()
    await redis.stop()
  })

  it('can be paused, and continues', async () => {
    const redis = await startRedis({ dataDir: join(folder, 'frozen'), durable: false })
    const client = new Redis(redis.url)
    await client.ping()
    redis.pause()
    const answer = client.ping()
    const first = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 200, 'silence'))])
    expect(first).toBe('silence')
    redis.resume()
    expect(await answer).toBe('PONG')
    client.disconnect()
    await redis.stop()
  })

  it('refuses connections without its password', async () => {
    const redis = await startRedis({ dataDir: join(folder, 'closed'), durable: false })
    const client = new Redis(redis.port, '127.0.0.1', { enableReadyCheck: false, protocol: 2 })
    await expect(client.get('anything')).rejects.toThrow('NOAUTH')
    client.disconnect()
    await redis.stop()
  })
})

describe('testRedis', () => {
  it('is empty, even after an earlier test file', async () => {
    const first = await testRedis()
    const client = new Redis(first.url)
    await client.set('left', 'behind')
    const second = await testRedis()
    expect(second.url).toBe(first.url)
    expect(await client.dbsize()).toBe(0)
    client.disconnect()
  })
})
