import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { withClient } from '@vault-and-tracker/dev-env'
import { UnavailableError } from '@vault-and-tracker/service-kit/core/errors'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { createRequestLogStore, type LogBounds } from '../src/torznab/request-log.store.ts'
import { createRequestLog, type LoggedRequest, type RequestBatch } from '../src/torznab/request-log.ts'
import type { Client } from './support/client.ts'
import { LOG_BOUNDS, type LoggingTracker, loggedRequest, SEARCH, startLoggingTracker } from './support/torznab-log.ts'
import type { TestTracker } from './support/tracker.ts'

const ADDRESSES = '/api/admin/torznab/addresses'

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

const store = (bounds: LogBounds) => createRequestLogStore(tracker.db, bounds)

function batchOf(...requests: readonly Partial<LoggedRequest>[]): RequestBatch {
  return { id: newId(), requests: requests.map((request) => loggedRequest({ userId: alice, ...request })) }
}

test('a batch that is written twice counts once', async () => {
  const store = createRequestLogStore(tracker.db, LOG_BOUNDS)
  const batch = batchOf({}, { userId: bob })
  await Promise.all([store.write(batch), store.write(batch)])
  await store.write(batch)
  const counts = await tracker.sql("select requests::int as n from torznab_hours where kind = 'function'")
  expect(await listed()).toHaveLength(2)
  expect(counts).toEqual([{ n: 2 }])
})

test('a batch that fails half-way leaves nothing, and later ones are written', async () => {
  const before = await dropped()
  await answered({ userId: newId() })
  expect(await tracker.sql('select 1 from torznab_requests')).toEqual([])
  expect(await tracker.sql('select 1 from torznab_hours')).toEqual([])
  expect(await dropped()).toBe(before + 1)
  await answered({})
  expect(await listed()).toHaveLength(1)
})

test('requests are counted by hour, function and application, by user, and without authorization by address', async () => {
  const [before, after] = [new Date('2026-01-31T23:00Z'), new Date('2026-02-01T00:00Z')]
  await store(LOG_BOUNDS).write(
    batchOf(
      { at: new Date('2026-01-31T23:59:59.999Z'), durationMs: 10 },
      { at: after, authorized: false, refusedBy: 'limit', error: 500, durationMs: 30 },
      { at: after, authorized: false, refusedBy: 'block', error: 500, logged: false },
      { at: after, authorized: false, userId: undefined, error: 100, function: 'download' },
    ),
  )
  const hours = await tracker.sql('select name, hour, requests, errors, duration_ms from torznab_hours order by 1, 2')
  expect(hours.map((row) => Object.values(row))).toEqual([
    ['Radarr', before, 1, 0, 10],
    ['Radarr', after, 3, 3, 40],
    ['download', after, 1, 1, 5],
    ['search', before, 1, 0, 10],
    ['search', after, 2, 2, 35],
  ])
  expect((await admin.get('/api/admin/torznab/users')).json).toMatchObject({
    items: [{ requests: 3, errors: 2, downloads: 0, violations: 1, lastRequest: after.toISOString() }],
  })
  expect((await admin.get(ADDRESSES)).json).toMatchObject({
    items: [{ hour: after.toISOString(), requests: 2, wrongKeys: 1, overLimits: 1 }],
  })
})

test('concurrent writers lose nothing and do not deadlock', async () => {
  const stores = [1, 2, 3, 4].map(() => createRequestLogStore(tracker.db, LOG_BOUNDS))
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

test('requests and addresses older than the retention are deleted, together with the record of batches', async () => {
  const store = createRequestLogStore(tracker.db, LOG_BOUNDS)
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000)
  for (const age of [0, 2, 4, 30]) await store.write(batchOf({ at: ago(age) }))
  await store.write(batchOf({ at: ago(2) }, ...[2, 4].map((age) => ({ at: ago(age), authorized: false }))))
  await tracker.sql("update torznab_batches set written_at = now() - interval '2 days'")
  expect(await prune()).toBe(2)
  expect(await listed()).toHaveLength(3)
  expect((await admin.get(ADDRESSES)).json).toMatchObject({ total: 1 })
  expect(await tracker.sql('select 1 from torznab_batches')).toEqual([])
  expect((await admin.get('/api/admin/torznab/statistics?range=all')).json).toMatchObject({ totals: { requests: 7 } })
})

const LONG = 'y'.repeat(499)

test.each([
  ['requests', { requests: 5, bytes: 1_000_000 }, '', 5],
  ['bytes', { requests: 1_000, bytes: 5_000 }, LONG, 5],
])('a log that is full of %s makes room for new ones, the oldest first', async (_what, bounds, text, kept) => {
  const stores = [store(bounds), store(bounds)]
  const named = (n: number) => ({ query: `${String(n % 10)}${text}`, at: new Date(Date.now() + n) })
  for (let n = 1; n <= 4; n++) {
    await Promise.all(stores.map((store, i) => store.write(batchOf(named(2 * n + i), named(2 * n + i)))))
  }
  expect((await listed()).map(({ query }) => query[0])).toEqual(['9', '9', '8', '8', '7'].slice(0, kept))
  await store(bounds).write(batchOf(...Array.from({ length: 20 }, (_, n) => named(n + 10))))
  expect(await listed()).toHaveLength(kept)
  expect(await listed()).toMatchObject([{ query: `9${text}` }, {}, {}, {}, { query: `5${text}` }])
  expect((await admin.get('/api/admin/torznab/statistics')).json).toMatchObject({ totals: { requests: 36 } })
})

test('a log that was emptied manually accepts entries again', async () => {
  const bounds = { requests: 3, bytes: 1_000_000 }
  await store(bounds).write(batchOf({}, {}, {}))
  await tracker.sql('delete from torznab_requests')
  await prune()
  await store(bounds).write(batchOf({}, {}))
  expect(await listed()).toHaveLength(2)
})

test('an hour has rows of 500 addresses and one of all others, however many processes write', async () => {
  const at = new Date()
  const from = (third: number, addresses: number, times = 1) =>
    Array.from({ length: addresses * times }, (_, n) => {
      const address = `198.51.${String(third)}.${String(n % addresses)}`
      return { at, address, authorized: false, userId: undefined, error: 100 }
    })
  await store(LOG_BOUNDS).write(batchOf(...from(0, 200, 9)))
  await Promise.all([1, 2, 3].map((third) => store(LOG_BOUNDS).write(batchOf(...from(third, 200)))))
  await store(LOG_BOUNDS).write(batchOf(...from(0, 200), ...from(4, 50)))
  const { items, total } = (await admin.get(`${ADDRESSES}?limit=100`)).json as { items: object[]; total: number }
  expect(total).toBe(501)
  expect(items[0]).toMatchObject({ address: 'others', requests: 350, wrongKeys: 350 })
  expect(items[1]).toEqual({
    hour: new Date(Math.floor(at.getTime() / 3_600_000) * 3_600_000).toISOString(),
    address: '198.51.0.0',
    requests: 10,
    wrongKeys: 10,
    overLimits: 0,
  })
})

test.each([
  'update torznab_requests set query = query',
  'delete from torznab_log_size',
  'drop table torznab_requests',
  'delete from torznab_hours',
])('the run-time role may not: %s', async (statement) => {
  await expect(withClient(tracker.database.appUrl, (client) => client.query(statement))).rejects.toThrow(
    /permission denied|must be owner/,
  )
})

/** A log whose store fails until `fails` is false. */
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

test('while Postgres is unavailable, requests wait up to a bound; further ones are counted as dropped', async () => {
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

test('while Postgres is unavailable, half of the buffer is reserved for requests with a key', async () => {
  const { log, store, written, droppedRequests } = logWithFailingStore()
  for (let i = 0; i < 15_000; i++) log.record({ ...SEARCH, authorized: false, error: 100 })
  for (let i = 0; i < 10_000; i++) log.record(SEARCH)
  expect(droppedRequests()).toBe(5_000)
  store.fails = false
  await log.flush()
  const withKey = written.flatMap(({ requests }) => requests.map(({ authorized }) => authorized))
  expect([true, false].map((each) => withKey.filter((authorized) => authorized === each).length)).toEqual([
    10_000, 10_000,
  ])
  await log.close()
})

test('an orderly stop writes waiting requests, even if Postgres returns only then', async () => {
  const { log, store, written, droppedRequests } = logWithFailingStore()
  for (let i = 0; i < 2_500; i++) log.record(SEARCH)
  const closed = log.close()
  setTimeout(() => (store.fails = false), 500)
  await closed
  expect([written.reduce((sum, { requests }) => sum + requests.length, 0), droppedRequests()]).toEqual([2_500, 0])
})
