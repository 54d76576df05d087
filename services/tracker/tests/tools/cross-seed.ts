import { parseStringPromise } from 'xml2js'
import { get, type Indexer, isTorrentFile, type Release, ToolError } from './tool.ts'

const HEADERS = { Accept: '*/*', 'User-Agent': 'CrossSeed/6.13.7' }
const MAX_PAGES = 10

type Listed<T> = readonly T[] | undefined
type Attributes = { readonly $: Readonly<Record<string, string>> }
type Caps = {
  readonly caps?: {
    readonly limits: readonly Attributes[]
    readonly categories: readonly { readonly category: readonly Attributes[] }[]
    readonly searching: readonly Readonly<Record<string, Listed<Attributes>>>[]
  }
}
type Feed = { readonly rss?: { readonly channel?: readonly { readonly item?: readonly Item[] }[] } }
type Item = Readonly<Partial<Record<'guid' | 'title' | 'link' | 'size' | 'pubDate', readonly unknown[]>>>

/** What cross-seed has learnt from caps: which kinds of media it will search for. */
export type Abilities = {
  readonly limit: number
  readonly search: boolean
  readonly tv: boolean
  readonly movie: boolean
  /** By words in the names of the top-level categories. */
  readonly media: ReadonlySet<string>
}

/** What happens when cross-seed starts. @throws ToolError as its log says */
export async function startCrossSeed(indexer: Indexer): Promise<Abilities> {
  if (!indexer.apiPath.endsWith('/api')) throw new ToolError('Torznab url must have a path ending in /api')
  const { caps } = (await fetchParsed(indexer, { t: 'caps' })) as Caps
  const searching = caps?.searching[0]
  const isAvailable = (name: string): boolean => searching?.[name]?.[0]?.$['available'] === 'yes'
  const names = caps?.categories[0]?.category.map(({ $ }) => ($['name'] ?? '').toLowerCase()) ?? []
  const media = ['movie', 'tv', 'anime', 'xxx', 'audio', 'book'].filter((word) =>
    names.some((name) => name.includes(word)),
  )
  const abilities = {
    limit: Number.parseInt(caps?.limits[0]?.$['max'] ?? '', 10),
    search: isAvailable('search'),
    tv: isAvailable('tv-search'),
    movie: isAvailable('movie-search'),
    media: new Set(media),
  }
  if (!abilities.search) throw new ToolError("Ignoring indexer that doesn't support searching")
  return abilities
}

/** The RSS scan: pages as long as all of a page is new, asking for another one even after a short page. */
export async function scanCrossSeed(indexer: Indexer, known: ReadonlySet<string> = new Set()) {
  const { limit } = await startCrossSeed(indexer)
  const releases: Release[] = []
  for (let page = 0; page < MAX_PAGES; page++) {
    const found = await query(indexer, { t: 'search', q: '', limit: String(limit), offset: String(page * limit) })
    releases.push(...found)
    if (found.length === 0 || found.some(({ guid }) => known.has(guid))) break
  }
  return releases
}

/** What cross-seed looks for; it names no category and no limit. */
export type CrossSeedSearch =
  | { readonly t: 'tvsearch'; readonly q: string; readonly season: string; readonly ep?: string }
  | { readonly t: 'movie' | 'search'; readonly q: string }

export async function searchCrossSeed(indexer: Indexer, search: CrossSeedSearch): Promise<readonly Release[]> {
  return query(indexer, search)
}

/** The .torrent file of a release. */
export async function grabCrossSeed(indexer: Indexer, release: Pick<Release, 'link'>): Promise<Uint8Array> {
  const response = await indexer.fetch(release.link, { headers: HEADERS, redirect: 'manual' })
  if (response.status === 429) throw new ToolError('rate limited')
  if (response.status !== 200) throw new ToolError(`error downloading torrent: ${response.status}`)
  if (response.headers.get('content-type') === 'application/rss+xml') throw new ToolError('invalid torrent contents')
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (!isTorrentFile(bytes)) throw new ToolError('invalid torrent contents')
  return bytes
}

async function query(indexer: Indexer, parameters: Readonly<Record<string, string>>): Promise<readonly Release[]> {
  const feed = (await fetchParsed(indexer, parameters)) as Feed
  return feed.rss?.channel?.[0]?.item?.map(readItem) ?? []
}

async function fetchParsed(indexer: Indexer, parameters: Readonly<Record<string, string>>): Promise<unknown> {
  const rest = new URLSearchParams({ apikey: indexer.apiKey, ...parameters }).toString()
  const { status, headers, body } = await get(indexer, rest, HEADERS)
  if (status === 429) {
    // Number(null) is 0: without the header it asks again at once.
    throw new ToolError(`rate limited for ${Number(headers.get('retry-after'))} s`)
  }
  if (status !== 200) throw new ToolError(`request failed with code: ${status}`)
  try {
    return await parseStringPromise(body)
  } catch (error) {
    throw new ToolError('Indexer responded with invalid XML', { cause: error })
  }
}

/** An element with an attribute is an object here, which cross-seed's database refuses; so does a missing one. */
function readItem(item: Item): Release {
  const text = (name: keyof Item): string => {
    const value = item[name]?.[0]
    if (typeof value !== 'string') throw new ToolError(`SQLite3 can only bind numbers, strings: ${name}`)
    return value
  }
  const [size, published] = [Number(text('size')), new Date(text('pubDate')).getTime()]
  if (Number.isNaN(size) || Number.isNaN(published)) throw new ToolError('Not a number')
  const unknown = { categories: [], seeders: undefined, peers: undefined, infoHash: undefined }
  return { title: text('title'), guid: text('guid'), link: text('link'), size, published, ...unknown }
}
