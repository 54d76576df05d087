import type { AnsweredRequest } from '../../src/torznab/torznab.ts'
import type { Client } from './client.ts'
import { createAnnouncer } from './members.ts'
import { startTracker, type TestTracker } from './tracker.ts'

export const SEARCH: AnsweredRequest = {
  function: 'tvsearch',
  rawQuery: 't=tvsearch&q=example+show&season=1',
  results: 12,
  durationMs: 8.4,
  error: undefined,
  userId: undefined,
  userAgent: 'Sonarr/4.0.10.2544 (alpine 3.20.3)',
}

export type Listed = { query: string; user: { username: string } | null; function: string; error: number | null }

/** A tracker that keeps its log of Torznab requests for three days, an administrator and the ids of two users. */
export type LoggingTracker = {
  readonly tracker: TestTracker
  readonly admin: Client
  readonly alice: string
  readonly bob: string
  /** Empties the log and the statistics. */
  readonly clear: () => Promise<void>
  /** Logs requests as answered, by alice unless they name another user. */
  readonly answered: (...requests: readonly Partial<AnsweredRequest>[]) => Promise<void>
  /** Lists the log as the administrator sees it; `query` starts with `?`. */
  readonly listed: (query?: string) => Promise<Listed[]>
}

const TABLES = ['requests', 'batches', 'counts', 'users', 'user_sets'].map((name) => `torznab_${name}`)

export async function startLoggingTracker(): Promise<LoggingTracker> {
  const tracker = await startTracker({ TORZNAB_LOG_DAYS: '3' })
  const admin = await tracker.signedIn('admin', 'admin')
  const alice = (await createAnnouncer(tracker, 'alice')).id
  const bob = (await createAnnouncer(tracker, 'bob')).id
  return {
    tracker,
    admin,
    alice,
    bob,
    async clear() {
      await tracker.context.torznabLog.flush()
      for (const table of TABLES) await tracker.sql(`delete from ${table}`)
    },
    async answered(...requests) {
      for (const request of requests) tracker.context.torznabLog.record({ ...SEARCH, userId: alice, ...request })
      await tracker.context.torznabLog.flush()
    },
    listed: async (query = '') =>
      ((await admin.get(`/api/admin/torznab/requests${query}`)).json as { items: Listed[] }).items,
  }
}
