import {
  createTestClock,
  createTestDatabase,
  SOURCE_ARGUMENTS,
  type TestClock,
  type TestDatabase,
  testRedis,
} from '@vault-and-tracker/dev-env'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { createResources } from '@vault-and-tracker/service-kit/lifecycle/resources'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import { connectRedis } from '@vault-and-tracker/service-kit/redis/connection'
import type { Redis } from 'ioredis'
import pg from 'pg'
import { changesOf, createFlusher, type FlushResult } from '../../src/accounting/accounting.ts'
import { createAccountingQueue } from '../../src/accounting/accounting-queue.redis.ts'
import { createLedger } from '../../src/accounting/ledger.store.ts'
import { createAccountStore } from '../../src/accounts/accounts.store.ts'
import { type Account, createAccounts, type Role } from '../../src/accounts/accounts.ts'
import { createHttpServer } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { SETTLE_SECONDS } from '../../src/context/announce.ts'
import { connectSwarmRedis, swarmSettings } from '../../src/context/swarms.ts'
import { type Context, createContext } from '../../src/context.ts'
import { migrate } from '../../src/db/migrations.ts'
import type { Db, Schema } from '../../src/db/schema.ts'
import { createInvalidationPublisher } from '../../src/invalidation/invalidation.redis.ts'
import { createRedisFunctions } from '../../src/redis/functions.redis.ts'
import type { CountLimits } from '../../src/search/search-matches.store.ts'
import { createRedisSwarms } from '../../src/swarm/swarm.redis.ts'
import { type Client, createClient } from './client.ts'
import { untilHeard } from './invalidations.ts'

type Env = Readonly<Record<string, string>>

/** A separate tracker: a new database, an empty Redis, a free port, a clock that tests control. */
export type TestTracker = {
  readonly url: string
  readonly context: Context
  readonly database: TestDatabase
  readonly redisUrl: string
  /** Connections of the test's own, to inspect stored data. */
  readonly db: Db
  readonly redisClient: Redis
  /** Everything that was logged so far. */
  logged(): string
  /** The tracker's time, in milliseconds. */
  now(): number
  advance(ms: number): void
  /** From here on the clock moves by `advance` only. */
  holdClock: TestClock['hold']
  /** A browser-like client without a session. */
  client(): Client
  /** Creates a user, whose password is `PASSWORD`. */
  createUser(username: string, role?: Role): Promise<Account>
  /** A client signed in as a new user. */
  signedIn(username: string, role?: Role): Promise<Client>
  /** Runs a statement as superuser, to inspect stored data. */
  sql<Row extends pg.QueryResultRow = Record<string, unknown>>(
    statement: string,
    parameters?: readonly unknown[],
  ): Promise<Row[]>
  /** Writes accounting as the leading process does every few seconds, according to the clock of this tracker. */
  flush(): Promise<FlushResult>
  /** Removes expired peers, as the process that leads does every half minute. */
  sweep(): Promise<unknown>
  /** Starts another tracker on the same database and Redis, with its own clock. */
  replica(env?: Env): Promise<TestTracker>
  stop(): Promise<void>
}

export const PASSWORD = 'correct horse battery'

/** With the lowest parameters of Argon2id, because most tests sign in. Passwords in requests get the usual ones. */
const PASSWORD_HASH = '$argon2id$v=19$m=8,t=1,p=1$loHO3TGSBBUeOaU3DmwCsQ$HZkb9wvM8KHQjtktvKhizT4cOjbH1TrNqmTYkaVYFB0'

/** A migrated database, with the two roles of production; on the server of the test run unless you pass another one. */
export function createTrackerDatabase(server?: { url: string }): Promise<TestDatabase> {
  return createTestDatabase({
    service: 'tracker',
    ...(server && { server }),
    migrate: async (target) => {
      await migrate(target)
    },
  })
}

/** The environment of a tracker on given stores, as the process would get it. The limits of the REST API are off. */
export function trackerEnv(stores: { databaseUrl: string; redisUrl: string }, env: Env = {}) {
  return {
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    PUBLIC_URL: 'http://tracker.test',
    REST_READ_LIMIT: '0',
    REST_WRITE_LIMIT: '0',
    REST_STAFF_WRITE_LIMIT: '0',
    AUTH_LIMIT: '0',
    ...env,
  }
}

/** A busy machine may take longer for a search than members would wait. */
const PATIENT_SEARCHES = { waitMs: 60_000, runMs: 60_000, freeMs: 60_000 }

/**
 * Starts a tracker without limits, except those in `env`. `servers` are for tests that stop or freeze them; a
 * `database` that you pass is not dropped at the end. Only with `areSearchesTimed`, searches have their usual time.
 * `countLimits` are for searches of few torrents, `webhookTimes` for receivers that a test holds.
 */
export async function startTracker(
  env: Env = {},
  servers: {
    postgres?: { url: string }
    database?: TestDatabase
    redisUrl?: string
    areSearchesTimed?: boolean
    countLimits?: CountLimits
    webhookTimes?: { readonly timeoutMs: number }
  } = {},
): Promise<TestTracker> {
  const database = servers.database ?? (await createTrackerDatabase(servers.postgres))
  const redisUrl = servers.redisUrl ?? (await testRedis()).url
  const lines: string[] = []
  const clock = createTestClock()
  const config = readConfig(trackerEnv({ databaseUrl: database.appUrl, redisUrl }, { LOG_LEVEL: 'debug', ...env }))
  const destination = { write: (line: string) => void lines.push(line) }
  const logger = createLogger({ name: 'tracker', level: config.LOG_LEVEL, destination })
  // The test runner compiles only for this process, so threads need the module hook.
  const options = {
    ...{ config, logger, clock, swarmClock: clock, nodeArguments: SOURCE_ARGUMENTS, countLimits: servers.countLimits },
    webhookTimes: servers.webhookTimes,
  }
  const context = await createContext(
    servers.areSearchesTimed === true ? options : { ...options, searchTimes: PATIENT_SEARCHES },
  )
  context.background.start()
  const stopping = new AbortController()
  const { server, front } = createHttpServer(context, { logger, stopping: stopping.signal })
  const running = await listen(server, { host: config.HOST, port: config.PORT }, { front })
  await context.irc?.listen(config.HOST, config.IRC_PORT)
  const url = `http://127.0.0.1:${String(running.port)}`
  const db = createKysely<Schema>(createPool({ url: database.appUrl, name: 'test', size: 2, logger }))
  const superuser = new pg.Pool({ connectionString: database.adminUrl, max: 4 })
  // Tests end connections, and stop Postgres.
  superuser.on('error', () => undefined)
  // A busy machine may take longer than the tracker waits.
  const redisClient = await connectRedis({ url: redisUrl, name: 'test', logger, commandTimeout: 60_000 })
  const resources = createResources()
  const swarmRedis = await connectSwarmRedis({ config, logger, resources, redis: redisClient })
  const swarms = createRedisSwarms({ redis: swarmRedis, clock, random: Math.random, settings: swarmSettings(config) })
  const publish = createInvalidationPublisher(redisClient, logger)
  const accounts = createAccounts({
    store: createAccountStore(db, clock),
    passwords: { hash: () => Promise.resolve(PASSWORD_HASH), matches: () => Promise.resolve(false) },
    publish,
    registration: () => Promise.resolve('closed'),
    clock,
  })
  const createUser = async (username: string, role: Role = 'member'): Promise<Account> => {
    const account = await accounts.create({ username, email: `${username}@example.org`, password: PASSWORD, role })
    await untilHeard(redisClient)
    return account
  }
  const flusher = createFlusher({
    queue: createAccountingQueue(swarmRedis, createRedisFunctions(swarmRedis, 'accounting')),
    ledger: createLedger(db),
    count: (names) => swarms.count(names),
    clock,
    settleSeconds: SETTLE_SECONDS,
    onCompleted: async (torrents) => {
      await publish(...torrents.flatMap(changesOf))
      await untilHeard(redisClient)
    },
    onError: (error) => logger.warn({ err: error }, 'could not write accounting'),
  })

  return {
    url,
    context,
    database,
    redisUrl,
    db,
    redisClient,
    logged: () => lines.join(''),
    now: clock.now,
    advance: clock.advance,
    holdClock: clock.hold,
    client: () => createClient(url),
    createUser,
    async signedIn(username, role) {
      await createUser(username, role)
      const client = createClient(url)
      const answer = await client.post('/api/auth/login', { username, password: PASSWORD })
      if (answer.status !== 200) throw new Error(`could not sign in: ${answer.text}`)
      return client
    },
    sql: async <Row extends pg.QueryResultRow>(statement: string, parameters: readonly unknown[] = []) =>
      (await superuser.query<Row>(statement, [...parameters])).rows,
    flush: () => flusher.flush(),
    sweep: () => swarms.sweep(),
    replica: (more = {}) => {
      const { webhookTimes } = servers
      return startTracker({ ...env, ...more }, { database, redisUrl, ...(webhookTimes && { webhookTimes }) })
    },
    async stop() {
      stopping.abort()
      context.useCases.eventStreams.drain()
      await Promise.all([running.drain(), context.sockets?.drain(), context.irc?.drain()])
      await context.background.stop()
      await context.close()
      await resources.close()
      redisClient.disconnect()
      await Promise.all([db.destroy(), superuser.end()])
      if (servers.database === undefined) await database.drop()
    },
  }
}
