import {
  createTestClock,
  createTestDatabase,
  type TestClock,
  type TestDatabase,
  type TestRedis,
  testRedis,
  withClient,
} from '@vault-and-tracker/dev-env'
import { listen } from '@vault-and-tracker/service-kit/http-server'
import { createLogger } from '@vault-and-tracker/service-kit/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres'
import { connectRedis } from '@vault-and-tracker/service-kit/redis'
import type { Redis } from 'ioredis'
import { createHttpServer } from '../../src/app.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { type Context, createContext } from '../../src/context.ts'
import { migrate } from '../../src/db/migrations.ts'
import type { Db, Schema } from '../../src/db/schema.ts'
import { type Client, createClient } from './client.ts'

/** A tracker of its own: a fresh database, an empty Redis, a free port, a clock that tests move. */
export type TestTracker = {
  readonly url: string
  readonly context: Context
  readonly config: Config
  /** Connections of the test's own, to look behind the scenes. */
  readonly db: Db
  readonly redisClient: Redis
  readonly database: TestDatabase
  readonly redis: TestRedis
  /** Everything that was logged so far. */
  logged(): string
  advance(ms: number): void
  /** From here on the clock moves by `advance` only. */
  holdClock: TestClock['hold']
  /** A browser-like client without a session. */
  client(): Client
  /** A client signed in as a new user. */
  signedIn(username: string, role?: 'member' | 'moderator' | 'admin'): Promise<Client>
  /** Runs a statement as superuser, to look behind the scenes. */
  sql(statement: string, parameters?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
  stop(): Promise<void>
}

export const PASSWORD = 'correct horse battery'

/** The limits are off unless a test is about them. `servers` are for tests that stop or freeze theirs. */
export async function startTracker(
  env: Readonly<Record<string, string>> = {},
  servers: { postgres?: { url: string }; redisUrl?: string } = {},
): Promise<TestTracker> {
  const database = await trackerDatabase(servers.postgres)
  const redis = await testRedis()
  const lines: string[] = []
  const clock = createTestClock()
  const config = readConfig({
    DATABASE_URL: database.appUrl,
    REDIS_URL: servers.redisUrl ?? redis.url,
    PUBLIC_URL: 'http://tracker.test',
    REST_READ_LIMIT: '0',
    REST_WRITE_LIMIT: '0',
    AUTH_LIMIT: '0',
    ...env,
  })
  const destination = { write: (line: string) => void lines.push(line) }
  const logger = createLogger({ name: 'tracker', level: 'debug', destination })
  const context = await createContext({ config, logger, clock })
  const server = createHttpServer(context, { logger, stopping: new AbortController().signal })
  const running = await listen(server, { host: env['HOST'] ?? '127.0.0.1', port: Number(env['PORT'] ?? 0) })
  const url = `http://127.0.0.1:${running.port}`
  const db = createKysely<Schema>(createPool({ url: config.DATABASE_URL, name: 'test', size: 2, logger }))
  const redisClient = await connectRedis({ url: config.REDIS_URL, name: 'test', logger })

  return {
    url,
    context,
    config,
    db,
    redisClient,
    database,
    redis,
    logged: () => lines.join(''),
    advance: clock.advance,
    holdClock: clock.hold,
    client: () => createClient(url),
    async signedIn(username, role = 'member') {
      await context.useCases.accounts.create({ username, email: `${username}@example.org`, password: PASSWORD, role })
      const client = createClient(url)
      const answer = await client.post('/api/auth/login', { username, password: PASSWORD })
      if (answer.status !== 200) throw new Error(`could not sign in: ${answer.text}`)
      return client
    },
    sql: (statement, parameters = []) =>
      withClient(database.adminUrl, async (client) => {
        const result = await client.query<Record<string, unknown>>(statement, [...parameters])
        return result.rows
      }),
    async stop() {
      await Promise.all([running.drain(), context.announceEngine.sockets?.drain()])
      await context.close()
      redisClient.disconnect()
      await db.destroy()
      await database.drop()
    },
  }
}

/** A migrated database, with the two roles of production; on the run's server unless another is given. */
function trackerDatabase(server?: { url: string }): Promise<TestDatabase> {
  return createTestDatabase({
    service: 'tracker',
    ...(server && { server }),
    migrate: async (target) => {
      await migrate(target)
    },
  })
}
