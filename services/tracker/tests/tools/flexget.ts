import { childOf, childrenOf, descendants, type Element, torznabValues } from './element.ts'
import { get, type Indexer, type Release, readDocument, ToolError, wholeNumber } from './tool.ts'

const HEADERS = { Accept: '*/*', 'User-Agent': 'FlexGet/3.15.12 (www.flexget.com)' }

type Searcher = 'search' | 'tvsearch' | 'movie'

const ELEMENTS: Readonly<Record<Searcher, string>> = {
  search: 'search',
  tvsearch: 'tv-search',
  movie: 'movie-search',
}

/** The parameters of an entry, such as `imdbid`, `season` and `ep`; those that caps does not list are left out. */
export type FlexGetEntry = { readonly title: string; readonly parameters: Readonly<Record<string, string>> }

/** A search, because FlexGet has no test. It requests `{site}/api`. @throws ToolError if its task fails */
export async function searchFlexGet(indexer: Indexer, searcher: Searcher, entry: FlexGetEntry) {
  if (!indexer.apiPath.endsWith('/api')) throw new ToolError('FlexGet appends /api to the address of the site')
  const start = `apikey=${indexer.apiKey}&extended=1`
  const caps = await fetchXml(indexer, `${start}&t=caps`)
  const { available, supportedParams } = childOf(childOf(caps, 'searching'), ELEMENTS[searcher])?.attributes ?? {}
  if (available !== 'yes' || supportedParams === undefined || supportedParams === '') {
    throw new ToolError('No searcher available')
  }
  const supported = supportedParams.split(',')
  const known = Object.entries(entry.parameters).filter(([name]) => supported.includes(name))
  const query = new URLSearchParams({ ...Object.fromEntries(known), q: entry.title })
  const cat = categoriesOf(caps, searcher)
  const feed = await fetchXml(indexer, `${start}&t=${searcher}${cat === '' ? '' : `&cat=${cat}`}&${query.toString()}`)
  return descendants(feed, 'item').flatMap(readItem)
}

/** All films or all series that caps names. */
function categoriesOf(caps: Element, searcher: Searcher): string {
  if (searcher === 'search') return ''
  const family = searcher === 'movie' ? 2000 : 5000
  const categories = childrenOf(childOf(caps, 'categories'), 'category').flatMap((root) => [
    root,
    ...childrenOf(root, 'subcat'),
  ])
  const ids = categories.map(({ attributes }) => Number(attributes['id']))
  return [...new Set(ids.filter((id) => id >= family && id < family + 1000))].join('%2C')
}

async function fetchXml(indexer: Indexer, query: string): Promise<Element> {
  const { status, body } = await get(indexer, query, HEADERS)
  if (status >= 400) throw new ToolError(`Failed fetching: HTTP ${status}`)
  return readDocument(indexer, body)
}

/** An enclosure of another type is skipped; one without a length stops the task. */
function readItem(item: Element): readonly Release[] {
  const enclosure = childrenOf(item, 'enclosure').find(
    ({ attributes }) => attributes['type'] === 'application/x-bittorrent',
  )
  if (enclosure === undefined) return []
  const { url, length } = enclosure.attributes
  if (url === undefined || length === undefined) throw new ToolError('KeyError')
  const [seeders, peers] = ['seeders', 'peers'].map((name) => wholeNumber(torznabValues(item, name)[0], name))
  return [
    {
      title: childOf(item, 'title')?.text ?? '',
      guid: childOf(item, 'guid')?.text ?? '',
      link: url,
      size: /^\d+$/.test(length) ? Number(length) : 0,
      published: Date.parse(childOf(item, 'pubDate')?.text ?? ''),
      categories: childrenOf(item, 'category').map(({ text }) => Number(text)),
      seeders,
      peers,
      infoHash: torznabValues(item, 'infohash')[0],
    },
  ]
}
