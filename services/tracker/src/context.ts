import type { Kysely } from 'kysely'
import { type Clock, systemClock } from 'service-kit/clock'
import type { Checks } from 'service-kit/health'
import type { Logger } from 'service-kit/logger'
import { createMetrics, type Metrics } from 'service-kit/metrics'
import { createKysely, createPool, pingPostgres } from 'service-kit/postgres'
import { closeRedis, connectRedis, pingRedis } from 'service-kit/redis'
import type { Config } from './config.ts'
import type { Database } from './db/schema.ts'

/** Everything the service is made of, joined. */
export type Context = {
  readonly config: Config
  readonly logger: Logger
  readonly metrics: Metrics
  readonly db: Kysely<Database>
  readonly checks: Checks
  /** Gives connections back; requests must have ended. */
  close(): Promise<void>
}

/**
 * Joins stores and rules.
 *
 * @param options `clock` is the tests' to move
 * @throws UnavailableError when Redis does not answer
 */
export async function createContext(options: { config: Config; logger: Logger; clock?: Clock }): Promise<Context> {
  const { config, logger } = options
  const clock = options.clock ?? systemClock
  void clock
  const metrics = createMetrics()
  const pool = createPool({ url: config.DATABASE_URL, name: 'tracker', size: config.DATABASE_POOL_SIZE, logger })
  const db = createKysely<Database>(pool)
  const redis = await connectRedis({ url: config.REDIS_URL, name: 'tracker', logger })

  return {
    config,
    logger,
    metrics,
    db,
    checks: { postgres: () => pingPostgres(pool), redis: () => pingRedis(redis) },
    close: async () => {
      await closeRedis(redis)
      await db.destroy()
    },
  }
}
