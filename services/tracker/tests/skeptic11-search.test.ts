import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createRereadStore } from '../src/torrents/reread.store.ts'
import { createReread } from '../src/torrents/reread.ts'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'

let site: TorznabSite
let admin: Client

beforeAll(async () => {
  site = await startTorznabSite({ UPLOAD_APPROVAL: 'manual' })
  await setLimits(site.tracker)
  admin = await site.tracker.signedIn('boss', 'admin')
})

afterAll(() => site.tracker.stop())

async function publish(name: string, category = 'tv-hd'): Promise<string> {
  const { id } = await site.upload(name, { category })
  await admin.post(`/api/admin/torrents/${id}/approve`)
  return id
}

const titles = (q: string): Promise<readonly string[]> => site.titles(`t=search&q=${encodeURIComponent(q)}`)

type Listed = { items: { name: string }[]; suggestions?: { name: string }[] }
const listed = async (search: string): Promise<Listed> =>
  (await admin.get(`/api/torrents?search=${encodeURIComponent(search)}`)).json as Listed

describe('D1: a name is found by its own words', () => {
  test.each([
    ['Sector.S7.S02E03.720p.WEB.H264-GRP', 'tv-hd', 'Sector S7 S02E03'],
    ['The.Walking.Dead.Season.2.PS4-GRP', 'games', 'The Walking Dead Season 2 PS4'],
    ['Stranger.Tunes.Season.1.Soundtrack.2017.FLAC-GRP', 'audio', 'Stranger Tunes Season 1 Soundtrack'],
    ['Guide to Galaxy S9 (2018) PDF', 'books', 'Galaxy S9'],
    ['Tales.Season.1.Episode.2.Windows-GRP', 'games', 'Tales Season 1 Episode 2'],
  ])('%s', async (name, category, query) => {
    await publish(name, category)
    expect(await titles(query)).toContain(name)
  })
})

test('D2: the last word of a members search is a beginning, also of an episode', async () => {
  for (const episode of ['S01E01', 'S01E09', 'S01E12']) await publish(`Typed.Show.${episode}.720p.WEB.H264-GRP`)
  const count = async (search: string) => (await listed(search)).items.length
  expect(await count('typed show s01e')).toBe(3)
  expect(await count('typed show s0')).toBe(3)
  expect(await count('typed show s01e0')).toBe(2)
  // S01E12, or S01E01 written short.
  expect((await listed('typed show s01e1')).items.map(({ name }) => name)).toContain(
    'Typed.Show.S01E12.720p.WEB.H264-GRP',
  )
})

test('D3: a name of letters beyond U+FFFF does not stop the reading of all names after an upgrade', async () => {
  await publish('Read.Again.S01E01.720p.WEB.H264-GRP')
  const name = `a${'𐌰'.repeat(60)}.2020`
  const uploaded = await site.uploader.client.upload(makeTorrent(name), { category: 'movies-hd' })
  expect(uploaded.status).toBe(201)
  await site.tracker.sql('update torrents set reader_version = 0')
  try {
    await createReread({ store: createRereadStore(site.tracker.db) })()
    expect(await site.tracker.sql('select 1 from torrents where reader_version = 0')).toEqual([])
  } finally {
    await site.tracker.sql('update torrents set reader_version = 1')
  }
})

describe('D4: joiners and soft hyphens are legal in names, from a form and from a file alike (REST 5)', () => {
  test.each(['Family 👨‍👩‍👧 2020 1080p x264-GRP', 'Super\u00adman.2020.1080p.x264-GRP', 'می\u200cخواهم.2020'])(
    '%j',
    async (name) => {
      const form = await site.uploader.client.upload(makeTorrent('form'), { category: 'tv-hd', name })
      const file = await site.uploader.client.upload(makeTorrent(name), { category: 'tv-hd' })
      expect([form.status, file.status]).toEqual([201, 201])
      expect([form.json, file.json]).toMatchObject([{ name }, { name }])
    },
  )

  test('and none of them parts a word of a search', async () => {
    await publish('Hyphenated.2020.1080p.x264-GRP')
    expect(await titles('Hyphen\u00adated 2020')).toHaveLength(1)
  })

  test('nor is a variation selector a word that a name must have', async () => {
    await publish('I ❤ NJ 2015 1080p x264-GRP')
    expect(await titles('I ❤\ufe0f NJ')).toHaveLength(1)
  })
})

test.each([
  [{ name: 'x'.repeat(256) }, 'name: must be text of 1 to 255 characters.'],
  [{ name: 'bell\u0007' }, 'name: must not contain control characters.'],
  [{ imdb: 'abc' }, 'imdb: must be tt and digits.'],
])('D5: an error names the real reason, also where a schema is a union (REST 5): %j', async (fields, message) => {
  const answer = await site.uploader.client.upload(makeTorrent('form'), { category: 'tv-hd', ...fields })
  expect(answer.member('error', 'message')).toBe(message)
})

test('D5: the same of PATCH', async () => {
  const id = await publish('Patched.Show.S01E01.720p.WEB.H264-GRP')
  const answer = await admin.patch(`/api/torrents/${id}`, { imdb: 'abc' })
  expect(answer.member('error', 'message')).toBe('imdb: must be tt and digits.')
})

test('D9: a misspelt name that nobody can see does not end suggestions', async () => {
  await publish('Harbour.Lights.S01E01.720p.WEB.x264-GRP')
  const suggested = async () => (await listed('harbuor lights')).suggestions?.map(({ name }) => name)
  expect(await suggested()).toEqual(['Harbour.Lights.S01E01.720p.WEB.x264-GRP'])
  const { id } = await site.upload('Harbuor.Wrong.S01E01.720p.WEB.x264-GRP')
  await admin.delete(`/api/torrents/${id}`)
  expect(await suggested()).toEqual(['Harbour.Lights.S01E01.720p.WEB.x264-GRP'])
})

describe('D10: letters and apostrophes that unaccent folds (research 3)', () => {
  test.each([
    ['Đường.Xa.2020.1080p.WEB-DL.x264-GRP', 'Duong Xa'],
    ['Işık.2020.1080p.WEB.x264-GRP', 'Isik'],
    ['Þór.2011.1080p.x264-GRP', 'Thor 2011'],
    ['Don′t.Look.2021.1080p.WEB.x264-GRP', "Don't Look"],
    ['Hawaiʻi.Life.S01E01.720p.WEB.x264-GRP', 'Hawaii Life'],
  ])('%s is found by %s', async (name, query) => {
    await publish(name)
    expect(await titles(query)).toContain(name)
  })
})

test('D11: initials that a tool sends apart find the word that the release has', async () => {
  // Sonarr makes `M A S H` of the title `M*A*S*H`.
  await publish('MASH.S01E01.720p.WEB.x264-GRP')
  expect(await site.titles('t=tvsearch&q=M%20A%20S%20H&season=1&ep=1')).toHaveLength(1)
})

test('D11: initials before a word of one letter are found joined', async () => {
  // Radarr makes `PS I Love You` of the title `P.S. I Love You`.
  await publish('P.S.I.Love.You.2007.1080p.BluRay.x264-GRP', 'movies-hd')
  expect(await titles('PS I Love You 2007')).toHaveLength(1)
})

test('D12: several episodes in the text are found in any spelling', async () => {
  await publish('Double.Show.S01E05-E06.720p.WEB.x264-GRP')
  await publish('Double.Show.S02E05E06.720p.WEB.x264-GRP')
  expect(await titles('Double Show S01E05E06')).toHaveLength(1)
  expect(await titles('Double Show S02E05-E06')).toHaveLength(1)
})

test('D13: a torrent that is moved to a root gets the leaf of its name, as at upload', async () => {
  const id = await publish('Moved.Show.S01E01.2160p.WEB.x265-GRP', 'tv-hd')
  const answer = await admin.patch(`/api/torrents/${id}`, { category: 'tv' })
  expect(answer.json).toMatchObject({ category: 'tv-uhd' })
})

test('D14: an IMDb id that an upload may have can be searched', async () => {
  const { id } = await site.upload('Long.Id.S01E01.720p.WEB.x264-GRP', { imdb: 'tt123456789' })
  await admin.post(`/api/admin/torrents/${id}/approve`)
  expect(await site.titles('t=tvsearch&imdbid=tt123456789')).toHaveLength(1)
})

test('D23: what was approved late is new to those who poll the latest feed', async () => {
  const late = await site.upload('Approved.Late.S01E01.720p.WEB.x264-GRP')
  for (const n of [1, 2, 3]) {
    site.tracker.advance(60_000)
    await publish(`Meanwhile.S01E0${n}.720p.WEB.x264-GRP`)
  }
  await admin.post(`/api/admin/torrents/${late.id}/approve`)
  // A poll of the newest three, as autobrr and Sonarr make of the newest hundred.
  expect(await site.titles('t=search&limit=3')).toContain('Approved.Late.S01E01.720p.WEB.x264-GRP')
})
