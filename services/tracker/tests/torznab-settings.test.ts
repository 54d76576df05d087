import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { createResources } from '@vault-and-tracker/service-kit/lifecycle/resources'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { connectRedis } from '@vault-and-tracker/service-kit/redis/connection'
import { createInvalidations } from '../src/invalidation/invalidation.redis.ts'
import { createRequestLogStore } from '../src/torznab/request-log.store.ts'
import { createTorznabSettingsStore } from '../src/torznab/settings.store.ts'
import { createTorznabSettings } from '../src/torznab/settings.ts'
import type { Client } from './support/client.ts'
import { createAnnouncer } from './support/members.ts'
import { LOG_BOUNDS, loggedRequest } from './support/torznab-log.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let admin: Client

const PATH = '/api/admin/torznab/settings'
const DEFAULTS = { enabled: true, logging: true, windowSeconds: 60, searchLimit: 30, downloadLimit: 20 }

beforeAll(async () => {
  tracker = await startTracker()
  admin = await tracker.signedIn('admin', 'admin')
})

beforeEach(async () => {
  await admin.patch(PATH, DEFAULTS)
})

afterAll(() => tracker.stop())

test('a new site has the default preset, answers and logs', async () => {
  expect((await admin.get(PATH)).json).toEqual(DEFAULTS)
})

test('a change keeps omitted settings', async () => {
  const changed = await admin.patch(PATH, { windowSeconds: 300, logging: false })
  expect(changed.json).toEqual({ ...DEFAULTS, windowSeconds: 300, logging: false })
  expect((await admin.get(PATH)).json).toEqual(changed.json)
})

test('presets are named limits', async () => {
  expect((await admin.get('/api/admin/torznab/presets')).json).toEqual({
    items: [
      { preset: 'strict', title: 'Strict', windowSeconds: 60, searchLimit: 15, downloadLimit: 10 },
      { preset: 'default', title: 'Default', windowSeconds: 60, searchLimit: 30, downloadLimit: 20 },
      { preset: 'relaxed', title: 'Relaxed', windowSeconds: 60, searchLimit: 60, downloadLimit: 40 },
      { preset: 'generous', title: 'Generous', windowSeconds: 60, searchLimit: 120, downloadLimit: 80 },
    ],
  })
  await admin.patch(PATH, { windowSeconds: 600, enabled: false })
  expect((await admin.patch(PATH, { preset: 'strict' })).json).toEqual({
    ...DEFAULTS,
    enabled: false,
    searchLimit: 15,
    downloadLimit: 10,
  })
  expect((await admin.patch(PATH, { preset: 'generous', downloadLimit: 5 })).json).toMatchObject({
    searchLimit: 120,
    downloadLimit: 5,
  })
})

test.each([
  [{ windowSeconds: 9 }, 'windowSeconds'],
  [{ windowSeconds: 3_601 }, 'windowSeconds'],
  [{ windowSeconds: 60.5 }, 'windowSeconds'],
  [{ searchLimit: 0 }, 'searchLimit'],
  [{ downloadLimit: 10_001 }, 'downloadLimit'],
  [{ enabled: 'yes' }, 'enabled'],
  [{ preset: 'Strict' }, 'preset'],
])('the change %j is refused, naming %s', async (change, name) => {
  const answer = await admin.patch(PATH, change)
  expect([answer.status, answer.member('error', 'message')]).toEqual([
    400,
    expect.stringMatching(new RegExp(`^${name}: `)),
  ])
  expect((await admin.get(PATH)).json).toEqual(DEFAULTS)
})

test.each([10, 3_600])('a window of %i seconds is allowed', async (windowSeconds) => {
  expect((await admin.patch(PATH, { windowSeconds })).json).toMatchObject({ windowSeconds })
})

test.each(['member', 'moderator'] as const)('a %s may neither read nor change them', async (role) => {
  const client = await tracker.signedIn(`a-${role}`, role)
  for (const path of ['settings', 'presets', 'statistics', 'requests', 'users', 'blocks'])
    expect((await client.get(`/api/admin/torznab/${path}`)).status).toBe(403)
  expect((await client.patch(PATH, { enabled: false })).status).toBe(403)
  expect((await tracker.client().get(PATH)).status).toBe(401)
})

test('another replica applies a change when it is notified', async () => {
  const logger = createLogger({ name: 'replica', level: 'silent' })
  const redis = await connectRedis({ url: tracker.redisUrl, name: 'replica', logger })
  const resources = createResources()
  const invalidations = await createInvalidations({ url: tracker.redisUrl, redis, logger, resources })
  const replica = createTorznabSettings({
    store: createTorznabSettingsStore(tracker.db),
    invalidations,
    clock: { now: () => 0 },
  })
  try {
    expect(await replica.current()).toEqual(DEFAULTS)
    await tracker.sql('update torznab_settings set search_limit = 31')
    expect(await replica.current()).toEqual(DEFAULTS)
    await admin.patch(PATH, { searchLimit: 99 })
    await eventually(async () => (await replica.current()).searchLimit === 99)
  } finally {
    await resources.close()
    redis.disconnect()
  }
})

test('two changes at once are both in the settings', async () => {
  await Promise.all([admin.patch(PATH, { searchLimit: 41 }), admin.patch(PATH, { downloadLimit: 42 })])
  expect((await admin.get(PATH)).json).toMatchObject({ searchLimit: 41, downloadLimit: 42 })
})

test('the database enforces the same bounds', async () => {
  for (const wrong of ['window_seconds = 9', 'window_seconds = 3601', 'search_limit = 0', 'download_limit = 10001'])
    await expect(tracker.sql(`update torznab_settings set ${wrong}`)).rejects.toThrow(/check constraint/)
})

const HOUR = 3_600_000
const DAY = 24 * HOUR
const STATISTICS = '/api/admin/torznab/statistics'

type Step = { start: string; requests: number; errors: number; averageMs: number | null }
type Statistics = {
  from: string
  to: string
  totals: Record<string, number | null>
  before: Record<string, number | string | null> | null
  requestsEver: number
  requestsLast24Hours: number
  functions: readonly Record<string, unknown>[]
  clients: readonly Record<string, unknown>[]
  series: { step: string; items: readonly Step[] }
}

describe('statistics', () => {
  let users: readonly string[]
  let now: number

  beforeAll(async () => {
    tracker.holdClock()
    users = await Promise.all(['alice', 'bob', 'carol'].map(async (name) => (await createAnnouncer(tracker, name)).id))
    now = Date.now()
  })

  beforeEach(async () => {
    for (const table of ['hours', 'users']) await tracker.sql(`delete from torznab_${table}`)
  })

  type Request = {
    hoursAgo?: number
    user?: number | undefined
    function?: string
    client?: string
    durationMs?: number
    error?: number
  }

  /** Counts requests as a flush does, at chosen times. */
  async function count(...requests: readonly Request[]): Promise<void> {
    const counted = requests.map((request) => ({
      ...loggedRequest({
        userId: 'user' in request && request.user === undefined ? undefined : users[request.user ?? 0],
      }),
      at: new Date(now - (request.hoursAgo ?? 0) * HOUR),
      function: request.function ?? 'search',
      client: request.client ?? 'Sonarr',
      durationMs: request.durationMs ?? 10,
      error: request.error,
      logged: false,
    }))
    await createRequestLogStore(tracker.db, LOG_BOUNDS).write({ id: crypto.randomUUID(), requests: counted })
  }

  async function read(query = ''): Promise<Statistics> {
    const answer = await admin.get(STATISTICS + query)
    expect(answer.status).toBe(200)
    return answer.json as Statistics
  }

  test('before the first request everything is zero or unknown', async () => {
    const nothing = { requests: 0, errors: 0, uniqueUsers: 0, averageMs: null }
    for (const query of ['', '?range=7d', '?range=30d', '?range=all']) {
      const { totals, before, functions, clients, requestsEver } = await read(query)
      expect([totals, functions, clients, requestsEver]).toEqual([nothing, [], [], 0])
      expect(before).toBeNull()
    }
  })

  test('the last 24 hours: totals, functions, clients, by hour, and the time before', async () => {
    await count(
      { durationMs: 10 },
      { durationMs: 30, user: 1, function: 'download', client: 'Radarr' },
      { durationMs: 20, hoursAgo: 5, error: 500 },
      { durationMs: 20, hoursAgo: 5, user: undefined, error: 100, client: 'browser' },
      { durationMs: 100, hoursAgo: 30, user: 2 },
      { durationMs: 100, hoursAgo: 60, user: 2, error: 201 },
    )
    const found = await read()
    expect(found.totals).toEqual({ requests: 4, errors: 2, uniqueUsers: 2, averageMs: 20 })
    expect(found.before).toMatchObject({ requests: 1, errors: 0, uniqueUsers: 1, averageMs: 100, to: found.from })
    expect(found).toMatchObject({ requestsEver: 6, requestsLast24Hours: 4 })
    expect(found.functions).toEqual([
      { function: 'search', requests: 3, errors: 2, averageMs: 16.67 },
      { function: 'download', requests: 1, errors: 0, averageMs: 30 },
    ])
    expect(found.clients.map(({ client, requests }) => [client, requests])).toEqual([
      ['Sonarr', 2],
      ['Radarr', 1],
      ['browser', 1],
    ])
    expect(Date.parse(found.to) - Date.parse(found.from)).toBe(DAY)
    expect(found.series.step).toBe('hour')
    expect(found.series.items).toHaveLength(24)
    expect(found.series.items.at(-1)).toMatchObject({ requests: 2, errors: 0, averageMs: 20 })
    expect(found.series.items.at(-6)).toMatchObject({ requests: 2, errors: 2, averageMs: 20 })
    expect(found.series.items.at(-2)).toMatchObject({ requests: 0, errors: 0, averageMs: null })
  })

  test('longer ranges, and a range of everything', async () => {
    for (const hoursAgo of [1, 100, 300, 1_000, 9_000, 20_000]) await count({ hoursAgo, user: hoursAgo % 3 })
    const requestsOf = async (query: string) => (await read(query)).totals['requests']
    expect(await requestsOf('?range=24h')).toBe(1)
    expect(await requestsOf('?range=7d')).toBe(2)
    expect(await requestsOf('?range=30d')).toBe(3)
    expect(await requestsOf('?range=all')).toBe(6)
    const month = await read('?range=30d')
    expect(month.series).toMatchObject({ step: 'hour', items: { length: 720 } })
    expect(month.before).toMatchObject({ requests: 1 })
    const all = await read('?range=all')
    expect(all.series.step).toBe('month')
    expect(all.series.items.reduce((sum, { requests }) => sum + requests, 0)).toBe(6)
    expect([all.before, all.requestsEver]).toEqual([null, 6])
  })

  test('any range is the sum of its hours', async () => {
    const hours = Array.from({ length: 90 }, (_, i) => i * 29 + (i % 7))
    await count(...hours.map((hoursAgo) => ({ hoursAgo, user: hoursAgo % 3, durationMs: 1 + (hoursAgo % 50) })))
    for (const [first, last] of [
      [0, 3],
      [10, 700],
      [24, 1_500],
      [48, 2_000],
      [1, 2_600],
    ] as const) {
      const [from, to] = [new Date(now - last * HOUR), new Date(now - first * HOUR)]
      const found = await read(`?from=${from.toISOString()}&to=${to.toISOString()}`)
      const [start, end] = [Date.parse(found.from), Date.parse(found.to)]
      expect([start % HOUR, end % HOUR, start <= from.getTime(), end >= to.getTime()]).toEqual([0, 0, true, true])
      const inside = hours.filter((hoursAgo) => now - hoursAgo * HOUR >= start && now - hoursAgo * HOUR < end)
      expect(found.totals).toMatchObject({ requests: inside.length })
    }
  })

  test.each([
    ['2026-01-10T12:00:00Z', '2026-02-28T12:00:00Z', 'day'],
    ['2024-01-10T12:00:00Z', '2026-02-28T12:00:00Z', 'month'],
  ])('the steps of the range from %s to %s add up to its totals', async (from, to, step) => {
    const inside = ['2026-01-10T12:10:00Z', '2026-01-31T23:59:00Z', '2026-02-28T11:59:00Z']
    const times = ['2024-01-10T06:10:00Z', '2026-02-28T20:10:00Z', ...inside]
    await count(...times.map((time) => ({ hoursAgo: (now - Date.parse(time)) / HOUR })))
    const { totals, series } = await read(`?from=${from}&to=${to}`)
    expect([totals['requests'], series.step]).toEqual([inside.length, step])
    expect(series.items.reduce((sum, { requests }) => sum + requests, 0)).toBe(inside.length)
  })

  test('a range of all times has the years that requests can be of', async () => {
    const { from, to, totals, series } = await read('?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z')
    expect([from, to]).toEqual(['2000-01-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z'])
    expect(totals).toEqual((await read('?range=all')).totals)
    expect(series).toMatchObject({ step: 'month', items: { length: 1_200 } })
  })

  test('users are counted from their first to their newest request', async () => {
    await count({ hoursAgo: 10 }, { hoursAgo: 5 }, { hoursAgo: 3, user: 1 }, { hoursAgo: 60, user: 2 })
    const ago = (hours: number) => new Date(now - hours * HOUR).toISOString()
    const users = async (from: number, to: number) =>
      (await read(`?from=${ago(from)}&to=${ago(to)}`)).totals['uniqueUsers']
    expect([
      await users(24, 0),
      await users(11, 9),
      await users(8, 7),
      await users(100, 50),
      await users(2, 0),
    ]).toEqual([2, 1, 1, 1, 0])
  })

  test('`from` alone lasts until now, `to` alone begins with counting', async () => {
    await count({ hoursAgo: 50 }, { hoursAgo: 2 })
    const ago = (hours: number) => new Date(now - hours * HOUR).toISOString()
    expect((await read(`?from=${ago(3)}`)).totals['requests']).toBe(1)
    expect((await read(`?to=${ago(3)}`)).totals['requests']).toBe(1)
    expect((await read(`?from=${ago(60)}&to=${ago(3)}`)).totals['requests']).toBe(1)
    expect((await read(`?from=${encodeURIComponent('2020-01-01T01:00:00+02:00')}`)).from).toBe(
      '2019-12-31T23:00:00.000Z',
    )
  })

  test.each([
    'range=1h',
    'from=2026-02-01',
    'from=yesterday',
    'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
    'from=2026-01-01T12:45:00Z&to=2026-01-01T12:15:00Z',
    'to=2000-01-01T00:00:00Z',
  ])('the query %s is refused', async (query) => {
    const answer = await admin.get(`${STATISTICS}?${query}`)
    expect([answer.status, answer.member('error', 'code')]).toEqual([400, 'BAD_REQUEST'])
  })
})
