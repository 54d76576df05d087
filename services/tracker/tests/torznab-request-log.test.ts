import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { withClient } from '@vault-and-tracker/dev-env'
import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import { newId } from '@vault-and-tracker/service-kit/ids'
import { createRequestLogStore } from '../src/torznab/request-log.store.ts'
import { createRequestLog, type LoggedRequest, type RequestBatch } from '../src/torznab/request-log.ts'
import { rollUp } from '../src/torznab/statistics-rollup.ts'
import type { AnsweredRequest } from '../src/torznab/torznab.ts'
import type { Client } from './support/client.ts'
import { createAnnouncer } from './support/members.ts'
import { metricOf } from './support/metrics.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let admin: Client
let alice: string
let bob: string

const SETTINGS = '/api/admin/torznab/settings'
const TABLES = ['requests', 'batches', 'counts', 'users', 'user_sets'].map((name) => `torznab_${name}`)

beforeAll(async () => {
  tracker = await startTracker({ TORZNAB_LOG_DAYS: '3' })
  admin = await tracker.signedIn('admin', 'admin')
  alice = (await createAnnouncer(tracker, 'alice')).id
  bob = (await createAnnouncer(tracker, 'bob')).id
})

beforeEach(async () => {
  await tracker.context.torznabLog.flush()
  for (const table of TABLES) await tracker.sql(`delete from ${table}`)
})

afterAll(() => tracker.stop())

const SEARCH: AnsweredRequest = {
  function: 'tvsearch',
  query: 'q=example+show&season=1',
  results: 12,
  durationMs: 8.4,
  error: undefined,
  userId: undefined,
  userAgent: 'Sonarr/4.0.10.2544 (alpine 3.20.3)',
  address: '192.0.2.1',
}

async function answered(...requests: readonly Partial<AnsweredRequest>[]): Promise<void> {
  for (const request of requests) tracker.context.torznabLog.record({ ...SEARCH, userId: alice, ...request })
  await tracker.context.torznabLog.flush()
}

type Listed = { query: string; user: { username: string } | null; function: string; error: number | null }
const listed = async (query = '') =>
  ((await admin.get(`/api/admin/torznab/requests${query}`)).json as { items: Listed[] }).items

test('a request is in the log with all that is known of it', async () => {
  await answered({})
  expect((await admin.get('/api/admin/torznab/requests')).json).toEqual({
    items: [
      {
        id: expect.any(String),
        at: expect.any(String),
        user: { id: alice, username: 'alice' },
        function: 'tvsearch',
        query: 'q=example show&season=1',
        results: 12,
        durationMs: 8.4,
        error: null,
        client: 'Sonarr',
      },
    ],
    page: 1,
    limit: 25,
    total: 1,
    totalIsExact: true,
  })
})

test('requests are found by user, function, error and time, the newest first', async () => {
  await answered({ query: 'q=one' }, { query: 'q=two', userId: bob, function: 'movie' })
  tracker.advance(1_000)
  await answered({ query: 'q=three', userId: undefined, error: 100, results: 0 })
  await answered({ query: 'q=four', userId: bob, error: 500, results: 0 })
  const queries = async (query: string) => (await listed(query)).map((each) => each.query.slice(2))
  expect(await queries('')).toEqual(['four', 'three', 'two', 'one'])
  expect(await queries('?user=BOB')).toEqual(['four', 'two'])
  expect(await queries(`?user=${bob}`)).toEqual(['four', 'two'])
  expect(await queries('?user=nobody')).toEqual([])
  expect(await queries('?function=movie')).toEqual(['two'])
  expect(await queries('?error=true')).toEqual(['four', 'three'])
  expect(await queries('?error=false')).toEqual(['two', 'one'])
  expect(await queries('?error=100')).toEqual(['three'])
  expect(await queries('?limit=1&page=2')).toEqual(['three'])
  const middle = encodeURIComponent(
    ((await admin.get('/api/admin/torznab/requests')).json as { items: { at: string }[] }).items[1]?.at ?? '',
  )
  expect(await queries(`?from=${middle}`)).toEqual(['four', 'three'])
  expect(await queries(`?to=${middle}`)).toEqual(['two', 'one'])
  expect((await listed('?error=100'))[0]?.user).toBeNull()
})

test.each(['error=maybe', 'from=now', 'page=0', 'limit=500'])('the query %s is refused', async (query) => {
  expect((await admin.get(`/api/admin/torznab/requests?${query}`)).status).toBe(400)
})

test('a key is never in it, text is bounded, and what Postgres cannot store is left out', async () => {
  const passkey = 'a'.repeat(40)
  await answered(
    { query: `apikey=${passkey}&q=x&PassKey=${passkey}` },
    { query: `q=${'y'.repeat(10_000)}`, function: undefined },
    { query: 'q=nul%00 and half a pair \ud800 and %D0%9F' },
  )
  const rows = await tracker.sql('select query, function from torznab_requests order by id')
  expect(JSON.stringify(rows)).not.toContain(passkey)
  expect(rows.map(({ query }) => query)).toEqual([
    'q=x',
    `q=${'y'.repeat(498)}`,
    'q=nul and half a pair \ufffd and \u041f',
  ])
  expect(rows[1]?.['function']).toBe('unknown')
})

test('without logging nothing is in the log, while statistics go on', async () => {
  await admin.patch(SETTINGS, { logging: false })
  await answered({}, { userId: bob })
  expect(await listed()).toEqual([])
  expect((await admin.get('/api/admin/torznab/statistics')).json).toMatchObject({
    totals: { requests: 2, uniqueUsers: 2 },
  })
  await admin.patch(SETTINGS, { logging: true })
  await answered({})
  expect(await listed()).toHaveLength(1)
})

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
  const before = await metricOf(tracker, 'tracker_torznab_requests_dropped_total')
  await answered({ userId: newId() })
  expect(await tracker.sql('select 1 from torznab_requests')).toEqual([])
  expect(await tracker.sql('select 1 from torznab_counts')).toEqual([])
  expect(await metricOf(tracker, 'tracker_torznab_requests_dropped_total')).toBe(before + 1)
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

test('users: counts, violations, blocked ones and a part of the name', async () => {
  await answered({}, {}, { error: 500 }, { userId: bob, function: 'download' })
  await admin.patch(`/api/admin/users/${bob}`, { apiBlocked: true })
  const users = '/api/admin/torznab/users'
  const ofAlice = { user: { id: alice, username: 'alice' }, requests: 3, downloads: 0, errors: 1, violations: 1 }
  expect((await admin.get(users)).json).toEqual({
    items: [
      { ...ofAlice, lastRequest: expect.any(String), blocked: false },
      expect.objectContaining({ user: { id: bob, username: 'bob' }, requests: 1, downloads: 1, blocked: true }),
    ],
    page: 1,
    limit: 25,
    total: 2,
    totalIsExact: true,
  })
  expect((await admin.get(`${users}?blocked=true`)).json).toMatchObject({ total: 1, items: [{ requests: 1 }] })
  expect((await admin.get(`${users}?blocked=false`)).json).toMatchObject({ total: 1, items: [{ requests: 3 }] })
  expect((await admin.get(`${users}?search=LIC`)).json).toMatchObject({ total: 1, items: [{ requests: 3 }] })
  expect((await admin.get(`${users}?search=%25`)).json).toMatchObject({ total: 0 })
  expect((await admin.get(`${users}?limit=1&page=2`)).json).toMatchObject({ total: 2, items: [{ requests: 1 }] })
  await admin.patch(`/api/admin/users/${bob}`, { apiBlocked: false })
})

test('a blocked user without a request is listed', async () => {
  await admin.patch(`/api/admin/users/${bob}`, { apiBlocked: true })
  expect((await admin.get('/api/admin/torznab/users')).json).toMatchObject({
    items: [{ user: { username: 'bob' }, requests: 0, lastRequest: null, blocked: true }],
  })
  await admin.patch(`/api/admin/users/${bob}`, { apiBlocked: false })
})

test('days older than the retention are dropped, together with the record of batches', async () => {
  const store = createRequestLogStore(tracker.db)
  const day = 86_400_000
  for (const age of [0, 2, 3, 4, 30]) await store.write(batchOf({ at: new Date(Date.now() - age * day) }))
  await tracker.sql("update torznab_batches set written_at = now() - interval '2 days'")
  expect(await tracker.context.torznabLog.prune()).toBeGreaterThanOrEqual(2)
  const rows = await tracker.sql('select at from torznab_requests order by at')
  expect(rows).toHaveLength(3)
  expect(await tracker.sql('select 1 from torznab_batches')).toEqual([])
  expect((await admin.get('/api/admin/torznab/statistics?range=all')).json).toMatchObject({ totals: { requests: 5 } })
})

test('a day that was dropped is created again when it is written', async () => {
  const store = createRequestLogStore(tracker.db)
  const at = new Date(Date.now() - 9 * 86_400_000)
  await store.write(batchOf({ at }))
  await tracker.context.torznabLog.prune()
  const again = batchOf({ at })
  await expect(store.write(again)).rejects.toThrow(/no partition/)
  await store.write(again)
  expect(await listed()).toHaveLength(1)
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

test('requests to the API are logged as they were answered, caps and refusals too', async () => {
  const { passkey } = await tracker.context.useCases.accounts.byId(alice)
  const ask = (query: string, userAgent: string) =>
    tracker.client().get(`/api/torznab${query}`, { 'user-agent': userAgent })
  await ask('?t=caps', 'Prowlarr/1.25.4.4818 (alpine 3.20.3)')
  await ask(`?t=tvsearch&q=no+such+show&season=2&apikey=${passkey}`, 'Sonarr/4.0.10.2544 (alpine 3.20.3)')
  await ask(`?t=search&q=x&apikey=${'0'.repeat(40)}`, 'curl/8.11.0')
  await ask(`/download?id=${'1'.repeat(40)}&apikey=${passkey}`, 'CrossSeed/6.13.7')
  await tracker.context.torznabLog.flush()
  const rows = (await admin.get('/api/admin/torznab/requests')).json as { items: unknown[] }
  expect(rows.items.toReversed()).toMatchObject([
    { function: 'caps', user: null, error: null, client: 'Prowlarr' },
    { function: 'tvsearch', user: { id: alice }, query: 'q=no such show&season=2', results: 0, client: 'Sonarr' },
    { function: 'search', user: null, query: 'q=x', error: 100, client: 'library' },
    { function: 'download', user: { id: alice }, error: 300, client: 'cross-seed' },
  ])
  expect(JSON.stringify(await tracker.sql('select * from torznab_requests'))).not.toContain(passkey)
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
    onFailure: () => undefined,
  })
  return { log, store, written, droppedRequests: () => dropped.reduce((sum, n) => sum + n, 0) }
}

test('while Postgres is away requests wait, up to a bound; the rest is counted as dropped', async () => {
  const { log, store, written, droppedRequests } = logWithFailingStore()
  for (let i = 0; i < 20_500; i++) log.record({ ...SEARCH, query: `q=${String(i)}` })
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
