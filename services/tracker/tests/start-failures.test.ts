import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals'
import { eventually, testRedis } from '@vault-and-tracker/dev-env'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { Redis } from 'ioredis'
import pg from 'pg'
import { readConfig } from '../src/config.ts'
import { createContext } from '../src/context.ts'
import { createTrackerDatabase, trackerEnv } from './support/tracker.ts'

const logger = createLogger({ name: 'tracker', level: 'silent' })

let url: URL
let admin: Redis
const user = `limited-${String(process.pid)}`

beforeAll(async () => {
  url = new URL((await testRedis()).url)
  admin = new Redis(url.href)
  url.username = user
  url.password = 'secret'
})
afterEach(async () => {
  await admin.call('ACL', 'DELUSER', user)
  jest.restoreAllMocks()
})
afterAll(() => admin.disconnect())

/** The connections of the limited user to Redis. */
async function connections(): Promise<readonly string[]> {
  const list = String(await admin.client('LIST'))
  return list.split('\n').filter((line) => line.includes(` user=${user} `))
}

test.each([
  ['cannot subscribe to invalidations', ['allchannels', '-subscribe'], 'NOPERM', 1],
  ['cannot subscribe to messages for its sockets', ['&tracker:invalidate:*'], 'NOPERM', 2],
  [
    'cannot tell Redis that it runs',
    ['allchannels', '-sadd'],
    // Redis, or Valkey.
    /can't run this command|no permissions to run the 'sadd' command/,
    2,
  ],
])('a tracker that %s does not start and closes every connection', async (_what, rules, message, pools) => {
  await admin.call('ACL', 'SETUSER', user, 'reset', 'on', '>secret', '~*', '+@all', ...rules)
  const end = jest.spyOn(pg.Pool.prototype, 'end')
  const databaseUrl = 'postgres://tracker_app:secret@127.0.0.1:9/tracker'
  const config = readConfig(trackerEnv({ databaseUrl, redisUrl: url.href }))
  await expect(createContext({ config, logger, clock: systemClock })).rejects.toThrow(message)
  expect(end).toHaveBeenCalledTimes(pools)
  await eventually(async () => (await connections()).length === 0)
})

test.each([
  ['whose database was not migrated', 'drop table users cascade', 'relation "users" does not exist'],
  ['whose role has no rights', 'revoke all on all tables in schema public from ROLE', 'permission denied'],
])('a tracker %s does not start', async (_what, statement, message) => {
  const database = await createTrackerDatabase()
  try {
    const role = pg.escapeIdentifier(new URL(database.appUrl).username)
    const client = new pg.Client({ connectionString: database.adminUrl })
    await client.connect()
    await client.query(statement.replace('ROLE', role))
    await client.end()
    const config = readConfig(trackerEnv({ databaseUrl: database.appUrl, redisUrl: (await testRedis()).url }))
    await expect(createContext({ config, logger, clock: systemClock })).rejects.toThrow(message)
  } finally {
    await database.drop()
  }
})
