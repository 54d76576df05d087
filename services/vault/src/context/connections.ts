import { type Background, createBackground } from '@vault-and-tracker/service-kit/background'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Checks } from '@vault-and-tracker/service-kit/health'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { createMetrics, type Metrics } from '@vault-and-tracker/service-kit/metrics'
import { createKysely, createPool, pingPostgres } from '@vault-and-tracker/service-kit/postgres'
import { closeRedis, connectRedis, pingRedis, warnOfEviction } from '@vault-and-tracker/service-kit/redis'
import type { Resources } from '@vault-and-tracker/service-kit/resources'
import type { Redis } from 'ioredis'
import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import type { Db, Schema } from '../db/schema.ts'
import { assertMatches, checkKeyring } from '../keyring/key-check.ts'
import { createKekStore } from '../keyring/keyring.store.ts'
import type { Keyring } from '../keyring/keyring.ts'
import { openKeyring } from './keyring.ts'

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
  /** For statements that Kysely does not build. */
  readonly pool: Pool
  readonly db: Db
  readonly redis: Redis
  readonly metrics: Metrics
  readonly background: Background
  readonly checks: Checks
}

/**
 * Connects to Postgres, checks the keyring against it, and connects to Redis.
 *
 * @throws KeyringError naming the keys that are missing or different; UnavailableError when Redis does not respond
 */
export async function connect(start: Start): Promise<Connections> {
  const { config, logger, clock, resources } = start
  const keyring = await openKeyring(config)
  const pool = createPool({ url: config.DATABASE_URL, name: 'vault', size: config.DATABASE_POOL_SIZE, logger })
  const db = createKysely<Schema>(pool)
  resources.defer(() => db.destroy())
  const keks = createKekStore(db)
  await checkKeyring({ keyring, store: keks, clock })
  const redis = await connectRedis({ url: config.REDIS_URL, name: 'vault', logger, corkWrites: true })
  resources.defer(() => closeRedis(redis))
  await warnOfEviction(redis, logger)
  const checks: Checks = {
    postgres: () => pingPostgres(pool),
    redis: () => pingRedis(redis),
    keyring: async () => {
      assertMatches(keyring, await keks.list())
      await Promise.all(keyring.providers.map((provider) => provider.check()))
    },
  }
  return { ...start, keyring, pool, db, redis, metrics: createMetrics(), background: createBackground(), checks }
}
