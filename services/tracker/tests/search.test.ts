import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { WantedEpisode } from '@vault-and-tracker/torznab-xml'
import { parseReleaseName } from '../src/releases/release-name.ts'
import { nameFieldsOf } from '../src/releases/search-words.ts'
import type { TorrentState } from '../src/search/listed-torrent.ts'
import type { SearchQuery } from '../src/search/queries.ts'
import { createReindexStore } from '../src/torrents/reindex.store.ts'
import { createReindex, READER_VERSION } from '../src/torrents/reindex.ts'
import type { Client } from './support/client.ts'
import { matchesEpisode } from './support/episode-match.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'
import type { TestTracker } from './support/tracker.ts'

const SEARCHER = 'any member'

let site: TorznabSite
let tracker: TestTracker
let member: Client
const ids = new Map<string, string>()

beforeAll(async () => {
  site = await startTorznabSite()
  tracker = site.tracker
  await setLimits(tracker)
  // It would read names again that a test has marked, between two of its steps.
  await tracker.context.background.stop()
  member = await tracker.signedIn('member')
})

afterAll(() => tracker.stop())

async function upload(name: string, category: string, fields: Record<string, string> = {}): Promise<void> {
  const answer = await member.upload(makeTorrent(name), { category, ...fields })
  if (answer.status !== 201) throw new Error(answer.text)
  ids.set(name, answer.member('id'))
}

async function names(query: Partial<SearchQuery>): Promise<readonly string[]> {
  const { items } = await tracker.context.useCases.search.find({ offset: 0, limit: 100, ...query }, SEARCHER)
  return items.map(({ name }) => name)
}

async function idsOfCategories(...slugs: readonly string[]): Promise<readonly string[]> {
  const all = await tracker.context.useCases.categories.all()
  return all.filter(({ slug }) => slugs.includes(slug)).map(({ id }) => id)
}

const NUMBERED = [
  'Counted.S01E05.720p.x264',
  'Counted 1x05 HDTV',
  'Counted.S01E04E05.720p.x264',
  'Counted.S01E04-E06.720p.x264',
  'Counted.S02E05.720p.x264',
  'Counted.S01.720p.x264',
  'Counted.S01-S03.720p.x264',
  'Counted Season 2 720p',
  'Counted.S00E05.720p.x264',
  'Counted.2024.05.31.720p.x264',
  'Counted.2023.05.31.720p.x264',
  'Counted.S2024E14.720p.x264',
  '[G] Counted - 05 [720p]',
  '[G] Counted - 01-12 [720p]',
  'Counted.1999.1080p.BluRay.x264',
] as const

const one = (number: number) => ({ from: number, to: number })
const WANTED: readonly WantedEpisode[] = [
  ...[0, 1, 2, 3, 2023, 2024].map((season) => ({ kind: 'season' as const, season: one(season) })),
  { kind: 'season', season: { from: 2, to: 3 } },
  ...[undefined, one(0), one(1), one(2), { from: 1, to: 2 }].flatMap((season) =>
    [one(5), one(6), { from: 6, to: 9 }, one(99)].map((episode) => ({ kind: 'episode' as const, season, episode })),
  ),
  { kind: 'airDate', date: '2024-05-31' },
  { kind: 'airDate', date: '2024-06-01' },
]

test('the index finds the episodes that matchesEpisode matches', async () => {
  for (const name of NUMBERED) await upload(name, 'tv')
  for (const wanted of WANTED) {
    const expected = NUMBERED.filter((name) => matchesEpisode(parseReleaseName(name), wanted))
    expect([wanted, (await names({ text: 'counted', wanted })).toSorted()]).toEqual([wanted, expected.toSorted()])
  }
})

test('one matching id or info hash is enough, and a TMDB number matches only in its categories', async () => {
  await upload('Ided.Film.2001.1080p', 'movies', { imdb: 'tt0133093', tmdb: '603' })
  await upload('Ided.Show.S01.1080p', 'tv', { tvdb: '77', tmdb: '603' })
  expect(await names({ ids: { imdb: 133_093 } })).toEqual(['Ided.Film.2001.1080p'])
  expect(await names({ ids: { imdb: 133_093, tvdb: 77 } })).toEqual(['Ided.Show.S01.1080p', 'Ided.Film.2001.1080p'])
  expect(await names({ ids: { tmdb: 603 } })).toHaveLength(2)
  expect(await names({ ids: { tmdb: 603, tmdbCategoryIds: await idsOfCategories('tv-hd') } })).toEqual([
    'Ided.Show.S01.1080p',
  ])
  expect(await names({ ids: { tmdb: 603, tmdbCategoryIds: [] } })).toEqual([])
  expect(await names({ ids: { tvdb: 78 } })).toEqual([])
  expect(await names({ ids: {}, text: 'ided' })).toHaveLength(2)
  const [found] = (await tracker.context.useCases.search.find({ text: 'ided film', offset: 0, limit: 1 }, SEARCHER))
    .items
  expect(await tracker.context.useCases.search.byInfoHash(found?.infoHash ?? '')).toEqual(found)
  expect(await tracker.context.useCases.search.byInfoHash('0'.repeat(40))).toBeUndefined()
})

test('filters by year, size, time and further words', async () => {
  await upload('Bounded.Film.2001.1080p', 'movies')
  expect(await names({ text: 'bounded', year: 2001 })).toHaveLength(1)
  expect(await names({ text: 'bounded', year: 2002 })).toEqual([])
  expect(await names({ text: 'bounded', words: ['Film', 'The'] })).toEqual([])
  expect(await names({ text: 'bounded', words: ['The Film'] })).toHaveLength(1)
  expect(await names({ text: 'bounded', words: ['...'] })).toEqual([])
  expect(await names({ minSize: 1e15 })).toEqual([])
  expect(await names({ text: 'bounded', maxSize: 1e15, minSize: 1 })).toHaveLength(1)
  expect(await names({ text: 'bounded', createdAfter: new Date(0) })).toHaveLength(1)
  expect(await names({ text: 'bounded', createdAfter: new Date('2100-01-01') })).toEqual([])
})

test('filters by categories, including none and unknown ones', async () => {
  await upload('Filed.Book.EPUB', 'books')
  expect(await names({ text: 'filed', categoryIds: [] })).toEqual([])
  expect(await names({ text: 'filed', categoryIds: await idsOfCategories('ebooks', 'tv') })).toHaveLength(1)
  expect(await names({ text: 'filed', categoryIds: await idsOfCategories('tv') })).toEqual([])
  expect(await names({ categoryIds: await idsOfCategories('ebooks') })).toEqual(['Filed.Book.EPUB'])
})

test('pages are newest first, and an empty page has a total', async () => {
  for (let i = 1; i <= 5; i++) await upload(`Paged.${i}`, 'other')
  const find = (query: SearchQuery) => tracker.context.useCases.search.find(query, SEARCHER)
  const page = await find({ text: 'paged', offset: 1, limit: 2 })
  expect(page).toMatchObject({ items: [{ name: 'Paged.4' }, { name: 'Paged.3' }], total: 5, totalIsExact: true })
  expect(await find({ text: 'paged', offset: 0, limit: 0 })).toEqual({ items: [], total: 5, totalIsExact: true })
  expect(await find({ text: 'paged', offset: 10_001, limit: 9 })).toEqual({ items: [], total: 5, totalIsExact: true })
  expect((await find({ offset: 0, limit: 0 })).total).toBeGreaterThan(5)
})

test('does not find pending, rejected or deleted torrents, and finds renamed ones by their new name', async () => {
  const moderator = await tracker.signedIn('moderator', 'moderator')
  for (const name of ['Hidden.One', 'Hidden.Two', 'Hidden.Three']) await upload(name, 'other')
  const id = (name: string): string => ids.get(name) ?? ''
  expect(await names({ text: 'hidden' })).toHaveLength(3)
  await moderator.post(`/api/admin/torrents/${id('Hidden.One')}/reject`, { reason: 'no' })
  await moderator.delete(`/api/torrents/${id('Hidden.Two')}`)
  await moderator.patch(`/api/torrents/${id('Hidden.Three')}`, { name: 'Renamed.S05E06.1080p', category: 'tv' })
  expect(await names({ text: 'hidden' })).toEqual([])
  const wanted: WantedEpisode = { kind: 'episode', season: one(5), episode: one(6) }
  expect(await names({ text: 'renamed', wanted, categoryIds: await idsOfCategories('tv-hd') })).toHaveLength(1)
  const bySeeders = await member.get('/api/torrents?sort=seeders&limit=100')
  expect(bySeeders.text).not.toMatch(/Hidden\.(One|Two)/)
  expect(bySeeders.text).toContain('Renamed.S05E06.1080p')
  await moderator.post(`/api/admin/torrents/${id('Hidden.One')}/approve`)
  expect((await member.get('/api/torrents?sort=seeders&limit=100')).text).toContain('Hidden.One')
  expect(await names({ text: 'hidden' })).toEqual(['Hidden.One'])
})

test('a search that finds nothing suggests names with similar words', async () => {
  await upload('Suggested.Harbour.Watch.S01E02.1080p', 'tv')
  const suggested = async (search: string): Promise<unknown> => {
    const answer = await member.get(`/api/torrents?search=${encodeURIComponent(search)}`)
    expect(answer.json).toMatchObject({ items: [], total: 0, totalIsExact: true })
    return (answer.json as { suggestions?: { name: string }[] }).suggestions?.map(({ name }) => name)
  }
  const expected = ['Suggested.Harbour.Watch.S01E02.1080p']
  expect(await suggested('harbor watch')).toEqual(expected)
  expect(await suggested('the harbuor wacth')).toEqual(expected)
  expect(await suggested('wacth')).toEqual([])
  expect(await suggested('harborr watch s01e02')).toEqual(expected)
  expect(await suggested('harborr watch s09e02')).toEqual(expected)
  expect(await suggested('harbour watch unheardof')).toEqual(expected)
  expect(await suggested('qqqqqqqq')).toEqual([])
  expect(await suggested('1x99')).toEqual([])
  expect(await suggested('harbour watch s09e02')).toEqual([])
  const found = await member.get('/api/torrents?search=harbour')
  expect(found.json).not.toHaveProperty('suggestions')
  expect((await member.get('/api/torrents?search=harbor+watch&category=books')).json).toMatchObject({ suggestions: [] })
})

test('names indexed by an older version are indexed again', async () => {
  await upload('Reindexed.Show.S03E04.German.DL.1080p.BluRay.x264-G', 'tv')
  const id = ids.get('Reindexed.Show.S03E04.German.DL.1080p.BluRay.x264-G') ?? ''
  const read = async () => (await member.get(`/api/torrents/${id}`)).json as { release: unknown }
  const before = await read()
  expect(before).toMatchObject({ release: { seasonFrom: 3, episodeFrom: 4, languages: ['de', 'mul'] } })
  await tracker.sql(
    `update torrents set reader_version = 0, season_from = null, season_to = null, episode_from = null,
       episode_to = null, languages = '{}', release_title = null, search = 'outdated' where id = $1`,
    [id],
  )
  const wanted: WantedEpisode = { kind: 'episode', season: one(3), episode: one(4) }
  await createReindex({ store: createReindexStore(tracker.db) })()
  expect(await read()).toEqual(before)
  expect(await names({ text: 'reindexed show', wanted })).toHaveLength(1)
})

test('a name with characters beyond U+FFFF is indexed again', async () => {
  await upload(`a${'𐌰'.repeat(60)}.2020`, 'movies-hd')
  await tracker.sql('update torrents set reader_version = 0')
  await createReindex({ store: createReindexStore(tracker.db) })()
  expect(await tracker.sql('select 1 from torrents where reader_version = 0')).toEqual([])
})

test('a name that cannot be indexed again keeps its index and does not stop the others', async () => {
  for (const name of ['Readable.Before.2020', 'Unreadable.2020', 'Readable.After.2020']) await upload(name, 'movies-hd')
  await tracker.sql("update torrents set reader_version = 0, search = 'old' where name like '%eadable.%'")
  const store = createReindexStore(tracker.db)
  const read = (name: string) =>
    nameFieldsOf(name, { ...parseReleaseName(name), year: name.startsWith('Un') ? 100_000 : null })
  const { found, unreadable } = await store.reindex({ version: 1, limit: 50, read })
  expect([found, unreadable.map(({ id }) => id)]).toEqual([3, [ids.get('Unreadable.2020')]])
  expect(await tracker.sql("select name from torrents where search @@ 'old'")).toEqual([{ name: 'Unreadable.2020' }])
  expect(await tracker.sql('select 1 from torrents where reader_version = 0')).toEqual([])
})

test('a misspelt hidden name does not prevent suggestions', async () => {
  await upload('Lighthouse.Keepers.S01E01.720p.WEB.x264-GRP', 'tv-hd')
  const suggested = async () =>
    (
      (await member.get('/api/torrents?search=lihgthouse+keepers')).json as { suggestions?: { name: string }[] }
    ).suggestions?.map(({ name }) => name)
  expect(await suggested()).toEqual(['Lighthouse.Keepers.S01E01.720p.WEB.x264-GRP'])
  await upload('Lihgthouse.Wrong.S01E01.720p.WEB.x264-GRP', 'tv-hd')
  await member.delete(`/api/torrents/${ids.get('Lihgthouse.Wrong.S01E01.720p.WEB.x264-GRP') ?? ''}`)
  expect(await suggested()).toEqual(['Lighthouse.Keepers.S01E01.720p.WEB.x264-GRP'])
})

test('a prefix of two or more letters finds words in every list', async () => {
  const found = async (search: string, state: TorrentState = 'approved'): Promise<readonly string[]> => {
    const query = { page: 1, limit: 100, sort: 'created', order: 'desc', state, search } as const
    return (await tracker.context.useCases.search.list(query, SEARCHER)).items.map(({ name }) => name)
  }
  const names = ['Quixotic.Begun.1080p', 'Quince.Begun.720p', 'Qu.Begun', 'Öqu.Жук.Begun', '蜘蛛侠.Begun']
  for (const name of names) await upload(name, 'other')
  expect((await found('begun qu')).toSorted()).toEqual(['Qu.Begun', 'Quince.Begun.720p', 'Quixotic.Begun.1080p'])
  expect((await found('begun qui')).toSorted()).toEqual(['Quince.Begun.720p', 'Quixotic.Begun.1080p'])
  expect(await found('begun quix')).toEqual(['Quixotic.Begun.1080p'])
  expect(await found('1080p begun qui')).toEqual(['Quixotic.Begun.1080p'])
  expect(await found('begun жу')).toEqual(['Öqu.Жук.Begun'])
  expect(await found('begun oq')).toEqual(['Öqu.Жук.Begun'])
  expect(await found('begun 蜘蛛侠')).toEqual(['蜘蛛侠.Begun'])
  expect(await found('begun uix')).toEqual([])
  await tracker.sql("update torrents set state = 'pending' where name = 'Quince.Begun.720p'")
  expect(await found('begun qui')).toEqual(['Quixotic.Begun.1080p'])
  expect(await found('begun qui', 'pending')).toEqual(['Quince.Begun.720p'])
})

test('totals are exact up to 5,000', async () => {
  const fill = (count: number, slug = 'software-macos') =>
    tracker.sql(
      `insert into torrents (id, info_hash, name, category_id, size, file_count, search, reader_version, created_at)
       select gen_random_uuid(), decode(md5(n || $2) || '00000000', 'hex'), 'Many ' || n, id, n, 1,
         array_to_tsvector(array['many', 'w' || n % 2, 'x' || n % 20]), ${String(READER_VERSION)}, now() - make_interval(days => 1)
       from categories, generate_series(1, $1::int) as n where slug = $3`,
      [count, `${slug}${String(count)}`, slug],
    )
  await fill(5_000)
  // So that the trigger of the next statement uses an index.
  await tracker.sql('analyze torrents')
  await tracker.sql(
    `insert into torrent_stats (torrent_id, seeders) select id, size % 7 from torrents where name like 'Many %'`,
  )
  const list = async (query: string) => (await member.get(`/api/torrents?${query}`)).json
  const category = 'category=software-macos'
  expect(await list(category)).toMatchObject({ total: 5_000, totalIsExact: true })
  expect(await list('search=many')).toMatchObject({ total: 5_000, totalIsExact: true })
  expect(await list(`search=x3&${category}`)).toMatchObject({ total: 250, totalIsExact: true })
  await fill(40, 'software-windows')
  expect(await list(`search=x3&${category}`)).toMatchObject({ total: 250, totalIsExact: true })
  expect(await list('search=x3&category=software-windows')).toMatchObject({ total: 2, totalIsExact: true })
  expect(await list('search=x3')).toMatchObject({ total: 252, totalIsExact: true })
  await tracker.sql(
    "delete from torrents where category_id = (select id from categories where slug = 'software-windows')",
  )
  await fill(1)
  await tracker.sql(
    `insert into torrent_stats (torrent_id, seeders)
     select id, 99 from torrents where name = 'Many 1' on conflict do nothing`,
  )
  for (const query of [category, 'search=many', `search=many&${category}`, 'search=many&sort=seeders'])
    expect(await list(query)).toMatchObject({ total: 5_000, totalIsExact: false })
  expect(await list('search=many&sort=seeders&limit=2')).toMatchObject({
    items: [{ name: 'Many 1', seeders: 99 }, { seeders: 6 }],
  })
  expect(await list('search=many&sort=size&order=asc&limit=1&page=5001')).toMatchObject({
    items: [{ name: 'Many 5000' }],
  })
  expect(await list('search=many&page=201')).toMatchObject({ items: [{}], total: 5_000, totalIsExact: false })
  expect(await list('search=many&page=202')).toMatchObject({ items: [], total: 5_000, totalIsExact: false })
})

const titles = (q: string): Promise<readonly string[]> => site.titles(`t=search&q=${encodeURIComponent(q)}`)

describe('a name is found by its own words, even those that look like seasons', () => {
  test.each([
    ['Sector.S7.S02E03.720p.WEB.H264-GRP', 'tv-hd', 'Sector S7 S02E03'],
    ['The.Walking.Dead.Season.2.PS4-GRP', 'games', 'The Walking Dead Season 2 PS4'],
    ['Stranger.Tunes.Season.1.Soundtrack.2017.FLAC-GRP', 'audio', 'Stranger Tunes Season 1 Soundtrack'],
    ['Guide to Galaxy S9 (2018) PDF', 'books', 'Galaxy S9'],
    ['Tales.Season.1.Episode.2.Windows-GRP', 'games', 'Tales Season 1 Episode 2'],
  ])('%s', async (name, category, query) => {
    await site.upload(name, { category })
    expect(await titles(query)).toContain(name)
  })
})

test("the last word of a member's search is a prefix, even of an episode", async () => {
  for (const episode of ['S01E01', 'S01E09', 'S01E12']) await site.upload(`Typed.Show.${episode}.720p.WEB.H264-GRP`)
  const found = async (search: string): Promise<readonly string[]> => {
    const { items } = (await member.get(`/api/torrents?search=${encodeURIComponent(search)}`)).json as {
      items: { name: string }[]
    }
    return items.map(({ name }) => name.slice('Typed.Show.'.length, 'Typed.Show.S01E01'.length)).toSorted()
  }
  expect(await found('typed show s')).toEqual([])
  expect(await found('typed show s0')).toEqual(['S01E01', 'S01E09', 'S01E12'])
  expect(await found('typed show s1')).toEqual(['S01E01', 'S01E09', 'S01E12'])
  expect(await found('typed show s01e')).toEqual(['S01E01', 'S01E09', 'S01E12'])
  expect(await found('typed show s01e0')).toEqual(['S01E01', 'S01E09'])
  // S01E12, or S01E01 written short.
  expect(await found('typed show s01e1')).toEqual(['S01E01', 'S01E12'])
  expect(await found('typed show s01e12')).toEqual(['S01E12'])
})

test('invisible characters neither separate nor form words', async () => {
  await site.upload('Hyphenated.2020.1080p.x264-GRP')
  await site.upload('I ❤ NJ 2015 1080p x264-GRP')
  expect(await titles('Hyphen\u00adated 2020')).toHaveLength(1)
  expect(await titles('I ❤\ufe0f NJ')).toHaveLength(1)
})

describe("letters and apostrophes are folded as Postgres' unaccent does", () => {
  test.each([
    ['Đường.Xa.2020.1080p.WEB-DL.x264-GRP', 'Duong Xa'],
    ['Işık.2020.1080p.WEB.x264-GRP', 'Isik'],
    ['Þór.2011.1080p.x264-GRP', 'Thor 2011'],
    ['Don′t.Look.2021.1080p.WEB.x264-GRP', "Don't Look"],
    ['Hawaiʻi.Life.S01E01.720p.WEB.x264-GRP', 'Hawaii Life'],
  ])('%s is found by %s', async (name, query) => {
    await site.upload(name)
    expect(await titles(query)).toContain(name)
  })
})

test('separated initials find the joined word', async () => {
  // Sonarr makes `M A S H` of the title `M*A*S*H`.
  await site.upload('MASH.S01E01.720p.WEB.x264-GRP')
  expect(await site.titles('t=tvsearch&q=M%20A%20S%20H&season=1&ep=1')).toHaveLength(1)
})

test('initials before a word of one letter are found if joined', async () => {
  // Radarr makes `PS I Love You` of the title `P.S. I Love You`.
  await site.upload('P.S.I.Love.You.2007.1080p.BluRay.x264-GRP', { category: 'movies-hd' })
  expect(await titles('PS I Love You 2007')).toHaveLength(1)
})

test('finds several episodes in any spelling', async () => {
  await site.upload('Double.Show.S01E05-E06.720p.WEB.x264-GRP')
  await site.upload('Double.Show.S02E05E06.720p.WEB.x264-GRP')
  expect(await titles('Double Show S01E05E06')).toHaveLength(1)
  expect(await titles('Double Show S02E05-E06')).toHaveLength(1)
})

test('every valid IMDb id can be searched', async () => {
  await site.upload('Long.Id.S01E01.720p.WEB.x264-GRP', { imdb: 'tt123456789' })
  expect(await site.titles('t=tvsearch&imdbid=tt123456789')).toHaveLength(1)
})
