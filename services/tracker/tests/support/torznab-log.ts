import { eventually } from '@vault-and-tracker/dev-env'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { Registry } from 'prom-client'
import { createRequestLogMetrics } from '../../src/torznab/request-log.metrics.ts'
import { createRequestLogStore } from '../../src/torznab/request-log.store.ts'
import { createRequestLog, type LoggedRequest } from '../../src/torznab/request-log.ts'
import type { AnsweredRequest } from '../../src/torznab/torznab.ts'
import type { Client } from './client.ts'
import { createAnnouncer } from './members.ts'
import { metricOf } from './metrics.ts'
import { startTracker, type TestTracker } from './tracker.ts'

export const SEARCH: AnsweredRequest = {
  function: 'tvsearch',
  rawQuery: 't=tvsearch&q=example+show&season=1',
  results: 12,
  durationMs: 8.4,
  error: undefined,
  userId: undefined,
  authorized: true,
  logged: true,
  address: '203.0.113.1',
  userAgent: 'Sonarr/4.0.10.2544 (alpine 3.20.3)',
}

/** A request as the store receives it. */
export function loggedRequest(request: Partial<LoggedRequest>): LoggedRequest {
  return {
    id: newId(),
    at: new Date(),
    userId: undefined,
    authorized: true,
    logged: true,
    address: '203.0.113.1',
    function: 'search',
    query: '',
    results: 1,
    durationMs: 5,
    error: undefined,
    client: 'Radarr',
    ...request,
  }
}

export type Listed = { query: string; user: { username: string }; function: string; error: number | null }

/** A tracker that keeps its log of Torznab requests for three days, an administrator and the ids of two users. */
export type LoggingTracker = {
  readonly tracker: TestTracker
  readonly admin: Client
  readonly alice: string
  readonly bob: string
  /** Empties the log and the statistics. */
  readonly clear: () => Promise<void>
  /** Records requests, of alice unless they name another user, and writes them. */
  readonly answered: (...requests: readonly Partial<AnsweredRequest>[]) => Promise<void>
  /** Deletes requests that are older than the retention. @returns their number */
  readonly prune: () => Promise<number>
  /** How many requests could not be written. */
  readonly dropped: () => Promise<number>
  /** Lists the log as the administrator sees it; `query` starts with `?`. */
  readonly listed: (query?: string) => Promise<Listed[]>
}

const KEEP_DAYS = 3
const DROPPED = 'tracker_torznab_requests_dropped_total'

export const LOG_BOUNDS = { requests: 1_000, bytes: 1_000_000 }

const TABLES = ['requests', 'addresses', 'batches', 'hours', 'users'].map((name) => `torznab_${name}`)

/** Waits until the requests that a tracker has answered are in its log and statistics. */
export async function requestsAreWritten(tracker: TestTracker): Promise<void> {
  await eventually(async () => (await metricOf(tracker, 'tracker_torznab_requests_waiting')) === 0)
}

export async function startLoggingTracker(): Promise<LoggingTracker> {
  const tracker = await startTracker({ TORZNAB_LOG_DAYS: String(KEEP_DAYS), TRUSTED_PROXIES: '127.0.0.1' })
  const admin = await tracker.signedIn('admin', 'admin')
  const alice = (await createAnnouncer(tracker, 'alice')).id
  const bob = (await createAnnouncer(tracker, 'bob')).id
  const registry = new Registry()
  const log = createRequestLog({
    store: createRequestLogStore(tracker.db, LOG_BOUNDS),
    counters: createRequestLogMetrics(registry),
    clock: tracker,
    keepDays: KEEP_DAYS,
    onError: () => undefined,
  })
  return {
    tracker,
    admin,
    alice,
    bob,
    prune: () => log.prune(),
    dropped: async () => (await registry.getSingleMetric(DROPPED)?.get())?.values[0]?.value ?? 0,
    async clear() {
      await log.flush()
      for (const table of TABLES) await tracker.sql(`delete from ${table}`)
      await tracker.sql('update torznab_log_size set requests = 0, bytes = 0')
    },
    async answered(...requests) {
      for (const request of requests) log.record({ ...SEARCH, userId: alice, ...request })
      await log.flush()
    },
    listed: async (query = '') =>
      ((await admin.get(`/api/admin/torznab/requests${query}`)).json as { items: Listed[] }).items,
  }
}
