// What one core does per second. Build first: `pnpm build && pnpm --filter torznab-xml bench`.
import { parseTorznabQuery, writeFeed } from '@vault-and-tracker/torznab-xml'
import XMLBuilder from 'fast-xml-builder'

const SECONDS = 2
const KEY = '0123456789abcdef0123456789abcdef01234567'

/** @param {number} i */
const item = (i) => {
  const infoHash = i.toString(16).padStart(40, '0')
  return {
    title: `Example.Show.${i}.S01E05.1080p.WEB-DL.DDP5.1.H.264-GRP`,
    detailsUrl: `https://tracker.test/torrents/${i}`,
    downloadUrl: `https://tracker.test/api/torznab/download?id=${infoHash}&apikey=${KEY}`,
    commentsUrl: `https://tracker.test/torrents/${i}#comments`,
    publishedAt: new Date(1_700_000_000_000 - i * 60_000),
    size: 2_538_463_390 + i,
    files: 3,
    grabs: i,
    description: '',
    categories: [5040, 5000],
    seeders: 7,
    leechers: 2,
    infoHash,
    factors: { download: 1, upload: 1 },
    attributes: { imdb: 944_947, tvdb: 121_361, season: 1, episode: 5, team: 'GRP', resolution: '1080p' },
  }
}
/** @param {number} count */
const feedOf = (count) => ({
  title: 'Example',
  description: 'Example',
  siteUrl: 'https://tracker.test/',
  selfUrl: 'https://tracker.test/api/torznab',
  offset: 0,
  total: 5000,
  limits: { apiCurrent: 3, apiMax: 30, grabCurrent: 0, grabMax: 20 },
  items: Array.from({ length: count }, (_, i) => item(i)),
})
const [small, large] = [feedOf(25), feedOf(100)]

const builder = new XMLBuilder({ attributeNamePrefix: '@', ignoreAttributes: false })
/**
 * The same document as an object for the generic builder, whose mapping is not counted.
 *
 * @param {ReturnType<typeof feedOf>} feed
 */
const generic = (feed) => {
  const pairs = [...Object.entries(item(1).attributes), ...Object.entries({ size: 1, files: 3, grabs: 1, seeders: 7 })]
  const more = { leechers: 2, peers: 9, infohash: KEY, downloadvolumefactor: 1, uploadvolumefactor: 1, imdbid: 'tt1' }
  const attributes = [...pairs, ...Object.entries(more), ['category', 5040], ['category', 5000]]
  const rss = feed.items.map((one) => ({
    title: one.title,
    guid: one.detailsUrl,
    link: one.downloadUrl,
    comments: one.commentsUrl,
    pubDate: 'Tue, 05 Mar 2024 07:08:09 +0000',
    size: one.size,
    files: 3,
    grabs: one.grabs,
    description: '',
    category: one.categories,
    enclosure: { '@url': one.downloadUrl, '@length': String(one.size), '@type': 'application/x-bittorrent' },
    'torznab:attr': attributes.map(([name, value]) => ({ '@name': name, '@value': String(value) })),
  }))
  return { rss: { channel: { title: 'Example', item: rss } } }
}
const [smallGeneric, largeGeneric] = [generic(small), generic(large)]

/** @type {import('@vault-and-tracker/torznab-xml').ParseOptions} */
const options = {
  supported: { search: ['q'], tvsearch: ['q', 'season', 'ep', 'tvdbid', 'imdbid'], movie: ['q'], music: [], book: [] },
  limits: { default: 25, max: 100 },
}
const rawQuery = `t=tvsearch&cat=5030,5040&extended=1&apikey=${KEY}&offset=0&limit=100&q=Game%20of%20Thrones&season=1&ep=5`

const rows = {
  'feed of 25 items': () => writeFeed(small),
  'feed of 100 items': () => writeFeed(large),
  'feed of 100 items, JSON': () => writeFeed(large, 'json'),
  'for comparison: JSON.stringify of the 25': () => JSON.stringify(small),
  'for comparison: JSON.stringify of the 100': () => JSON.stringify(large),
  'for comparison: fast-xml-builder writes the 25': () => builder.build(smallGeneric),
  'for comparison: fast-xml-builder writes the 100': () => builder.build(largeGeneric),
  'read a query': () => parseTorznabQuery(rawQuery, options),
}

console.log(`Node ${process.version}, ${SECONDS} s of processor time each, after as much to warm up\n`)
console.log('| operation | per second | µs each |\n|---|---:|---:|')
for (const [name, run] of Object.entries(rows)) {
  measure(run)
  const perSecond = measure(run)
  console.log(`| ${name} | ${Math.round(perSecond).toLocaleString('en')} | ${(1e6 / perSecond).toFixed(1)} |`)
}

/**
 * Calls per second of processor time, so that other work on the machine does not count.
 *
 * @param {() => unknown} run
 */
function measure(run) {
  let count = 0
  let spent = 0
  const before = process.cpuUsage()
  while (spent < SECONDS * 1e6) {
    for (let i = 0; i < 16; i += 1) run()
    count += 16
    const { user, system } = process.cpuUsage(before)
    spent = user + system
  }
  return (count * 1e6) / spent
}
