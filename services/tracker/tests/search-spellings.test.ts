import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Client } from './support/client.ts'
import { setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'

let site: TorznabSite
let member: Client

beforeAll(async () => {
  site = await startTorznabSite()
  await setLimits(site.tracker)
  member = await site.tracker.signedIn('member')
})

afterAll(() => site.tracker.stop())

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
