import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { toRow } from '../src/torrents/torrent-rows.store.ts'
import { CATALOGUE, SEARCH_CASES } from './data/search-quality.ts'
import type { Client } from './support/client.ts'
import { createAnnouncer } from './support/members.ts'
import { storeTorrents, torrentNamed } from './support/stored-torrents.ts'
import { readFeed, setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'
import { TOOLS, testWith } from './tools/all.ts'
import { grab, rejections } from './tools/arr.ts'
import { runAutobrr } from './tools/autobrr.ts'
import { grabCrossSeed, scanCrossSeed, searchCrossSeed, startCrossSeed } from './tools/cross-seed.ts'
import { searchFlexGet } from './tools/flexget.ts'
import { type JackettSearch, searchJackett } from './tools/jackett.ts'
import { searchAlbum, syncLidarr } from './tools/lidarr.ts'
import { forward } from './tools/prowlarr.ts'
import { searchFilm, syncRadarr } from './tools/radarr.ts'
import { SONARR, searchAnime, searchDaily, searchEpisode, searchSeason, syncSonarr } from './tools/sonarr.ts'
import { type Indexer, type Release, ToolError } from './tools/tool.ts'
import { readXml } from './tools/xml.ts'

// Replays the requests of the tools in tools/, and checks the answers with the tools' own rules. Searches of tools and
// members return exactly the results that were labelled by hand.

const KEYS = new Map(CATALOGUE.map(({ name, key }) => [name, key]))

let site: TorznabSite
/** The passkey of a user who may not use the API. */
let blocked: string

beforeAll(async () => {
  site = await startTorznabSite()
  await setLimits(site.tracker)
  // The newest release has a file.
  const uploaded = CATALOGUE.findLast(({ key }) => key.startsWith('harbour/'))
  const categories = await site.tracker.context.useCases.categories.all()
  const categoryOf = (slug: string) => categories.find((each) => each.slug === slug)?.id ?? ''
  const now = site.tracker.now()
  const stored = CATALOGUE.filter((entry) => entry !== uploaded).map(({ name, category, ids }, n) =>
    torrentNamed(name, {
      ...{ infoHash: n.toString(16).padStart(40, '0'), categoryId: categoryOf(category), externalIds: ids },
      ...{ uploaderId: site.uploader.id, createdAt: new Date(now - 1_000_000 + n) },
    }),
  )
  // A torrent without a seeder is one that the programs reject.
  await storeTorrents(
    site.tracker,
    stored.map((torrent) => ({ id: torrent.id, row: toRow(torrent), seeders: 3 })),
  )
  if (uploaded === undefined) throw new Error('the catalogue is empty')
  const { imdb, tvdb, tmdb } = uploaded.ids
  const ids = { imdb: `tt${String(imdb)}`, tvdb: String(tvdb), tmdb: String(tmdb) }
  await site.upload(uploaded.name, { category: uploaded.category, ...ids })
  blocked = (await createAnnouncer(site.tracker, 'blocked')).passkey
  await site.tracker.sql("update users set api_blocked = true where username = 'blocked'")
  await site.tracker.sql('update torrent_stats set seeders = 3, leechers = 1')
}, 120_000)

afterAll(() => site.tracker.stop())

/** The settings that a user enters in a tool. The links of items lead to `PUBLIC_URL`, which is this tracker. */
function indexer(apiKey = site.uploader.passkey, apiPath = '/api/torznab/api'): Indexer {
  return {
    readXml,
    fetch: (url, init) => fetch(url.replace('http://tracker.test', site.tracker.url), init),
    baseUrl: site.tracker.url,
    apiPath,
    apiKey,
  }
}

const keysOf = (releases: readonly Pick<Release, 'title'>[]): readonly string[] =>
  releases.map(({ title }) => KEYS.get(title) ?? title)

describe('Test', () => {
  test.each(TOOLS)('%s accepts the indexer', async (tool) => {
    await expect(testWith(tool, indexer())).resolves.toBeDefined()
  })

  test.each(TOOLS)('%s reports a wrong key', async (tool) => {
    await expect(testWith(tool, indexer('0'.repeat(40)))).rejects.toBeInstanceOf(ToolError)
  })

  test.each(TOOLS)('%s reports that the user is blocked from the API', async (tool) => {
    await expect(testWith(tool, indexer(blocked))).rejects.toBeInstanceOf(ToolError)
  })
})

describe('RSS', () => {
  test('Sonarr syncs page by page, newest first, until a known release', async () => {
    const all = await syncSonarr(indexer())
    expect(all.length).toBeGreaterThan(100)
    const dates = all.map(({ published }) => published)
    expect(dates).toEqual(dates.toSorted((a, b) => b - a))
    expect(await syncSonarr(indexer(), all[0])).toHaveLength(100)
    expect(all.flatMap(rejections)).toEqual([])
  })

  test('Radarr and Lidarr find releases', async () => {
    for (const sync of [syncRadarr, syncLidarr]) expect(await sync(indexer())).not.toHaveLength(0)
  })

  test('cross-seed reads every torrent once and ends', async () => {
    expect(keysOf(await scanCrossSeed(indexer())).toSorted()).toEqual(CATALOGUE.map(({ key }) => key).toSorted())
  })

  test('autobrr reads freeleech, leechers and categories right', async () => {
    expect(await runAutobrr(indexer(undefined, '/api/torznab'))).toHaveLength(100)
    const [release] = await runAutobrr(indexer(undefined, '/api/torznab'), [5080])
    expect(release).toMatchObject({ leechers: 1, isFreeleech: false })
    expect(release?.categories.toSorted()).toEqual([5000, 5080])
  })
})

describe('search', () => {
  const series = { title: 'The Harbour Watch', ids: { tvdb: 101_001, imdb: 'tt9100001' } }

  test('Sonarr finds episodes by ids and by title, seasons, days and absolute numbers', async () => {
    const episode = await searchEpisode(indexer(), { ...series, season: 1, episode: 5 })
    expect(keysOf(episode).toSorted()).toEqual(['harbour/s01e05/hd', 'harbour/s01e05/sd'])
    expect(episode.flatMap(rejections)).toEqual([])
    const byTitle = await searchEpisode(indexer(), { title: 'The Harbour Watch', ids: {}, season: 1, episode: 5 })
    expect(keysOf(byTitle)).toEqual(keysOf(episode))
    expect(keysOf(await searchSeason(indexer(), { ...series, season: 0 })).toSorted()).toEqual([
      'harbour/s00/pack',
      'harbour/s00e01/special',
    ])
    expect(await searchDaily(indexer(), { title: 'Late Talk', ids: {}, date: '2024-05-31' })).not.toHaveLength(0)
    expect(await searchAnime(indexer(), { title: 'Sky Lanterns', tvdb: 102_001, absolute: 7 })).not.toHaveLength(0)
  })

  test('Radarr and Lidarr find films and albums', async () => {
    const film = { title: 'A Quiet Film', year: 1999, tmdb: 603, imdb: 'tt0133093' }
    expect(await searchFilm(indexer(), film)).not.toHaveLength(0)
    const byTitle = await searchFilm(indexer(), { ...film, tmdb: 1, imdb: 'tt0000001' })
    expect(byTitle).not.toHaveLength(0)
    expect(await searchAlbum(indexer(), { artist: 'The Band', album: 'The Record', year: 1994 })).not.toHaveLength(0)
  })

  test('Jackett and Prowlarr find releases with the definition of the site', async () => {
    const find = async (search: JackettSearch) => keysOf(await searchJackett(indexer(), search)).toSorted()
    expect(await find({ Q: 'Desert Runner 2049' })).toEqual(['runner2049/2160p'])
    const harbour = { type: 'tvsearch', Q: 'The Harbour Watch', Season: '1', Ep: '5' } as const
    const episode = ['harbour/s01e05/hd', 'harbour/s01e05/sd']
    expect(await find(harbour)).toEqual(episode)
    expect(await find({ ...harbour, categories: [5000], Year: '2010' })).toEqual(episode)
    expect(await find({ ...harbour, categories: [2000] })).toEqual([])
    const ids = { TVDBID: '101001', IMDBID: 'tt9100001' }
    expect(await find({ type: 'tvsearch', Season: '1', Ep: '5', ...ids })).toEqual(episode)
    expect(await find({ type: 'movie', Q: 'A Quiet Film', Year: '1999' })).toEqual(
      await find({ type: 'movie', IMDBID: 'tt0133093' }),
    )
    expect(await find({ type: 'music', Artist: 'The Band', Album: 'The Record', Year: '1994' })).not.toEqual([])
    expect(await find({ type: 'book', Author: 'Jane Writer', Title: 'The Longer Road' })).toEqual(['road2/epub'])
  })

  test('Prowlarr, cross-seed and FlexGet find the requested releases', async () => {
    const search = { type: 'tvsearch', categories: [5000], q: 'The Harbour Watch', season: 1, episode: '5' } as const
    expect(keysOf(await forward(indexer(), search)).toSorted()).toEqual(['harbour/s01e05/hd', 'harbour/s01e05/sd'])
    expect([...(await startCrossSeed(indexer())).media].toSorted()).toEqual(['audio', 'book', 'movie', 'tv', 'xxx'])
    const episode = { t: 'tvsearch', q: 'The Harbour Watch', season: '1', ep: '1' } as const
    expect(keysOf(await searchCrossSeed(indexer(), episode)).toSorted()).toEqual([
      'harbour/s01e01/hd',
      'harbour/s01e01/sd',
    ])
    const entry = { title: 'Night Shift', parameters: { season: '1', ep: '2' } }
    expect(await searchFlexGet(indexer(), 'tvsearch', entry)).not.toHaveLength(0)
  })

  const queries = SEARCH_CASES.filter(({ client }) => client !== 'member')
  test.each(queries.map((one) => [one.client, one.query, one.returns] as const))(
    '%s: %s',
    async (_client, query, keys) => {
      const { items } = await readFeed(await site.ask(query))
      expect(keysOf(items).toSorted()).toEqual(keys.toSorted())
    },
  )
})

describe('search of a member', () => {
  type Named = { readonly name: string }
  const namesOf = (torrents: readonly Named[]) => torrents.map(({ name }) => KEYS.get(name) ?? name)
  let member: Client

  beforeAll(async () => {
    member = await site.tracker.signedIn('searching')
  })

  const queries = SEARCH_CASES.filter(({ client }) => client === 'member')
  test.each(queries.map((one) => [one.query, one] as const))('%s', async (query, { returns, suggests }) => {
    const { json } = await member.get(`/api/torrents?limit=100&${query}`)
    const { items, suggestions = [] } = json as { items: readonly Named[]; suggestions?: readonly Named[] }
    expect(namesOf(items).toSorted()).toEqual(returns.toSorted())
    if (suggests.length > 0) expect(namesOf(suggestions).filter((key) => suggests.includes(key))).not.toEqual([])
  })
})

test('the programs and cross-seed get the file of a release', async () => {
  const [release] = await searchJackett(indexer(), { Q: 'harbour' })
  if (release === undefined) throw new Error('nothing was found')
  expect((await grab(SONARR, indexer(), release)).length).toBeGreaterThan(0)
  expect((await grabCrossSeed(indexer(), release)).length).toBeGreaterThan(0)
})
