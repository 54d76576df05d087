import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { type LoggingTracker, requestsAreWritten, startLoggingTracker } from './support/torznab-log.ts'
import type { TestTracker } from './support/tracker.ts'
import { startTrackerProcess } from './support/tracker-process.ts'

let tracker: TestTracker
let admin: Client
let alice: string
let bob: string
let clear: LoggingTracker['clear']
let answered: LoggingTracker['answered']
let listed: LoggingTracker['listed']

const SETTINGS = '/api/admin/torznab/settings'

beforeAll(async () => {
  ;({ tracker, admin, alice, bob, clear, answered, listed } = await startLoggingTracker())
})

beforeEach(() => clear())

afterAll(() => tracker.stop())

// Before the clock of this process differs from that of the other one.
test('a stopping process logs all its answers, and two processes add to the same counts', async () => {
  const { passkey } = await tracker.context.useCases.accounts.byId(alice)
  await admin.patch(SETTINGS, { preset: 'generous' })
  const environment = { DATABASE_URL: tracker.database.appUrl, REDIS_URL: tracker.redisUrl }
  const stopping = await startTrackerProcess(environment)
  const asks = [stopping.url, tracker.url].flatMap((url) =>
    Array.from({ length: 50 }, (_, i) => `${url}/api/torznab?t=search&q=${i}`),
  )
  const statuses = await Promise.all(asks.map(async (url) => (await fetch(`${url}&apikey=${passkey}`)).status))
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect((await stopping.process.stop()).code).toBe(0)
  await requestsAreWritten(tracker)
  const logged = await tracker.sql('select count(*)::int as n from torznab_requests')
  const counted = await tracker.sql("select requests::int as n from torznab_hours where kind = 'function'")
  const ofUser = await tracker.sql('select requests::int as n from torznab_users')
  expect([logged, counted, ofUser]).toEqual([[{ n: 100 }], [{ n: 100 }], [{ n: 100 }]])
}, 60_000)

test('a request is logged with all its fields', async () => {
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
        address: '203.0.113.1',
      },
    ],
    page: 1,
    limit: 25,
    total: 1,
    totalIsExact: true,
  })
})

test('requests are found by user, address, function, error and time, the newest first', async () => {
  await answered(
    { rawQuery: 'q=one', address: '2001:db8:0:7::/64' },
    { rawQuery: 'q=two', userId: bob, function: 'movie' },
  )
  tracker.advance(1_000)
  await answered({ rawQuery: 'q=three', error: 201, results: 0 })
  await answered({ rawQuery: 'q=four', userId: bob, error: 500, results: 0 })
  const queries = async (query: string) => (await listed(query)).map((each) => each.query.slice(2))
  expect(await queries('')).toEqual(['four', 'three', 'two', 'one'])
  expect(await queries('?user=BOB')).toEqual(['four', 'two'])
  expect(await queries(`?user=${bob}`)).toEqual(['four', 'two'])
  expect(await queries('?user=nobody')).toEqual([])
  expect(await queries('?address=203.0.113.1')).toEqual(['four', 'three', 'two'])
  expect(await queries('?address=2001:db8:0:7::5')).toEqual(['one'])
  expect(await queries('?function=movie')).toEqual(['two'])
  expect(await queries('?error=true')).toEqual(['four', 'three'])
  expect(await queries('?error=false')).toEqual(['two', 'one'])
  expect(await queries('?error=201')).toEqual(['three'])
  expect(await queries('?limit=1&page=2')).toEqual(['three'])
  const middle = encodeURIComponent(
    ((await admin.get('/api/admin/torznab/requests')).json as { items: { at: string }[] }).items[1]?.at ?? '',
  )
  expect(await queries(`?from=${middle}`)).toEqual(['four', 'three'])
  expect(await queries(`?to=${middle}`)).toEqual(['two', 'one'])
})

test.each([
  'address=nowhere',
  'error=maybe',
  'from=now',
  'page=0',
  'limit=500',
  'from=2026-01-01T12:45:00Z&to=2026-01-01T12:15:00Z',
])('the query %s is refused', async (query) => {
  expect((await admin.get(`/api/admin/torznab/requests?${query}`)).status).toBe(400)
})

test('the log contains no key, bounded text, and nothing that Postgres cannot store', async () => {
  const passkey = 'a'.repeat(40)
  await answered(
    { rawQuery: `apikey=${passkey}&q=x&PassKey=${passkey}` },
    { rawQuery: `q=${'y'.repeat(10_000)}`, function: undefined },
    { rawQuery: 'q=nul%00 and half a pair \ud800 and %D0%9F' },
    // Decoded once.
    { rawQuery: 'q=C%2B%2B+100%2525+a%26b&%20apikey=x' },
  )
  const rows = await tracker.sql('select query, function from torznab_requests order by id')
  expect(JSON.stringify(rows)).not.toContain(passkey)
  expect(rows.map(({ query }) => query)).toEqual([
    'q=x',
    `q=${'y'.repeat(498)}`,
    'q=nul and half a pair \ufffd and \u041f',
    'q=C++ 100%25 a&b',
  ])
  expect(rows[1]?.['function']).toBe('unknown')
})

test.each([
  'apikey[]=KEY&q=x',
  'q=x&amp;apikey=KEY',
  'q=x&api_key=KEY',
  'q=x&url=http://tracker.test/api/torznab?apikey=KEY',
  'q=x&url=a%2526passkey%253DKEY',
])('the log contains no key if its parameter is misspelt: %s', async (query) => {
  const passkey = 'a'.repeat(40)
  await answered({ rawQuery: `t=search&${query.replace('KEY', passkey)}` })
  expect(await tracker.sql('select query from torznab_requests')).toEqual([{ query: 'q=x' }])
})

test('the log contains no passkey in any parameter, and the info hash of a torrent that was found', async () => {
  const uploader = await tracker.signedIn('uploader', 'moderator')
  await tracker.context.useCases.categories.seed()
  const infoHash = (await uploader.upload(makeTorrent('logged'), { category: 'other' })).member('infoHash')
  const { passkey } = await tracker.context.useCases.accounts.byId(alice)
  const queries = [
    `/api/torznab?t=search&q=${passkey}`,
    `/api/torznab?t=search&q=a+${passkey.toUpperCase()}+b&${passkey}`,
    `/api/torznab?t=search&q=x${passkey}${passkey}`,
    `/api/torznab?t=search&q=${'y'.repeat(470)}${passkey}`,
    `/api/torznab?t=search&q=${passkey.slice(0, 20)}%00${passkey.slice(20)}`,
    `/api/torznab?t=details&id=${passkey}`,
    `/api/torznab?t=search&id=${passkey}&q=http%3A%2F%2Ftracker.test%2F${passkey}%2Fannounce`,
    `/api/torznab?t=details&id=${infoHash}`,
    `/api/torznab/download?id=${infoHash}&q=${passkey}`,
  ]
  for (const query of queries) await tracker.client().get(`${query}&apikey=${passkey}`)
  await requestsAreWritten(tracker)
  const logged = (await listed()).map(({ query }) => query)
  expect(logged).toHaveLength(queries.length)
  for (let at = 0; at + 12 <= passkey.length; at++)
    expect(logged.join(' ').toLowerCase()).not.toContain(passkey.slice(at, at + 12))
  expect(logged.slice(0, 2)).toEqual([expect.stringContaining(infoHash), `id=${infoHash}`])
})

test('requests are logged if logging was on when they were answered, and counted either way', async () => {
  const { passkey } = await tracker.context.useCases.accounts.byId(alice)
  const ask = (q: string) => tracker.client().get(`/api/torznab?t=search&q=${q}&apikey=${passkey}`)
  await ask('while+on')
  await admin.patch(SETTINGS, { logging: false })
  await ask('while+off')
  await admin.patch(SETTINGS, { logging: true })
  await requestsAreWritten(tracker)
  expect((await listed()).map(({ query }) => query)).toEqual(['q=while on'])
  expect((await admin.get('/api/admin/torznab/statistics')).json).toMatchObject({ totals: { requests: 2 } })
})

test('users are listed with counts, and found by access and part of the name', async () => {
  await answered({}, {}, { error: 500, refusedBy: 'limit' }, { userId: bob, function: 'download' })
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

test('requests of users are logged; anonymous and refused ones are counted', async () => {
  // A new window of the limits would allow another request.
  tracker.holdClock()
  const { passkey } = await tracker.context.useCases.accounts.byId(alice)
  const ask = (query: string, userAgent: string) =>
    tracker.client().get(`/api/torznab${query}`, { 'user-agent': userAgent })
  const key = `apikey=${passkey}`
  await ask('?t=caps', 'Prowlarr/1.25.4.4818 (alpine 3.20.3)')
  await ask(`?t=tvsearch&q=no+such+show&season=2&${key}`, 'Sonarr/4.0.10.2544 (alpine 3.20.3)')
  await ask(`?t=search&q=x&apikey=${'0'.repeat(40)}`, 'curl/8.11.0')
  await ask(`/download?id=${'1'.repeat(40)}&${key}`, 'CrossSeed/6.13.7')
  await ask(`?t=search&limit=-1&${key}`, 'curl/8.11.0')
  await admin.patch(SETTINGS, { searchLimit: 1 })
  for (let i = 0; i < 3; i++) await ask(`?t=search&q=over+the+limit&${key}`, 'curl/8.11.0')
  await admin.patch(SETTINGS, { preset: 'default' })
  await requestsAreWritten(tracker)
  expect((await listed()).toReversed()).toMatchObject([
    { function: 'tvsearch', user: { id: alice }, query: 'q=no such show&season=2', results: 0, client: 'Sonarr' },
    { function: 'download', user: { id: alice }, error: 300, client: 'cross-seed' },
    { function: 'search', user: { id: alice }, query: 'limit=-1', error: 201 },
  ])
  expect((await admin.get('/api/admin/torznab/addresses')).json).toMatchObject({
    items: [{ address: '127.0.0.1', requests: 5, wrongKeys: 1, overLimits: 3 }],
    total: 1,
  })
  expect((await admin.get('/api/admin/torznab/statistics')).json).toMatchObject({
    totals: { requests: 8, errors: 6, uniqueUsers: 1 },
    requestsLast24Hours: 8,
    functions: [{ function: 'search', requests: 5 }, {}, {}, {}],
  })
  expect((await admin.get('/api/admin/torznab/users')).json).toMatchObject({ items: [{ requests: 6, violations: 3 }] })
  expect(JSON.stringify(await tracker.sql('select * from torznab_requests'))).not.toContain(passkey)
})

test('addresses are counted by hour, IPv6 addresses by /64, unless logging is off', async () => {
  const ask = async (address: string) => {
    await tracker.client().get('/api/torznab?t=search&apikey=wrong', { 'x-forwarded-for': address })
    await requestsAreWritten(tracker)
  }
  const items = async () => ((await admin.get('/api/admin/torznab/addresses')).json as { items: object[] }).items
  await ask('2001:db8::1')
  await ask('2001:db8::ffff:2')
  tracker.advance(3_600_000)
  await ask('2001:db8::3')
  expect(await items()).toMatchObject([
    { address: '2001:db8:0:0::/64', requests: 1 },
    { address: '2001:db8:0:0::/64', requests: 2 },
  ])
  await admin.patch(SETTINGS, { logging: false })
  await ask('192.0.2.1')
  await admin.patch(SETTINGS, { logging: true })
  expect(await items()).toHaveLength(2)
})
