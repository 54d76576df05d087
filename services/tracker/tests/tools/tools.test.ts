import { describe, expect, test } from '@jest/globals'
import { startCrossSeed } from '../../web/src/admin/torznab/tools/cross-seed.ts'
import { searchJackett } from '../../web/src/admin/torznab/tools/jackett.ts'
import { SONARR } from '../../web/src/admin/torznab/tools/sonarr.ts'
import { type Indexer, type Release, ToolError } from '../../web/src/admin/torznab/tools/tool.ts'
import { CATALOGUE, SEARCH_CASES } from '../data/search-quality.ts'
import { createReferenceIndexer } from '../support/reference-indexer.ts'
import { TOOLS, testWith } from './all.ts'
import { grab, rejections } from './arr.ts'
import { runAutobrr } from './autobrr.ts'
import { grabCrossSeed, scanCrossSeed, searchCrossSeed } from './cross-seed.ts'
import { searchFlexGet } from './flexget.ts'
import { searchAlbum, syncLidarr } from './lidarr.ts'
import { forward } from './prowlarr.ts'
import { searchFilm, syncRadarr } from './radarr.ts'
import { searchBook, syncReadarr } from './readarr.ts'
import { searchAnime, searchDaily, searchEpisode, searchSeason, syncSonarr } from './sonarr.ts'
import { readXml } from './xml.ts'

const KEY = '0123456789abcdef0123456789abcdef01234567'

function indexer(change?: (body: string) => string, apiKey = KEY): Indexer {
  return {
    readXml,
    fetch: createReferenceIndexer(KEY, change),
    baseUrl: 'https://tracker.test',
    apiPath: '/api/torznab/api',
    apiKey,
  }
}

const keysOf = (releases: readonly Pick<Release, 'title'>[]) =>
  releases.map(({ title }) => CATALOGUE.find(({ name }) => name === title)?.key ?? title)
const inCase = (client: string, part: string) =>
  [...(SEARCH_CASES.find((one) => one.client === client && one.query.includes(part))?.returns ?? [])].sort()

describe('a sound indexer', () => {
  test.each(TOOLS)('is accepted by %s', async (tool) => {
    await expect(testWith(tool, indexer())).resolves.toBeDefined()
  })

  test('gives Sonarr what it looks for', async () => {
    const series = { title: 'The Harbour Watch', ids: { tvdb: 101_001, imdb: 'tt9100001' } }
    const episode = await searchEpisode(indexer(), { ...series, season: 1, episode: 5 })
    expect(keysOf(episode).sort()).toEqual(['harbour/s01e05/hd', 'harbour/s01e05/sd'])
    expect(episode.flatMap(rejections)).toEqual([])
    const byTitle = await searchEpisode(indexer(), { title: 'The Harbour Watch', ids: {}, season: 1, episode: 5 })
    expect(keysOf(byTitle)).toEqual(keysOf(episode))
    expect(keysOf(await searchSeason(indexer(), { ...series, season: 0 })).sort()).toEqual([
      'harbour/s00/pack',
      'harbour/s00e01/special',
    ])
    const day = await searchDaily(indexer(), { title: 'Late Talk', ids: {}, date: '2024-05-31' })
    expect(keysOf(day).sort()).toEqual(inCase('sonarr', 'Late%20Talk&season=2024&ep=05/31'))
    const anime = await searchAnime(indexer(), { title: 'Sky Lanterns', tvdb: 102_001, absolute: 7 })
    expect([...new Set(keysOf(anime))].sort()).toEqual(inCase('sonarr', 'tvdbid=102001&q=07'))
  })

  test('gives Sonarr the rest of a sync, page by page, until what it knows', async () => {
    const all = await syncSonarr(indexer())
    expect(all.length).toBeGreaterThan(100)
    const dates = all.map(({ published }) => published)
    expect(dates).toEqual(dates.toSorted((a, b) => b - a))
    expect(await syncSonarr(indexer(), all[0])).toHaveLength(100)
  })

  test('gives the other programs what they look for', async () => {
    const film = { title: 'A Quiet Film', year: 1999, tmdb: 603, imdb: 'tt0133093' }
    expect(keysOf(await searchFilm(indexer(), film)).sort()).toEqual(inCase('radarr', 'tmdbid=603&imdbid=0133093'))
    expect(keysOf(await searchFilm(indexer(), { ...film, tmdb: 1, imdb: 'tt0000001' })).sort()).toEqual(
      inCase('radarr', 'A%20Quiet%20Film%201999'),
    )
    const album = { artist: 'The Band', album: 'The Record', year: 1994 }
    expect(keysOf(await searchAlbum(indexer(), album)).sort()).toEqual(inCase('lidarr', 'The%20Record&year=1994'))
    const book = await searchBook(indexer(), { author: 'Jane Writer', title: 'The Longer Road' })
    expect([...new Set(keysOf(book))]).toEqual(['road2/epub'])
    expect(await syncRadarr(indexer())).not.toHaveLength(0)
    expect(await syncLidarr(indexer())).not.toHaveLength(0)
    expect(await syncReadarr(indexer())).not.toHaveLength(0)
  })

  test('gives Prowlarr, Jackett, cross-seed, autobrr and FlexGet what they look for', async () => {
    const search = { type: 'tvsearch', categories: [5000], q: 'The Harbour Watch', season: 1, episode: '5' } as const
    expect(keysOf(await forward(indexer(), search)).sort()).toEqual(['harbour/s01e05/hd', 'harbour/s01e05/sd'])
    expect(keysOf(await searchJackett(indexer(), 'Desert Runner 2049'))).toEqual(['runner2049/2160p'])
    expect([...(await startCrossSeed(indexer())).media].sort()).toEqual(['audio', 'book', 'movie', 'tv', 'xxx'])
    const episode = { t: 'tvsearch', q: 'The Harbour Watch', season: '1', ep: '1' } as const
    expect(keysOf(await searchCrossSeed(indexer(), episode)).sort()).toEqual(['harbour/s01e01/hd', 'harbour/s01e01/sd'])
    expect(await scanCrossSeed(indexer())).toHaveLength(CATALOGUE.length)
    expect(await runAutobrr(indexer())).toHaveLength(100)
    const [release] = await runAutobrr(indexer(), [5080])
    expect(release).toMatchObject({ leechers: 1, isFreeleech: false, categories: [5080, 5000] })
    const entry = { title: 'Night Shift', parameters: { season: '1', ep: '2', rid: '5' } }
    expect(keysOf(await searchFlexGet(indexer(), 'tvsearch', entry)).sort()).toEqual(inCase('flexget', 'Night+Shift'))
  })

  test('hands out a torrent file', async () => {
    const [release] = await searchJackett(indexer(), 'harbour')
    if (release === undefined) throw new Error('nothing was found')
    expect((await grab(SONARR, indexer(), release)).length).toBeGreaterThan(0)
    expect((await grabCrossSeed(indexer(), release)).length).toBeGreaterThan(0)
  })
})

describe('a wrong key', () => {
  test.each(TOOLS)('is told by %s', async (tool) => {
    await expect(testWith(tool, indexer(undefined, 'wrong'))).rejects.toBeInstanceOf(ToolError)
  })
})

/** Mistakes of real servers, and the tools that notice. */
const MISTAKES: readonly (readonly [string, (body: string) => string, readonly string[]])[] = [
  [
    'a control character in a title',
    (body) => body.replace('<title>', '<title>\u0001'),
    TOOLS.filter((one) => one !== 'cross-seed'),
  ],
  ['a date that ends in GMT', (body) => body.replaceAll('+0000</pubDate>', 'GMT</pubDate>'), ['autobrr']],
  ['no dates', (body) => body.replace(/<pubDate>.*?<\/pubDate>/g, ''), TOOLS.filter((one) => one !== 'FlexGet')],
  ['guids with an attribute', (body) => body.replaceAll('<guid>', '<guid isPermaLink="false">'), ['cross-seed']],
  ['no links', (body) => body.replace(/<link>.*?<\/link>/g, ''), ['Jackett', 'cross-seed']],
  ['no size elements', (body) => body.replace(/<size>.*?<\/size>/g, ''), ['cross-seed', 'autobrr']],
  ['categories as words', (body) => body.replace(/<category>\d+</g, '<category>TV <'), ['Jackett', 'autobrr']],
  ['no category attributes', (body) => body.replace(/<torznab:attr name="category"[^>]*>/g, ''), ['Prowlarr']],
  ['no info hashes', (body) => body.replace(/<torznab:attr name="infohash"[^>]*>/g, ''), ['Jackett']],
  ['an enclosure without a length', (body) => body.replace(/ length="\d+"/g, ''), ['FlexGet']],
  [
    'enclosures of another type',
    (body) => body.replaceAll('application/x-bittorrent', 'application/x-nzb'),
    ['Sonarr', 'Radarr', 'Lidarr', 'Readarr', 'Prowlarr'],
  ],
  [
    'caps without a default limit',
    (body) => body.replace('default="25" ', ''),
    ['Sonarr', 'Radarr', 'Lidarr', 'Readarr', 'Prowlarr'],
  ],
  [
    'caps inside of rss',
    (body) => body.replace('<caps>', '<rss><caps>').replace('</caps>', '</caps></rss>'),
    ['Sonarr', 'Radarr', 'Lidarr', 'Readarr', 'Prowlarr', 'cross-seed', 'FlexGet'],
  ],
  [
    'empty feeds',
    (body) => body.replace(/<item>.*<\/item>/, ''),
    ['Sonarr', 'Radarr', 'Lidarr', 'Readarr', 'Prowlarr', 'Jackett'],
  ],
]

describe.each(MISTAKES)('an indexer with %s', (_mistake, change, noticing) => {
  test.each(TOOLS.map((tool) => [tool, noticing.includes(tool)] as const))('%s notices: %p', async (tool, notices) => {
    const outcome = testWith(tool, indexer(change))
    if (notices) await expect(outcome).rejects.toBeInstanceOf(ToolError)
    else await expect(outcome).resolves.toBeDefined()
  })
})
