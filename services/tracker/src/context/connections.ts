import { readVersion } from '@vault-and-tracker/service-kit/config/env'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isCertificateRefused, isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import type { Checks } from '@vault-and-tracker/service-kit/http/health'
import { type Background, createBackground } from '@vault-and-tracker/service-kit/lifecycle/background'
import type { Resources } from '@vault-and-tracker/service-kit/lifecycle/resources'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import { createBuildMetrics, createPoolMetrics } from '@vault-and-tracker/service-kit/metrics/operational'
import { createMetrics, type Metrics } from '@vault-and-tracker/service-kit/metrics/registry'
import { createKysely, createPool, pingPostgres } from '@vault-and-tracker/service-kit/postgres/pool'
import { closeRedis, connectRedis, pingRedis, warnOfEviction } from '@vault-and-tracker/service-kit/redis/connection'
import type { Redis } from 'ioredis'
import type { Config } from '../config.ts'
import type { Db, Schema } from '../db/schema.ts'
import { createInvalidations } from '../invalidation/invalidation.redis.ts'
import type { Invalidations } from '../invalidation/invalidation.ts'
import type { CountLimits } from '../search/search-matches.store.ts'
import type { SearchBounds } from '../search/search-queue.ts'
import { withMetricsOfAllWorkers } from '../workers.metrics.ts'

/** The options of the service. */
export type Start = {
  readonly config: Config
  readonly logger: Logger
  readonly clock: Clock
  /** Undefined to use the time of the swarms' Redis. */
  readonly swarmClock?: Clock
  /** How far searches count; only tests with few torrents count less. */
  readonly countLimits?: CountLimits | undefined
  readonly resources: Resources
  /** Node's arguments for threads; those of this process by default. */
  readonly nodeArguments?: readonly string[]
  /** Other times for searches. Tests on a busy machine are more patient than members. */
  readonly searchTimes?: Pick<SearchBounds, 'waitMs' | 'runMs' | 'freeMs'>
  /** How long receivers of webhooks may take; only tests change it. */
  readonly webhookTimes?: { readonly timeoutMs: number } | undefined
}

/** Everything that the parts of the service are created from. */
export type Connections = Start & {
  readonly db: Db
  readonly redis: Redis
  readonly invalidations: Invalidations
  readonly metrics: Metrics
  readonly background: Background
  readonly checks: Checks
}

const CLUSTER_REMEDY =
  'REDIS_URL must be a single Redis, optionally with replicas; use a Cluster only for the swarms (SWARM_REDIS_URL)'

/**
 * Connects to Postgres and Redis, and subscribes to the changes of other processes. If Postgres is unavailable, the
 * service starts and `/ready` returns 503.
 *
 * @throws UnavailableError if Redis does not respond; Error if it is a node of a Cluster, or if Postgres has no tables
 *   or grants the role no rights
 */
export async function connect(start: Start): Promise<Connections> {
  const { config, logger, resources } = start
  const pool = createPool({ url: config.DATABASE_URL, name: 'tracker', size: config.DATABASE_POOL_SIZE, logger })
  const db = createKysely<Schema>(pool)
  resources.defer(() => db.destroy())
  await assertReadable(db)
  const redis = await connectRedis({ url: config.REDIS_URL, name: 'tracker', logger, clusterRemedy: CLUSTER_REMEDY })
  resources.defer(() => closeRedis(redis))
  await warnOfEviction(redis, logger)
  const invalidations = await createInvalidations({ url: config.REDIS_URL, redis, logger, resources })
  const metrics = withMetricsOfAllWorkers(createMetrics())
  const version = readVersion(new URL('../../package.json', import.meta.url))
  createBuildMetrics(metrics.registry, { service: 'tracker', version, revision: config.REVISION })
  createPoolMetrics(metrics.registry, pool, config.DATABASE_POOL_SIZE)
  const checks: Checks = { postgres: () => pingPostgres(pool), redis: () => pingRedis(redis) }
  return { ...start, db, redis, invalidations, metrics, background: createBackground(), checks }
}

/** Every request reads users. An error other than an outage does not resolve itself, so it prevents the start. */
async function assertReadable(db: Db): Promise<void> {
  try {
    await db.selectFrom('users').select('id').limit(0).execute()
  } catch (error) {
    if (!isUnavailable(error) || isCertificateRefused(error)) throw error
  }
}
