import { setTimeout as sleep } from 'node:timers/promises'
import { readVersion } from '@vault-and-tracker/service-kit/config/env'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Checks } from '@vault-and-tracker/service-kit/http/health'
import {
  createUnreadAnswers,
  UNREAD_LIMITS,
  type UnreadAnswers,
} from '@vault-and-tracker/service-kit/http/unread-answers'
import { type Background, createBackground } from '@vault-and-tracker/service-kit/lifecycle/background'
import type { Resources } from '@vault-and-tracker/service-kit/lifecycle/resources'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import {
  createBuildMetrics,
  createPoolMetrics,
  createRedisMetrics,
} from '@vault-and-tracker/service-kit/metrics/operational'
import { createMetrics, type Metrics } from '@vault-and-tracker/service-kit/metrics/registry'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import { closeRedis, connectRedis, warnOfEviction } from '@vault-and-tracker/service-kit/redis/connection'
import type { Redis } from 'ioredis'
import type { Pool } from 'pg'
import { createAnnouncements } from '../changes/announcements.redis.ts'
import type { Announcements } from '../changes/changes.ts'
import type { Config } from '../config.ts'
import type { Db, Schema } from '../database.ts'
import { checkWrites, createDiskCheck } from '../db/write-check.store.ts'
import { createNonces } from '../integrity/nonces.redis.ts'
import { createNonceRecord } from '../integrity/nonces.store.ts'
import type { Nonces } from '../integrity/nonces.ts'
import { type AuthenticRows, createAuthenticRows, type OnRefused } from '../integrity/rows.ts'
import { type ChainKeys, createChainKeys } from '../keyring/chain-keys.ts'
import { assertMatches, checkKeyring } from '../keyring/key-check.ts'
import { createChainKeyStore, createKekStore } from '../keyring/keyring.store.ts'
import type { Keyring } from '../keyring/keyring.ts'
import { openKeyring } from './keyring.ts'
import { createVaultMetrics, type VaultMetrics } from './vault.metrics.ts'

/** Together with the two seconds for a frozen Postgres, less than the ten that clients wait. */
const STATEMENT_MS = 6_000

/** How long a frozen replica keeps the locks of its transaction; less than other replicas wait for them. */
const IDLE_TRANSACTION_MS = 4_000

/** When a loss of nonces is noticed at the latest. */
const CHECK_NONCES_EVERY_MS = 1_000

/** The longest JSON escape of a stored byte is `\u0001`. */
const JSON_BYTES_PER_BYTE = 6
/** The response that is being read, and that of a pipelined request. */
const RESPONSES_PER_CONNECTION = 2

/** The inputs for starting the service. */
export type Start = {
  readonly config: Config
  readonly logger: Logger
  readonly clock: Clock
  readonly resources: Resources
}

/** Connections and tools that all parts of the service share. */
export type Connections = Start & {
  /** The key-encryption keys of this process and of a service. */
  readonly keyring: Keyring
  readonly chainKeys: ChainKeys
  /** For statements without Kysely. */
  readonly pool: Pool
  readonly db: Db
  readonly redis: Redis
  readonly nonces: Nonces
  /** The time of Redis. It is the same at all replicas, whose own clocks may be wrong. */
  readonly sharedClock: Clock
  /** Tells all replicas which environments changed. */
  readonly announcements: Announcements
  readonly rows: AuthenticRows
  readonly httpMetrics: Metrics
  readonly metrics: VaultMetrics
  readonly background: Background
  readonly unread: UnreadAnswers
  readonly checks: Checks
  /** Counts and logs rows that the vault did not write. */
  readonly onRefused: OnRefused
}

/**
 * Connects to Postgres, checks the keyring against it, and connects to Redis.
 *
 * @throws KeyringError listing missing and different keys; UnavailableError if Redis does not respond
 */
export async function connect(start: Start): Promise<Connections> {
  const { config, logger, clock, resources } = start
  const keyring = await openKeyring(config)
  const pool = createPool({
    ...{ url: config.DATABASE_URL, name: 'vault', size: config.DATABASE_POOL_SIZE, logger },
    statementTimeoutMs: STATEMENT_MS,
    idleTransactionTimeoutMs: IDLE_TRANSACTION_MS,
  })
  const db = createKysely<Schema>(pool)
  resources.defer(() => db.destroy())
  const keks = createKekStore(db)
  await checkKeyring({ keyring, store: keks, clock })
  const chainKeys = createChainKeys({ keyring, store: createChainKeyStore(db), clock })
  // A signed fetch costs a tenth less under load if the commands of one turn of the event loop share a system call.
  const redis = await connectRedis({ url: config.REDIS_URL, name: 'vault', logger, enableAutoPipelining: true })
  resources.defer(() => closeRedis(redis))
  await warnOfEviction(redis, logger)
  const announcements = await createAnnouncements({ url: config.REDIS_URL, redis, logger })
  resources.defer(() => announcements.close())
  const nonces = createNonces(redis, createNonceRecord(db), {
    onLoss: () => logger.warn('Redis may have lost nonces; refusing requests signed before the loss'),
  })
  // Then requests signed after the start are accepted: `created` is in whole seconds, and has to be after the loss.
  if ((await nonces.open()).lost) await sleep(2_000)
  const background = createBackground()
  background.add({
    everyMs: CHECK_NONCES_EVERY_MS,
    task: () => nonces.check(),
    onError: (error) => logger.warn({ err: error }, 'check for lost nonces failed; will retry'),
  })
  const checkDisk = createDiskCheck(db)
  const checks: Checks = {
    postgres: async () => {
      await checkWrites(db)
      await checkDisk()
    },
    redis: () => nonces.check(),
    keyring: async () => {
      assertMatches(keyring, await keks.list())
      await Promise.all(keyring.providers.map((provider) => provider.check()))
    },
  }
  const unread = createUnreadAnswers({
    ...UNREAD_LIMITS,
    maxBytesPerConnection: RESPONSES_PER_CONNECTION * JSON_BYTES_PER_BYTE * config.MAX_ENVIRONMENT_BYTES,
  })
  const httpMetrics = createMetrics()
  const { registry } = httpMetrics
  const version = readVersion(new URL('../../package.json', import.meta.url))
  createBuildMetrics(registry, { service: 'vault', version, revision: config.REVISION })
  createPoolMetrics(registry, pool, config.DATABASE_POOL_SIZE)
  createRedisMetrics(registry, { main: redis })
  const metrics = createVaultMetrics(registry)
  const onRefused: OnRefused = (table, place) => {
    metrics.rowRefused(table)
    logger.error({ table, ...place }, 'refused a row that the vault did not write')
  }
  const rows = createAuthenticRows(await chainKeys.first(), onRefused)
  return {
    ...{ ...start, keyring, chainKeys, unread, pool, db, redis, nonces, announcements, rows, httpMetrics, metrics },
    ...{ background, checks, onRefused, sharedClock: { now: () => nonces.now() } },
  }
}
