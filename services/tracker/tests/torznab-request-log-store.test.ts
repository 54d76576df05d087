import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { withClient } from '@vault-and-tracker/dev-env'
import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import { newId } from '@vault-and-tracker/service-kit/ids'
import { createRequestLogStore } from '../src/torznab/request-log.store.ts'
import { createRequestLog, type LoggedRequest, type RequestBatch } from '../src/torznab/request-log.ts'
import { rollUp } from '../src/torznab/statistics-rollup.ts'
import type { Client } from './support/client.ts'
import { type LoggingTracker, SEARCH, startLoggingTracker } from './support/torznab-log.ts'
import type { TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let admin: Client
let alice: string
let bob: string
let clear: LoggingTracker['clear']
let answered: LoggingTracker['answered']
let dropped: LoggingTracker['dropped']
let prune: LoggingTracker['prune']
let listed: LoggingTracker['listed']

beforeAll(async () => {
  ;({ tracker, admin, alice, bob, clear, answered, prune, dropped, listed } = await startLoggingTracker())
})

beforeEach(() => clear())

afterAll(() => tracker.stop())

function batchOf(...requests: readonly Partial<LoggedRequest>[]): RequestBatch {
  const logged = requests.map((request) => ({
    id: newId(),
    at: new Date(),
    userId: alice,
    function: 'search',
    query: '',
    results: 1,
    durationMs: 5,
    error: null,
    client: 'Radarr' as const,
    ...request,
  }))
  return { id: newId(), requests: logged, rollup: rollUp(logged) }
}

test('a batch that is written twice counts once', async () => {
  const store = createRequestLogStore(tracker.db)
  const batch = batchOf({}, { userId: bob })
  await Promise.all([store.write(batch), store.write(batch)])
  await store.write(batch)
  const counts = await tracker.sql(
    "select requests::int as n from torznab_counts where span = 'month' and kind = 'all'",
  )
  expect(await listed()).toHaveLength(2)
  expect(counts).toEqual([{ n: 2 }])
})

test('a batch that fails half-way leaves nothing, and what follows is written', async () => {
  const before = await dropped()
  await answered({ userId: newId() })
  expect(await tracker.sql('select 1 from torznab_requests')).toEqual([])
  expect(await tracker.sql('select 1 from torznab_counts')).toEqual([])
  expect(await dropped()).toBe(before + 1)
  await answered({})
  expect(await listed()).toHaveLength(1)
})

test('processes that write at the same time lose nothing and do not lock each other out', async () => {
  const stores = [1, 2, 3, 4].map(() => createRequestLogStore(tracker.db))
  const requests = ['search', 'movie', 'download', 'tvsearch'].map((name, i) => ({
    function: name,
    userId: i % 2 === 0 ? alice : bob,
    durationMs: 3 ** i,
  }))
  await Promise.all(stores.flatMap((store) => [1, 2, 3, 4, 5].map(() => store.write(batchOf(...requests)))))
  expect((await admin.get('/api/admin/torznab/statistics')).json).toMatchObject({
    totals: { requests: 80, uniqueUsers: 2 },
  })
  expect((await admin.get('/api/admin/torznab/users')).json).toMatchObject({
    items: [
      { user: { username: 'bob' }, requests: 40, downloads: 0 },
      { user: { username: 'alice' }, requests: 40, downloads: 20 },
    ],
  })
})

test('days older than the retention are dropped, together with the record of batches', async () => {
  const store = createRequestLogStore(tracker.db)
  const day = 86_400_000
  for (const age of [0, 2, 3, 4, 30]) await store.write(batchOf({ at: new Date(Date.now() - age * day) }))
  await tracker.sql("update torznab_batches set written_at = now() - interval '2 days'")
  expect(await prune()).toBeGreaterThanOrEqual(2)
  const rows = await tracker.sql('select at from torznab_requests order by at')
  expect(rows).toHaveLength(3)
  expect(await tracker.sql('select 1 from torznab_batches')).toEqual([])
  expect((await admin.get('/api/admin/torznab/statistics?range=all')).json).toMatchObject({ totals: { requests: 5 } })
})

test('a day that was dropped is created again when it is written', async () => {
  const store = createRequestLogStore(tracker.db)
  const at = new Date(Date.now() - 9 * 86_400_000)
  await store.write(batchOf({ at }))
  await prune()
  const again = batchOf({ at })
  await expect(store.write(again)).rejects.toThrow(/no partition/)
  await store.write(again)
  expect(await listed()).toHaveLength(1)
})

test('requests of a day whose partition is missing are written all the same', async () => {
  await answered({ rawQuery: 'q=before' })
  const day = `day_${new Date(tracker.now()).toISOString().slice(0, 10).replaceAll('-', '')}`
  await tracker.sql(`drop table torznab_log.${day}`)
  await answered({ rawQuery: 'q=after' })
  expect((await listed()).map(({ query }) => query)).toEqual(['q=after'])
})

test.each([
  'update torznab_requests set query = query',
  'delete from torznab_requests',
  'drop table torznab_requests',
  'create table torznab_log.intruder (id integer)',
  'delete from torznab_counts',
  "select torznab_log_ensure_day('1970-01-01')",
])('the run-time role may not: %s', async (statement) => {
  await expect(withClient(tracker.database.appUrl, (client) => client.query(statement))).rejects.toThrow(
    /permission denied|must be owner|no such day/,
  )
})

test('the run-time role cannot drop the days of yesterday and today', async () => {
  await answered({})
  await withClient(tracker.database.appUrl, (client) => client.query("select torznab_log_drop_days('2100-01-01')"))
  expect(await listed()).toHaveLength(1)
})

/** A log whose store fails until it is told not to. */
function logWithFailingStore() {
  const written: RequestBatch[] = []
  const dropped: number[] = []
  const store = { fails: true }
  const log = createRequestLog({
    store: {
      write: (batch) => {
        if (store.fails) return Promise.reject(new UnavailableError('postgres'))
        written.push(batch)
        return Promise.resolve()
      },
      prune: () => Promise.resolve(0),
    },
    settings: () =>
      Promise.resolve({ enabled: true, logging: true, windowSeconds: 60, searchLimit: 30, downloadLimit: 20 }),
    counters: {
      countWritten: () => undefined,
      countDropped: (requests) => dropped.push(requests),
      setWaiting: () => undefined,
    },
    clock: { now: () => Date.now() },
    keepDays: 30,
    onError: () => undefined,
  })
  return { log, store, written, droppedRequests: () => dropped.reduce((sum, n) => sum + n, 0) }
}

test('while Postgres is unavailable requests wait, up to a bound; the rest is counted as dropped', async () => {
  const { log, store, written, droppedRequests } = logWithFailingStore()
  for (let i = 0; i < 20_500; i++) log.record({ ...SEARCH, rawQuery: `q=${String(i)}` })
  expect(await log.flush()).toBe(false)
  expect(droppedRequests()).toBe(500)
  store.fails = false
  expect(await log.flush()).toBe(true)
  const queries = written.flatMap((batch) => batch.requests.map(({ query }) => query))
  expect(queries).toEqual(Array.from({ length: 20_000 }, (_, i) => `q=${String(i)}`))
  await log.close()
})

test('an orderly stop writes what waits, also when Postgres comes back meanwhile', async () => {
  const { log, store, written, droppedRequests } = logWithFailingStore()
  for (let i = 0; i < 2_500; i++) log.record(SEARCH)
  const closed = log.close()
  setTimeout(() => (store.fails = false), 500)
  await closed
  expect([written.reduce((sum, { requests }) => sum + requests.length, 0), droppedRequests()]).toEqual([2_500, 0])
})
