import { childOf, childrenOf, type Element } from './element.ts'
import { get, type Indexer, type Release, readDocument, ToolError } from './tool.ts'
import { isTorrentFile } from './torrent-file.ts'

const CROSS_SEED_HEADERS = { Accept: '*/*', 'User-Agent': 'CrossSeed/6.13.7' }

/** Its reader lets them pass, though XML does not allow them. */
const CONTROL_CHARACTERS = /[\0-\x08\v\f\x0e-\x1f]/g

/** The media types that cross-seed searches for, according to caps. */
export type Abilities = {
  readonly limit: number
  readonly search: boolean
  readonly tv: boolean
  readonly movie: boolean
  /** By words in the names of the top-level categories. */
  readonly media: ReadonlySet<string>
}

/** The requests of cross-seed when it starts. @throws ToolError with the message in its log */
export async function startCrossSeed(indexer: Indexer): Promise<Abilities> {
  if (!indexer.apiPath.endsWith('/api')) throw new ToolError('Torznab url must have a path ending in /api')
  const root = await fetchParsed(indexer, { t: 'caps' })
  const caps = root.name === 'caps' ? root : undefined
  const searching = childOf(caps, 'searching')
  const isAvailable = (name: string): boolean => childOf(searching, name)?.attributes['available'] === 'yes'
  const categories = childrenOf(childOf(caps, 'categories'), 'category')
  const names = categories.map(({ attributes }) => (attributes['name'] ?? '').toLowerCase())
  const media = ['movie', 'tv', 'anime', 'xxx', 'audio', 'book'].filter((word) =>
    names.some((name) => name.includes(word)),
  )
  const abilities = {
    limit: Number.parseInt(childOf(caps, 'limits')?.attributes['max'] ?? '', 10),
    search: isAvailable('search'),
    tv: isAvailable('tv-search'),
    movie: isAvailable('movie-search'),
    media: new Set(media),
  }
  if (!abilities.search) throw new ToolError("Ignoring indexer that doesn't support searching")
  return abilities
}

/** Its start, then the first page of its RSS scan. It has no test button. @throws ToolError with the message in its log */
export async function testCrossSeed(indexer: Indexer): Promise<readonly Release[]> {
  const { limit } = await startCrossSeed(indexer)
  return queryCrossSeed(indexer, { t: 'search', q: '', limit: String(limit), offset: '0' })
}

/** The releases of one answer. @throws ToolError with the message in its log */
async function queryCrossSeed(
  indexer: Indexer,
  parameters: Readonly<Record<string, string>>,
): Promise<readonly Release[]> {
  const feed = await fetchParsed(indexer, parameters)
  return childrenOf(childOf(feed, 'channel'), 'item').map(readItem)
}

async function fetchParsed(indexer: Indexer, parameters: Readonly<Record<string, string>>): Promise<Element> {
  const rest = new URLSearchParams({ apikey: indexer.apiKey, ...parameters }).toString()
  const { status, headers, body } = await get(indexer, rest, CROSS_SEED_HEADERS)
  if (status === 429) {
    // Number(null) is 0: without the header it retries at once.
    throw new ToolError(`rate limited for ${Number(headers.get('retry-after'))} s`)
  }
  if (status !== 200) throw new ToolError(`request failed with code: ${status}`)
  return readDocument(indexer, body.replace(CONTROL_CHARACTERS, ''))
}

/** An element with an attribute is an object there, which cross-seed's database refuses; so does a missing one. */
function readItem(item: Element): Release {
  const text = (name: string): string => {
    const element = childOf(item, name)
    if (element === undefined || Object.keys(element.attributes).length > 0)
      throw new ToolError(`SQLite3 can only bind numbers, strings: ${name}`)
    return element.text
  }
  const [size, published] = [Number(text('size')), new Date(text('pubDate')).getTime()]
  if (Number.isNaN(size) || Number.isNaN(published)) throw new ToolError('Not a number')
  const unknown = { categories: [], seeders: undefined, peers: undefined, infoHash: undefined }
  return { title: text('title'), guid: text('guid'), link: text('link'), size, published, ...unknown }
}

const MAX_PAGES = 10

/** The RSS scan: pages as long as all of a page is new, asking for another one even after a short page. */
export async function scanCrossSeed(indexer: Indexer, known: ReadonlySet<string> = new Set()) {
  const { limit } = await startCrossSeed(indexer)
  const releases: Release[] = []
  for (let page = 0; page < MAX_PAGES; page++) {
    const found = await queryCrossSeed(indexer, {
      t: 'search',
      q: '',
      limit: String(limit),
      offset: String(page * limit),
    })
    releases.push(...found)
    if (found.length === 0 || found.some(({ guid }) => known.has(guid))) break
  }
  return releases
}

/** The searches of cross-seed, which have no category and no limit. */
export type CrossSeedSearch =
  | { readonly t: 'tvsearch'; readonly q: string; readonly season: string; readonly ep?: string }
  | { readonly t: 'movie' | 'search'; readonly q: string }

export async function searchCrossSeed(indexer: Indexer, search: CrossSeedSearch): Promise<readonly Release[]> {
  return queryCrossSeed(indexer, search)
}

/** The .torrent file of a release. */
export async function grabCrossSeed(indexer: Indexer, release: Pick<Release, 'link'>): Promise<Uint8Array> {
  const response = await indexer.fetch(release.link, { headers: CROSS_SEED_HEADERS, redirect: 'manual' })
  if (response.status === 429) throw new ToolError('rate limited')
  if (response.status !== 200) throw new ToolError(`error downloading torrent: ${response.status}`)
  if (response.headers.get('content-type') === 'application/rss+xml') throw new ToolError('invalid torrent contents')
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (!isTorrentFile(bytes)) throw new ToolError('invalid torrent contents')
  return bytes
}
