import { readVersion } from '@vault-and-tracker/service-kit/config/env'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
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
import { withMetricsOfAllWorkers } from '../workers.metrics.ts'
import { createInvalidations, type Invalidations } from './invalidations.ts'

/** What the service starts with. */
export type Start = {
  readonly config: Config
  readonly logger: Logger
  readonly clock: Clock
  /** Undefined for the time of the Redis of the swarms. */
  readonly swarmClock?: Clock
  readonly resources: Resources
  /** What Node gets for a thread; that of this process where it is left out. */
  readonly nodeArguments?: readonly string[]
}

/** What every part of the service is joined from. */
export type Connections = Start & {
  readonly db: Db
  readonly redis: Redis
  readonly invalidations: Invalidations
  readonly metrics: Metrics
  readonly background: Background
  readonly checks: Checks
}

const CLUSTER_REMEDY =
  'REDIS_URL must be a single Redis, with replicas if need be; a Cluster can hold the swarms (SWARM_REDIS_URL)'

/**
 * Connects to Postgres and Redis, and subscribes to what other processes change. A Postgres that is away is waited for by
 * `/ready`.
 *
 * @throws UnavailableError when Redis does not respond; Error when it is a node of a Cluster, or when Postgres has no
 *   tables or gives the role no rights
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

/** The members are read in every request; what keeps them from being read does not heal by itself. */
async function assertReadable(db: Db): Promise<void> {
  try {
    await db.selectFrom('users').select('id').limit(0).execute()
  } catch (error) {
    if (!isUnavailable(error)) throw error
  }
}
