import type { Redis } from 'ioredis'
import type pg from 'pg'
import { Gauge, type Registry } from 'prom-client'
import type { Build } from './build.ts'
import type { Checks } from './health.ts'
import { within } from './within.ts'

/** A check that takes longer has failed: a scrape waits no longer for its answer. */
const CHECK_MS = 2_000

/** Tells which build runs, as labels of a gauge that is always 1, and since when. */
export function createBuildMetrics(registry: Registry, build: Build): void {
  new Gauge({
    name: 'service_build_info',
    help: 'The service, its version and the commit its image was built from; always 1.',
    labelNames: ['service', 'version', 'revision'],
    aggregator: 'first',
    registers: [registry],
  }).set({ ...build }, 1)
  // That of prom-client, process_start_time_seconds, is left out where several processes are added up.
  new Gauge({
    name: 'service_start_time_seconds',
    help: 'When the service was started, in seconds since the epoch. Of several processes, the one that was started last.',
    aggregator: 'max',
    registers: [registry],
  }).set(performance.timeOrigin / 1000)
}

/** Tells what `/ready` would say, check by check. A check that is still running is not started once more. */
export function createReadinessMetrics(registry: Registry, checks: Checks): void {
  const passes = Object.entries(checks).map(([name, check]) => ({ name, passes: withinTime(check) }))
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
function withinTime(check: () => Promise<void>): () => Promise<boolean> {
  let running: Promise<boolean> | undefined
  return async () => {
    running ??= check()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        running = undefined
      })
    return await within(CHECK_MS, running, false)
  }
}

/** Tells how many connections of a pool are used, and how many queries wait for one. */
export function createPoolMetrics(registry: Registry, pool: pg.Pool, size: number): void {
  const registers = [registry]
  new Gauge({
    name: 'postgres_pool_connections',
    help: 'Connections to Postgres, by state: used by a query, or idle.',
    labelNames: ['state'],
    registers,
    collect() {
      this.set({ state: 'used' }, pool.totalCount - pool.idleCount)
      this.set({ state: 'idle' }, pool.idleCount)
    },
  })
  new Gauge({
    name: 'postgres_pool_max_connections',
    help: 'Connections to Postgres that may be open at most (DATABASE_POOL_SIZE).',
    registers,
    collect() {
      this.set(size)
    },
  })
  new Gauge({
    name: 'postgres_pool_waiting',
    help: 'Queries that wait for a connection to Postgres, because all are used.',
    registers,
    collect() {
      this.set(pool.waitingCount)
    },
  })
}

/**
 * Tells how full each Redis is and whether it can write its file. While one is unavailable its values are left out.
 *
 * @param stores by a name that stands in the label `redis`
 */
export function createRedisMetrics(registry: Registry, stores: Readonly<Record<string, Redis>>): void {
  let reading: Promise<readonly (readonly [string, string | undefined])[]> | undefined
  /** All gauges are collected at once, and share what was read. */
  const read = (): NonNullable<typeof reading> => {
    reading ??= Promise.all(
      Object.entries(stores).map(async ([name, redis]) => {
        const info = await redis.info('memory', 'persistence').catch(() => undefined)
        return [name, info] as const
      }),
    ).finally(() => {
      reading = undefined
    })
    return reading
  }
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
  gauge('redis_memory_used_bytes', 'Memory that Redis uses, in bytes.', (info) => numberOf(info, 'used_memory'))
  gauge(
    'redis_memory_max_bytes',
    'Memory above which Redis refuses writes (maxmemory), in bytes; 0 where it has no limit.',
    (info) => numberOf(info, 'maxmemory'),
  )
  gauge(
    'redis_append_only_file_ok',
    'Whether the last write to the append-only file of Redis succeeded: 1, or 0.',
    (info) => (/^aof_last_write_status:ok/m.test(info) ? 1 : 0),
  )
}

function numberOf(info: string, name: string): number {
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
}
