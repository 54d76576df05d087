import { randomBytes } from 'node:crypto'
import { createTestDatabase, type TestDatabase, testRedis } from '@vault-and-tracker/dev-env'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { listen } from '@vault-and-tracker/service-kit/http-server'
import { createLogger, type Logger } from '@vault-and-tracker/service-kit/logger'
import { createHttpServer } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { type Context, createContext } from '../../src/context.ts'
import { migrate } from '../../src/db/migrations.ts'

/** The keys every test vault has; the first one is active. */
export const KEYS = { '2026-11': randomBytes(32).toString('base64'), '2026-12': randomBytes(32).toString('base64') }
export const ADMIN_TOKEN = randomBytes(32).toString('hex')

/** A clock that a test sets forward and back. */
export type TestClock = Clock & { offsetMs: number }

/** A vault that listens on a port of its own. */
export type TestVault = {
  url: string
  context: Context
  clock: TestClock
  stop(): Promise<void>
}

function createTestClock(): TestClock {
  return {
    offsetMs: 0,
    now() {
      return Date.now() + this.offsetMs
    },
  }
}

/** A migrated database of the test's own. */
export function createVaultDatabase(server?: { url: string }): Promise<TestDatabase> {
  return createTestDatabase({
    service: 'vault',
    migrate: async (target) => {
      await migrate(target)
    },
    ...(server && { server }),
  })
}

/** The environment of a vault on given stores, as the process would get it. */
export function vaultEnv(stores: { databaseUrl: string; redisUrl: string }, env: Record<string, string> = {}) {
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
    LOG_LEVEL: 'silent',
    ...env,
  }
}

/** Starts a vault in this process, on the real Express app and the real stores. */
export async function startVault(options: {
  databaseUrl: string
  redisUrl?: string
  env?: Record<string, string>
  clock?: TestClock
  logger?: Logger
}): Promise<TestVault> {
  const redisUrl = options.redisUrl ?? (await testRedis()).url
  const config = readConfig(vaultEnv({ databaseUrl: options.databaseUrl, redisUrl }, options.env))
  const clock = options.clock ?? createTestClock()
  const logger = options.logger ?? createLogger({ name: 'vault', level: 'silent' })
  const context = await createContext({ config, logger, clock })
  const stopping = new AbortController()
  const server = await listen(createHttpServer(context, { logger, stopping: stopping.signal }), {
    host: '127.0.0.1',
    port: 0,
  })
  return {
    url: `http://127.0.0.1:${String(server.port)}`,
    context,
    clock,
    stop: async () => {
      stopping.abort()
      await server.drain()
      await context.close()
    },
  }
}
