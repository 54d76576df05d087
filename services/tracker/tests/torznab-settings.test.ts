import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { createResources } from '@vault-and-tracker/service-kit/lifecycle/resources'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { connectRedis } from '@vault-and-tracker/service-kit/redis/connection'
import { createInvalidations } from '../src/invalidation/invalidation.redis.ts'
import { createTorznabSettingsStore } from '../src/torznab/settings.store.ts'
import { createTorznabSettings } from '../src/torznab/settings.ts'
import type { Client } from './support/client.ts'
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
