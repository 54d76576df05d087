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
import type { Config } from '../config.ts'
import type { Db, Schema } from '../db/schema.ts'
import { checkWrites, createDiskCheck } from '../db/write-check.store.ts'
import { type ChainKeys, createChainKeys } from '../keyring/chain-keys.ts'
import { assertMatches, checkKeyring } from '../keyring/key-check.ts'
import { createChainKeyStore, createKekStore } from '../keyring/keyring.store.ts'
import type { Keyring } from '../keyring/keyring.ts'
import type { OnRefused } from '../projects/authentic-projects.ts'
import { createRefusedRowMetrics } from '../projects/projects.metrics.ts'
import { createMemoryRecord } from '../signed-requests/nonce-memory.store.ts'
import { createNonceMemory } from '../signed-requests/nonce-memory.ts'
import { createNonceStore } from '../signed-requests/nonces.redis.ts'
import type { NonceStore } from '../signed-requests/signed-requests.ts'
import { openKeyring } from './keyring.ts'

/** With the two seconds that a frozen Postgres is given in addition, less than the ten that clients wait. */
const STATEMENT_MS = 6_000

/** A replica that freezes inside a transaction holds its locks for so long: less than other replicas wait for them. */
const IDLE_TRANSACTION_MS = 4_000

/** How late a loss of nonces is noticed where no request notices it. */
const CHECK_MEMORY_EVERY_MS = 1_000

/** The longest escape of JSON, `\u0001`, for one byte that is stored. */
const JSON_BYTES_PER_BYTE = 6
/** The largest that is read, and one for a request that came early. */
const ANSWERS_PER_CONNECTION = 2

/** What the service starts with. */
export type Start = {
  readonly config: Config
  readonly logger: Logger
  readonly clock: Clock
  readonly resources: Resources
}

/** What every part of the service is joined from. */
export type Connections = Start & {
  /** The key-encryption keys of this process and of a service. */
  readonly keyring: Keyring
  /** The keys of the audit chain, each unwrapped once. */
  readonly chainKeys: ChainKeys
  /** For statements that Kysely does not build. */
  readonly pool: Pool
  readonly db: Db
  readonly redis: Redis
  readonly nonces: NonceStore
  readonly metrics: Metrics
  readonly background: Background
  readonly unread: UnreadAnswers
  readonly checks: Checks
  /** Counts and logs rows that the vault did not write. */
  readonly onRefused: OnRefused
}

/**
 * Connects to Postgres, checks the keyring against it, and connects to Redis.
 *
 * @throws KeyringError naming the keys that are missing or different; UnavailableError when Redis does not respond
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
  const redis = await connectRedis({ url: config.REDIS_URL, name: 'vault', logger })
  resources.defer(() => closeRedis(redis))
  await warnOfEviction(redis, logger)
  const record = createMemoryRecord(db)
  const nonces = createNonceStore(redis, record.ahead)
  const memory = createNonceMemory({
    keeper: nonces,
    epochs: record,
    onLoss: () => logger.warn('Redis has lost nonces, or may have; requests that were signed before are refused'),
  })
  // What is signed from the end of the start on is accepted: `created` has whole seconds, and is a second after the loss.
  if ((await memory.open()).lost) await sleep(2_000)
  const background = createBackground()
  background.add({
    everyMs: CHECK_MEMORY_EVERY_MS,
    task: () => memory.check(),
    onError: (error) => logger.warn({ err: error }, 'could not check the memory of Redis; it is retried'),
  })
  const checkDisk = createDiskCheck(db)
  const checks: Checks = {
    postgres: async () => {
      await checkWrites(db)
      await checkDisk()
    },
    redis: () => memory.check(),
    keyring: async () => {
      assertMatches(keyring, await keks.list())
      await Promise.all(keyring.providers.map((provider) => provider.check()))
    },
  }
  const unread = createUnreadAnswers({
    ...UNREAD_LIMITS,
    maxBytesPerConnection: ANSWERS_PER_CONNECTION * JSON_BYTES_PER_BYTE * config.MAX_ENVIRONMENT_BYTES,
  })
  const metrics = createMetrics()
  const version = readVersion(new URL('../../package.json', import.meta.url))
  createBuildMetrics(metrics.registry, { service: 'vault', version, revision: config.REVISION })
  createPoolMetrics(metrics.registry, pool, config.DATABASE_POOL_SIZE)
  createRedisMetrics(metrics.registry, { main: redis })
  const refusedRows = createRefusedRowMetrics(metrics.registry)
  const onRefused: OnRefused = (table, place) => {
    refusedRows.refused(table)
    logger.error({ table, ...place }, 'a stored row was not written by the vault: it is refused')
  }
  return { ...start, keyring, chainKeys, unread, pool, db, redis, nonces, metrics, background, checks, onRefused }
}
