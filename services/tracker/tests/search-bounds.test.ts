import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { eventually, withClient } from '@vault-and-tracker/dev-env'
import { ENDPOINTS } from '../src/app.ts'
import { allOf } from '../src/search/criteria.ts'
import { createSearchStore } from '../src/search/search.store.ts'
import { OutOfTime } from '../src/search/search-queue.ts'
import type { Client } from './support/client.ts'
import { createMember, type TestMember } from './support/members.ts'
import { metricOf } from './support/metrics.ts'
import { startTorznabSite, type TorznabSite } from './support/torznab.ts'
import type { TestTracker } from './support/tracker.ts'

let site: TorznabSite
let admin: Client
let other: TestMember

beforeAll(async () => {
  site = await startTorznabSite({}, { areSearchesTimed: true })
  admin = await site.tracker.signedIn('admin', 'admin')
  other = await createMember(site.tracker, 'other')
  await site.upload('Bounded.S01E05.1080p.WEB.x264-GRP')
})
afterAll(() => site.tracker.stop())

/** Runs something while nothing else can read a table. */
async function whileLocked<T>(table: string, run: () => Promise<T>): Promise<T> {
  return withClient(site.tracker.database.ownerUrl, async (client) => {
    await client.query(`begin; lock table ${table} in access exclusive mode`)
    try {
      return await run()
    } finally {
      await client.query('rollback')
    }
  })
}

/** A search whose last word is looked up in the table `search_words`. */
const search = (client: Client, word: string) => client.get(`/api/torrents?search=${word}`)

test.each([
  ['season=1-50&ep=5', 200],
  ['season=1-300&ep=25-300', 400],
  ['season=2-11&ep=5-9', 200],
  ['season=2-11&ep=5-10', 400],
  ['season=1-50', 200],
  ['season=1-51', 400],
  ['season=1900-2024', 400],
  ['ep=1-50', 200],
  ['ep=1-51', 400],
])('%s gets %i: a range has at most 50 alternatives', async (query, status) => {
  const answer = await site.ask(`t=tvsearch&${query}`)
  expect(answer.status).toBe(status)
  if (status === 400) expect(answer.text).toContain('code="201"')
})

test('a range finds everything in it', async () => {
  const found = ['Bounded.S01E05.1080p.WEB.x264-GRP']
  expect(await site.titles('t=tvsearch&q=bounded&season=1-50&ep=5')).toEqual(found)
  expect(await site.titles('t=tvsearch&q=bounded&ep=1-50')).toEqual(found)
})

const LISTS = ENDPOINTS.filter(({ method, query }) => method === 'GET' && query !== undefined && 'page' in query.shape)
/** All lexemes of a torrent are read. */
const WHOLE = ['/api/torrents/:id/files', '/api/admin/swarms/:id/peers']
/** Parameters that a list cannot do without. */
const REQUIRED: Readonly<Record<string, string>> = {
  '/api/user/torrents': 'list=snatched&',
  '/api/admin/addresses': 'address=192.0.2.1&',
}

test.each(LISTS.map(({ path }) => path))('the list %s ends at item 10,000', async (path) => {
  const concrete = path.replace(':id', '0190b6a0-0000-7000-8000-000000000000')
  const page = (number: number) => admin.get(`${concrete}?${REQUIRED[path] ?? ''}limit=100&page=${String(number)}`)
  const refused = await page(102)
  if (WHOLE.includes(path)) {
    expect(refused.status).not.toBe(400)
    return
  }
  expect([refused.status, refused.member('error', 'message')]).toEqual([400, expect.stringMatching(/^page: /)])
  expect((await page(101)).status).not.toBe(400)
})

test('a search ends after a second, including its query in Postgres', async () => {
  await whileLocked('torrents', async () => {
    const [rest, torznab] = await Promise.all([
      search(other.client, 'bounded'),
      site.tracker.client().get(`/api/torznab?t=search&q=bounded&apikey=${other.passkey}`),
    ])
    expect([rest.status, rest.member('error', 'code'), rest.headers.get('retry-after')]).toEqual([
      503,
      'UNAVAILABLE',
      '5',
    ])
    expect([torznab.status, torznab.headers.get('retry-after')]).toEqual([503, '5'])
    expect(torznab.text).toContain('code="900"')
    const running = await site.tracker.sql(
      "select query from pg_stat_activity where application_name = 'tracker search' and state = 'active'",
    )
    expect(running).toEqual([])
  })
  expect((await search(other.client, 'bounded')).json).toMatchObject({ total: 1 })
})

test('the statements of a search share its time', async () => {
  const { db } = site.tracker
  const store = createSearchStore(db, db)
  const two = store.within(100, async (statements) => {
    await statements.some(allOf('approved'), 1)
    await sleep(150)
    return statements.some(allOf('approved'), 1)
  })
  await expect(two).rejects.toBeInstanceOf(OutOfTime)
  const locked = whileLocked('torrents', () =>
    store.within(200, async (statements) => {
      await statements.wordsWithPrefix('bounded')
      await sleep(120)
      return statements.some(allOf('approved'), 1)
    }),
  )
  await expect(locked).rejects.toBeInstanceOf(OutOfTime)
})

test('endless searches of a member delay neither other members nor anything else', async () => {
  const attacker = await createMember(site.tracker, 'attacker')
  await whileLocked('search_words', async () => {
    const stuck = Array.from({ length: 70 }, (_, i) => search(attacker.client, `bounded${String(i)}`))
    await eventually(async () => (await metricOf(site.tracker, 'tracker_searches{state="running"}')) === 1)
    const answers = await Promise.all([
      site.tracker.client().get(`/api/torznab?t=search&q=bounded&apikey=${other.passkey}`),
      other.client.get('/api/torrents'),
      site.tracker.client().get('/ready'),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const refused = await Promise.all(stuck)
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429, 503]))
    expect(new Set(refused.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['5']))
  })
  // Five seconds of searching are more than a member may have in a row.
  expect((await search(attacker.client, 'bounded')).status).toBe(429)
  expect((await search(other.client, 'bounded')).json).toMatchObject({ total: 1 })
  expect(await metricOf(site.tracker, 'tracker_searches{state="waiting"}')).toBe(0)
})

/** More than an exact total. */
const OLD = 5_200
/** More than a walk from the newest torrent reads. */
const NEW = 21_000

describe('many old matches and no new ones', () => {
  /** Its searches have as much time as a busy machine needs. */
  let patient: TestTracker
  let client: Client

  beforeAll(async () => {
    patient = await site.tracker.replica()
    client = Object.assign(patient.client(), { cookie: other.client.cookie })
    // It would read the names again, which do not contain a resolution.
    await Promise.all([site.tracker, patient].map(({ context }) => context.background.stop()))
    // Of the torrents of three years, from 2020 on, only the oldest have a resolution, and every third has a seeder.
    await site.tracker.sql(
      `insert into torrents (id, info_hash, name, category_id, size, file_count, resolution, search, created_at)
        select gen_random_uuid(), decode(lpad(to_hex(n), 40, '0'), 'hex'), n::text,
          (select id from categories where slug = 'tv'), 1, 1, case when n < $1 then '2160p' end, '',
          case when n < $1 then timestamptz '2020-12-01Z' + n * interval '2 hours'
            else timestamptz '2023-01-01Z' + n * interval '1 second' end
        from generate_series(0, $1::integer + $2::integer - 1) as n`,
      [OLD, NEW],
    )
    await site.tracker.sql('analyze torrents')
    await site.tracker.sql(`insert into torrent_stats (torrent_id, seeders)
      select id, case when name::integer % 3 = 0 then 1 else 0 end from torrents
      where search = ''`)
    await site.tracker.sql('analyze torrents')
  })

  afterAll(() => patient.stop())

  async function names(query: string): Promise<readonly string[]> {
    const { status, json } = await client.get(`/api/torrents?${query}`)
    expect([query, status]).toEqual([query, 200])
    return (json as { items: { name: string }[] }).items.map(({ name }) => name)
  }

  const from = (first: number, step: number): readonly string[] =>
    Array.from({ length: 100 }, (_, i) => String(first + i * step))

  test.each([
    ['order=desc', from(OLD - 1, -1)],
    ['order=desc&page=50', from(OLD - 1 - 4_900, -1)],
    ['order=asc', from(0, 1)],
    ['order=asc&page=50', from(4_900, 1)],
    ['order=desc&alive=true', from(5_199, -3)],
    ['order=desc&alive=true&page=17', from(399, -3)],
  ])('are sorted by time: %s', async (query, expected) => {
    expect(await names(`resolution=2160p&limit=100&${query}`)).toEqual(expected)
  })
})
