import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  removeTemporaryFolder,
  type SentinelGroup,
  startRedisWithSentinels,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { createLogger } from '../src/log/logger.ts'
import { closeRedis, connectRedis } from '../src/redis/connection.ts'
import { subscribeToChannel } from '../src/redis/subscription.ts'

const logger = createLogger({ name: 'test', level: 'silent' })

let folder: string
let group: SentinelGroup

beforeAll(async () => {
  folder = temporaryFolder('sentinel')
  group = await startRedisWithSentinels({ folder, replicas: 1, durable: false })
})
afterAll(async () => {
  await group.stop()
  removeTemporaryFolder(folder)
})

test('a connection and a subscription use the master that Sentinel names, even if the first sentinel is down', async () => {
  const url = group.url.replace('127.0.0.1:', '127.0.0.1:9,127.0.0.1:')
  const redis = await connectRedis({ url: `${url}/5`, name: 'test', logger })
  expect(await redis.set('k', 'v')).toBe('OK')
  expect(await redis.config('GET', 'port')).toEqual(['port', String((await group.master()).port)])

  const messages: string[] = []
  const subscription = await subscribeToChannel({
    ...{ url: `${url}/5`, name: 'test', logger, channel: (database) => `channel-${String(database)}` },
    onMessage: (message) => void messages.push(message),
    onMissed: () => undefined,
  })
  await redis.publish('channel-5', 'hello')
  await eventually(() => messages.includes('hello'))
  subscription.close()
  await closeRedis(redis)
})

test('a client follows to a replica that becomes the master, which has the functions of the old one', async () => {
  const redis = await connectRedis({ url: group.url, name: 'test', logger })
  await redis.call('FUNCTION', 'LOAD', "#!lua name=kit\nredis.register_function('kit', function() return 7 end)")
  await redis.set('kept', 'yes')
  await redis.wait(1, 0)
  await group.failOver()
  const port = String((await group.master()).port)
  await eventually(async () => String(await redis.config('GET', 'port').catch(() => '')) === `port,${port}`)
  expect([await redis.get('kept'), await redis.fcall('kit', 0)]).toEqual(['yes', 7])
  await closeRedis(redis)
})
