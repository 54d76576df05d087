import { randomBytes } from 'node:crypto'
import {
  createTestClock,
  createTestDatabase,
  freePort,
  type TestClock,
  type TestDatabase,
  testRedis,
} from '@vault-and-tracker/dev-env'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import pg from 'pg'
import { createHttpServer } from '../../src/app.ts'
import { createAuditStore } from '../../src/audit/audit.store.ts'
import { readConfig } from '../../src/config.ts'
import { openKeyring } from '../../src/context/keyring.ts'
import { type Context, createContext } from '../../src/context.ts'
import type { Schema } from '../../src/database.ts'
import { migrate } from '../../src/db/migrations.ts'
import { createSealStore } from '../../src/integrity/chain.store.ts'
import { createSealer } from '../../src/integrity/sealer.ts'
import { createChainKeys } from '../../src/keyring/chain-keys.ts'
import { createChainKeyStore } from '../../src/keyring/keyring.store.ts'
import { makeOlder } from './ageing.ts'

/** The keys of every test vault; the first one is active. */
export const KEYS = { '2026-11': randomBytes(32).toString('base64'), '2026-12': randomBytes(32).toString('base64') }
export const ADMIN_TOKEN = randomBytes(32).toString('hex')

type Env = Readonly<Record<string, string>>

/** A vault with its own database, Redis and port, and a clock that tests control. */
export type TestVault = {
  readonly url: string
  readonly context: Context
  readonly database: TestDatabase
  readonly redisUrl: string
  /** The log so far. */
  logged(): string
  /** The time of the vault, in milliseconds. */
  now(): number
  advance(ms: number): void
  /** Stops the clock, which then moves only by `advance`. */
  holdClock: TestClock['hold']
  /** Makes stored keys and deliveries older, whose times are not those of the vault's clock. */
  age(ms: number): Promise<void>
  /** Runs a statement as superuser, to inspect stored data. */
  sql<Row extends pg.QueryResultRow>(statement: string, parameters?: readonly unknown[]): Promise<Row[]>
  /** Seals all unsealed rows of the audit log and returns their number. The vault itself seals in the background only. */
  seal(): Promise<number>
  /** Creates the partitions of the audit log for this month and the next three. */
  ensurePartitions(): Promise<void>
  /** Starts another vault on the same database and Redis, with its own clock. */
  replica(env?: Env): Promise<TestVault>
  stop(): Promise<void>
}

/** Creates a migrated database, by default on the server of the run. */
export function createVaultDatabase(server?: { url: string }): Promise<TestDatabase> {
  return createTestDatabase({
    service: 'vault',
    ...(server && { server }),
    migrate: async (target) => {
      await migrate(target)
    },
  })
}

/** The environment variables of a vault without limits. */
export function vaultEnv(stores: { databaseUrl: string; redisUrl: string }, env: Env = {}) {
  return {
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    ADMIN_TOKEN,
    ...(env['VAULT_KEYRING'] === undefined && {
      VAULT_KEYRING: Object.entries(KEYS)
        .map(([id, key]) => `${id}:${key}`)
        .join(','),
      VAULT_KEYRING_ACTIVE: '2026-11',
    }),
    FETCH_RATE_LIMIT: '0',
    SIGNATURE_FAILURE_LIMIT: '0',
    ADMIN_FAILURE_LIMIT: '0',
    WRITE_RATE_LIMIT: '0',
    LOG_LEVEL: 'silent',
    ...env,
  }
}

/**
 * Starts a vault, by default without limits. Port 0 in PUBLIC_URL is replaced with the vault's port. `servers` are for
 * tests that stop or freeze theirs; a given `database` is not dropped.
 */
export async function startVault(
  given: Env = {},
  servers: { postgres?: { url: string }; database?: TestDatabase; redisUrl?: string } = {},
): Promise<TestVault> {
  const env = given['PUBLIC_URL'] === undefined ? given : withOwnPort(given, given['PORT'] ?? String(await freePort()))
  const database = servers.database ?? (await createVaultDatabase(servers.postgres))
  const redisUrl = servers.redisUrl ?? (await testRedis()).url
  const lines: string[] = []
  const clock = createTestClock()
  const config = readConfig(vaultEnv({ databaseUrl: database.appUrl, redisUrl }, { LOG_LEVEL: 'debug', ...env }))
  const destination = { write: (line: string) => void lines.push(line) }
  const logger = createLogger({ name: 'vault', level: config.LOG_LEVEL, destination })
  const context = await createContext({ config, logger, clock })
  const stopping = new AbortController()
  const server = createHttpServer(context, { logger, stopping: stopping.signal })
  const running = await listen(server, { host: config.HOST, port: config.PORT }, { unread: context.unread })
  const db = createKysely<Schema>(createPool({ url: database.appUrl, name: 'test', size: 2, logger }))
  const keyring = await openKeyring(config)
  const chainKeys = createChainKeys({ keyring, store: createChainKeyStore(db), clock })
  const sealer = createSealer({
    store: createSealStore(db),
    chainKeys,
    clock,
    onPass: () => undefined,
    onRefused: () => undefined,
  })

  const superuser = new pg.Pool({ connectionString: database.adminUrl, max: 3, allowExitOnIdle: true })
  superuser.on('error', () => undefined)
  const sql: TestVault['sql'] = async <Row extends pg.QueryResultRow>(
    statement: string,
    parameters: readonly unknown[] = [],
  ) => {
    const client = await superuser.connect()
    try {
      return (await client.query<Row>(statement, [...parameters])).rows
    } finally {
      // What a statement sets is only for itself.
      client.release(/^\s*set /.test(statement))
    }
  }

  return {
    url: `http://127.0.0.1:${String(running.port)}`,
    context,
    database,
    redisUrl,
    logged: () => lines.join(''),
    now: clock.now,
    advance: clock.advance,
    holdClock: clock.hold,
    age: (ms) => makeOlder({ sql }, chainKeys, ms),
    sql,
    seal: () => sealer.sealNow(),
    ensurePartitions: () => createAuditStore(db).ensurePartitions(),
    replica: (more = {}) => startVault({ ...given, ...more }, { database, redisUrl }),
    async stop() {
      stopping.abort()
      await running.drain()
      await context.close()
      await db.destroy()
      await superuser.end()
      if (servers.database === undefined) await database.drop()
    },
  }
}

function withOwnPort(env: Env, port: string): Env {
  return { ...env, PORT: port, PUBLIC_URL: (env['PUBLIC_URL'] ?? '').replace(/:0$/, `:${port}`) }
}
