import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createRequestLogStore } from '../src/torznab/request-log.store.ts'
import { rollUp } from '../src/torznab/statistics-rollup.ts'
import type { Client } from './support/client.ts'
import { createMember } from './support/members.ts'
import { setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'
import type { TestTracker } from './support/tracker.ts'

const MINUTE = 60_000
const SETTINGS = '/api/admin/torznab/settings'

let site: TorznabSite
let replica: TestTracker
let admin: Client
let clock = Math.ceil(Date.now() / MINUTE) * MINUTE + 1_000

beforeAll(async () => {
  site = await startTorznabSite({ TRUSTED_PROXIES: '127.0.0.1' })
  admin = await site.tracker.signedIn('boss', 'admin')
  replica = await site.tracker.replica()
})

// Each test has a window of its own.
beforeEach(() => {
  clock += 10 * MINUTE
  site.tracker.holdClock(clock)
  replica.holdClock(clock)
})

afterAll(async () => {
  await replica.stop()
  await site.tracker.stop()
})

async function limit(searches: number): Promise<void> {
  await setLimits(site.tracker, { searches })
  await new Promise((resolve) => setTimeout(resolve, 200))
}

const ask = (passkey: string, address: string, tracker = site.tracker, query = 't=search&limit=0') =>
  tracker.client().get(`/api/torznab?${query}&apikey=${passkey}`, { 'x-forwarded-for': address })

test('D6: the admin log takes a description whose 500th character is a pair of surrogates', async () => {
  await limit(10_000)
  const { id } = await site.upload('Described.Show.S01E01.720p.WEB.x264-GRP')
  const answer = await admin.patch(`/api/torrents/${id}`, { description: `${'a'.repeat(499)}😀 and more` })
  expect(answer.status).toBe(200)
})

test('D7: what a block refuses is no violation of a limit by those who share the address', async () => {
  await limit(1)
  const noisy = await createMember(site.tracker, 'noisy')
  const quiet = await createMember(site.tracker, 'quiet')
  for (let i = 0; i < 11; i++) await ask(noisy.passkey, '203.0.113.5')
  for (let i = 0; i < 3; i++) expect((await ask(quiet.passkey, '203.0.113.5')).status).toBe(429)
  await site.tracker.context.torznabLog.flush()
  expect((await admin.get('/api/admin/torznab/users?search=quiet')).json).toMatchObject({
    items: [{ requests: 3, errors: 3, violations: 0 }],
  })
})

test('D8: what is logged is what the switch said when a request was answered', async () => {
  await limit(10_000)
  const { passkey } = site.uploader
  await site.tracker.context.torznabLog.flush()
  await ask(passkey, '203.0.113.6', site.tracker, 't=search&q=answered+while+on')
  await admin.patch(SETTINGS, { logging: false })
  await site.tracker.context.torznabLog.flush()
  await ask(passkey, '203.0.113.6', site.tracker, 't=search&q=answered+while+off')
  await admin.patch(SETTINGS, { logging: true })
  await site.tracker.context.torznabLog.flush()
  const rows = await site.tracker.sql("select query from torznab_requests where query like '%answered%'")
  expect(rows).toEqual([{ query: 'q=answered while on' }])
})

test('D15: a limit that is raised lets in who was answered less often', async () => {
  await limit(2)
  const { passkey } = await createMember(site.tracker, 'raised')
  const statuses = []
  for (let i = 0; i < 8; i++) statuses.push((await ask(passkey, '203.0.113.7')).status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(2)
  await admin.patch(SETTINGS, { searchLimit: 5 })
  expect((await ask(passkey, '203.0.113.7')).status).toBe(200)
})

test('D16: replicas whose clocks differ by 200 ms do not reset the window for each other', async () => {
  await limit(3)
  const { passkey } = await createMember(site.tracker, 'skewed')
  const edge = clock + MINUTE - 1_000
  site.tracker.holdClock(edge - 100)
  replica.holdClock(edge + 100)
  const statuses = []
  for (let i = 0; i < 12; i++)
    for (const tracker of [site.tracker, replica]) statuses.push((await ask(passkey, '203.0.113.8', tracker)).status)
  // Three of each window at most.
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(6)
})

test('D17: what is answered with 404 changes nothing: the steps of an address whose block has ended stay', async () => {
  await limit(1)
  const { passkey } = await createMember(site.tracker, 'stepped')
  const beRefused = async () => {
    let last = await ask(passkey, '203.0.113.9')
    for (let i = 0; i < 10; i++) last = await ask(passkey, '203.0.113.9')
    return last.headers.get('retry-after')
  }
  expect(await beRefused()).toBe('300')
  site.tracker.advance(6 * MINUTE)
  expect((await admin.delete('/api/admin/torznab/blocks/203.0.113.9')).status).toBe(404)
  expect(await beRefused()).toBe('600')
})

test.each([
  ['apikey[]=KEY'],
  ['q=a&amp;apikey=KEY'],
])('D18: no passkey is in the request log, however the parameter is misspelt: %s', async (query) => {
  await limit(10_000)
  const { passkey } = site.uploader
  await site.tracker.client().get(`/api/torznab?t=search&${query.replace('KEY', passkey)}`)
  await site.tracker.context.torznabLog.flush()
  expect(await site.tracker.sql('select query from torznab_requests where strpos(query, $1) > 0', [passkey])).toEqual([])
})

test('D19: the steps of a range add up to its total', async () => {
  await site.tracker.context.torznabLog.flush()
  await site.tracker.sql('delete from torznab_counts')
  const times = ['2026-01-10T06:10:00Z', '2026-01-10T18:10:00Z', '2026-02-28T20:10:00Z']
  const request = { userId: site.uploader.id, function: 'search', client: 'Sonarr', durationMs: 1, error: null }
  await createRequestLogStore(site.tracker.db).write({
    id: crypto.randomUUID(),
    requests: [],
    rollup: rollUp(times.map((at) => ({ ...request, at: new Date(at) }))),
  })
  const range = 'from=2026-01-10T12:00:00Z&to=2026-02-28T12:00:00Z'
  const { totals, series } = (await admin.get(`/api/admin/torznab/statistics?${range}`)).json as {
    totals: { requests: number }
    series: { items: { requests: number }[] }
  }
  expect(totals.requests).toBe(1)
  expect(series.items.reduce((sum, { requests }) => sum + requests, 0)).toBe(1)
})

test('D20: a range whose end is before its beginning is refused within an hour too', async () => {
  const answer = await admin.get(
    '/api/admin/torznab/statistics?from=2026-01-01T12:45:00Z&to=2026-01-01T12:15:00Z',
  )
  expect(answer.status).toBe(400)
})

test('D21: requests of a day whose partition is missing are written by the next flush, as the store intends', async () => {
  await limit(10_000)
  const { passkey } = site.uploader
  await ask(passkey, '203.0.113.10', site.tracker, 't=search&q=before+the+drop')
  await site.tracker.context.torznabLog.flush()
  const day = `day_${new Date(site.tracker.now()).toISOString().slice(0, 10).replaceAll('-', '')}`
  await site.tracker.sql(`drop table torznab_log.${day}`)
  await ask(passkey, '203.0.113.10', site.tracker, 't=search&q=after+the+drop')
  await site.tracker.context.torznabLog.flush()
  await site.tracker.context.torznabLog.flush()
  expect(await site.tracker.sql("select query from torznab_requests where query like '%drop%'")).toEqual([
    { query: 'q=after the drop' },
  ])
})

test('D22: with o=json errors are JSON, also of a method that is not allowed', async () => {
  const answer = await site.tracker.client().send('POST', '/api/torznab?t=search&o=json')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([405, 'application/json; charset=utf-8'])
})
