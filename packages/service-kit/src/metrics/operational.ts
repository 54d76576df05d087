import type { Redis } from 'ioredis'
import type pg from 'pg'
import { Gauge, type Registry } from 'prom-client'
import { within } from '../core/concurrency.ts'
import type { Checks } from '../http/health.ts'
import { observe } from './registry.ts'

/** A readiness check that takes longer has failed, so that a scrape does not wait longer. */
const CHECK_MS = 2_000

/** Reports the service, its version and revision as labels of a gauge that is always 1, and the time of its start. */
export function createBuildMetrics(
  registry: Registry,
  build: { readonly service: string; readonly version: string; readonly revision: string },
): void {
  new Gauge({
    name: 'service_build_info',
    help: 'The service, its version and the commit of its image; always 1.',
    labelNames: ['service', 'version', 'revision'],
    aggregator: 'first',
    registers: [registry],
  }).set({ ...build }, 1)
  // prom-client's own process_start_time_seconds is dropped when the metrics of several processes are added up.
  new Gauge({
    name: 'service_start_time_seconds',
    help: 'Start time of the service in seconds since the epoch; with several processes, of the newest one.',
    aggregator: 'max',
    registers: [registry],
  }).set(performance.timeOrigin / 1000)
}

/** Reports the result of each readiness check. */
export function createReadinessMetrics(registry: Registry, checks: Checks): void {
  const passes = Object.entries(checks).map(([name, check]) => ({ name, passes: inTime(check) }))
  new Gauge({
    name: 'service_ready',
    help: 'Whether a check of /ready passes: 1, or 0. With several processes, whether it passes in all of them.',
    labelNames: ['check'],
    aggregator: 'min',
    registers: [registry],
    async collect() {
      await Promise.all(passes.map(async (each) => this.set({ check: each.name }, (await each.passes()) ? 1 : 0)))
    },
  })
}

/** Runs a check, one run at a time, and returns whether it passed within `CHECK_MS`. */
function inTime(check: () => Promise<void>): () => Promise<boolean> {
  let running: Promise<boolean> | undefined
  return () => {
    const finished = (passed: boolean): boolean => {
      running = undefined
      return passed
    }
    running ??= check().then(
      () => finished(true),
      () => finished(false),
    )
    return within(CHECK_MS, running, false)
  }
}

/** Reports the used and idle connections of a pool, and the queries that wait for one. */
export function createPoolMetrics(registry: Registry, pool: pg.Pool, size: number): void {
  new Gauge({
    name: 'postgres_pool_connections',
    help: 'Connections to Postgres by state: used by a query, or idle.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'used' }, pool.totalCount - pool.idleCount)
      this.set({ state: 'idle' }, pool.idleCount)
    },
  })
  observe(
    registry,
    'postgres_pool_max_connections',
    'Maximum number of connections to Postgres (DATABASE_POOL_SIZE).',
    () => size,
  )
  observe(
    registry,
    'postgres_pool_waiting',
    'Queries that wait for a connection to Postgres because all are used.',
    () => pool.waitingCount,
  )
}

/**
 * Reports the memory of each Redis, and whether it can write its append-only file. Omits a Redis that is unavailable.
 *
 * @param stores by the value of the label `redis`
 */
export function createRedisMetrics(registry: Registry, stores: Readonly<Record<string, Redis>>): void {
  let reading: Promise<readonly (readonly [string, string | undefined])[]> | undefined
  /** All gauges are collected at the same time and share one read. */
  const read = (): NonNullable<typeof reading> =>
    (reading ??= Promise.all(
      Object.entries(stores).map(async ([name, redis]) => {
        const info = await redis.info('memory', 'persistence').catch(() => undefined)
        return [name, info] as const
      }),
    ).finally(() => {
      reading = undefined
    }))
  const gauge = (name: string, help: string, valueOf: (info: string) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['redis'],
      aggregator: 'max',
      registers: [registry],
      async collect() {
        for (const [redis, info] of await read())
          if (info === undefined) this.remove({ redis })
          else this.set({ redis }, valueOf(info))
      },
    })
  }
  const numberIn = (name: string) => (info: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
  gauge('redis_memory_used_bytes', 'Memory used by Redis, in bytes.', numberIn('used_memory'))
  gauge('redis_memory_max_bytes', 'Memory limit of Redis (maxmemory), in bytes; 0 for none.', numberIn('maxmemory'))
  gauge(
    'redis_append_only_file_ok',
    'Whether the last write to the append-only file of Redis succeeded: 1, or 0.',
    (info) => (/^aof_last_write_status:ok/m.test(info) ? 1 : 0),
  )
}
