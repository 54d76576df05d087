import type { Caps, Feed, FeedItem, SiteCategory, Supported } from '../../src/index.ts'
import { capsCategories } from '../../src/index.ts'

/** The parameters that the site in these tests supports; `rid`, `year` and similar ones are missing. */
export const SUPPORTED: Supported = {
  search: ['q', 'tag'],
  tvsearch: ['q', 'season', 'ep', 'imdbid', 'tvdbid', 'tmdbid', 'tag'],
  movie: ['q', 'imdbid', 'tmdbid', 'year', 'tag'],
  music: ['q', 'artist', 'album', 'year'],
  book: ['q', 'author', 'title'],
}

/** The tree of the specification's action "Seed Torznab Categories". */
export const SITE: readonly SiteCategory[] = [
  ...root('movies', 'Movies', 2000, [
    ['HD', 2040],
    ['UHD/4K', 2045],
    ['SD', 2030],
    ['Blu-ray disc', 2050],
  ]),
  ...root('tv', 'TV', 5000, [
    ['HD', 5040],
    ['UHD/4K', 5045],
    ['SD', 5030],
    ['Anime', 5070],
    ['Documentary', 5080],
  ]),
  ...root('audio', 'Audio', 3000, [
    ['MP3', 3010],
    ['Lossless', 3040],
  ]),
  ...root('games', 'Games', 4050, [
    ['PC', 4050],
    ['Console', 1000],
    ['PlayStation', 1180],
    ['Xbox', 1040],
  ]),
  ...root('software', 'Software', 4000, [
    ['Windows', 4020],
    ['macOS', 4030],
  ]),
  ...root('books', 'Books', 7000, [
    ['Ebooks', 7020],
    ['Comics', 7030],
    ['Magazines', 7010],
  ]),
  ...root('xxx', 'XXX', 6000, []),
  ...root('other', 'Other', 8000, []),
]

function root(id: string, name: string, torznabId: number, children: readonly (readonly [string, number])[]) {
  return [
    { id, parentId: null, torznabId, name },
    ...children.map(([childName, childId]) => ({
      id: `${id}/${childName}`,
      parentId: id,
      torznabId: childId,
      name: childName,
    })),
  ]
}

export const CAPS: Caps = {
  server: { title: 'Example & Sons', url: 'https://tracker.test/', strapline: 'A "private" tracker' },
  limits: { default: 25, max: 100 },
  registration: { available: true, open: false },
  supported: SUPPORTED,
  categories: capsCategories(SITE),
  tags: [
    { name: 'freeleech', description: 'Downloads are not counted' },
    { name: 'internal', description: 'By a group of this site' },
  ],
}

const KEY = '0123456789abcdef0123456789abcdef01234567'

export const EPISODE: FeedItem = {
  title: 'Example.Show.S01E05.1080p.WEB-DL.H264-GRP',
  detailsUrl: 'https://tracker.test/torrents/42',
  downloadUrl: `https://tracker.test/api/torznab/download?id=${'ab'.repeat(20)}&apikey=${KEY}`,
  commentsUrl: 'https://tracker.test/torrents/42#comments',
  publishedAt: new Date('2024-03-05T07:08:09Z'),
  size: 2_538_463_390,
  files: 3,
  grabs: 12,
  description: '',
  categories: [5040, 5000],
  seeders: 7,
  leechers: 2,
  infoHash: 'ab'.repeat(20),
  rates: { download: 0.25, upload: 2 },
  attributes: {
    imdb: 944_947,
    tvdb: 121_361,
    tmdb: 1399,
    season: 1,
    episode: 5,
    tags: ['internal', 'freeleech'],
    team: 'GRP',
    resolution: '1080p',
    videoCodec: 'H264',
  },
}

export const ALBUM: FeedItem = {
  ...EPISODE,
  title: 'Motörhead & Friends – "Live" <1981> 東京 \u{1F3B8} [FLAC]',
  detailsUrl: 'https://tracker.test/torrents/43',
  downloadUrl: `https://tracker.test/api/torznab/download?id=${'cd'.repeat(20)}&apikey=${KEY}`,
  commentsUrl: 'https://tracker.test/torrents/43#comments',
  publishedAt: new Date('2024-02-29T23:59:59.999Z'),
  description: "First line\nsecond line\twith ]]> and 'quotes'",
  categories: [3040, 3000],
  seeders: 0,
  leechers: 0,
  infoHash: 'cd'.repeat(20),
  rates: { download: 1, upload: 1 },
  attributes: { poster: 'Motörhead & Friends', showTitle: '"Live" <1981>', year: 1981 },
}

export const FEED: Feed = {
  title: 'Example & Sons',
  description: 'Results of the API',
  siteUrl: 'https://tracker.test/',
  selfUrl: 'https://tracker.test/api/torznab?t=search&limit=25',
  offset: 0,
  total: 2,
  limits: { apiCurrent: 3, apiMax: 30, grabCurrent: 0, grabMax: 20 },
  items: [EPISODE, ALBUM],
}
