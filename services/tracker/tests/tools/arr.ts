import { childOf, childrenOf, descendants, type Element, torznabValues } from './element.ts'
import { get, type Indexer, type Release, readDocument, ToolError, wholeNumber } from './tool.ts'
import { isTorrentFile } from './torrent-file.ts'

// The code that Sonarr, Radarr and Lidarr share, because they are forks of one program.

export type Arr = { readonly name: string; readonly version: string }

/** Caps as these programs keep them, for seven days. Undefined parameters: the search is not available. */
export type ArrCaps = {
  readonly pageSize: number
  readonly search: readonly string[] | undefined
  readonly tv: readonly string[] | undefined
  readonly movie: readonly string[] | undefined
  readonly audio: readonly string[] | undefined
  readonly categories: ReadonlySet<number>
}

function headersOf(app: Arr, accept: string): Readonly<Record<string, string>> {
  return { Accept: accept, 'User-Agent': `${app.name}/${app.version} (debian 12)` }
}

const RSS = 'application/rss+xml, text/rss+xml, application/xml, text/xml'

/** @throws ToolError with the message that Test shows for invalid caps */
export async function fetchCaps(app: Arr, indexer: Indexer): Promise<ArrCaps> {
  const root = await fetchXml(app, indexer, `t=caps&apikey=${indexer.apiKey}`)
  if (root.name !== 'caps') throw new ToolError('Unexpected XML: the root is not caps')
  const limits = childOf(root, 'limits')?.attributes ?? {}
  wholeNumber(limits['default'], 'The default limit')
  const max = wholeNumber(limits['max'], 'The maximum limit')
  const searching = childOf(root, 'searching')
  const parametersOf = (element: string): readonly string[] | undefined => {
    const attributes = childOf(searching, element)?.attributes
    return attributes?.['available'] === 'yes' ? (attributes['supportedParams'] ?? 'q').split(',') : undefined
  }
  const categories = childrenOf(childOf(root, 'categories'), 'category').flatMap((category) => [
    category,
    ...childrenOf(category, 'subcat'),
  ])
  return {
    pageSize: Math.min(100, max),
    search: parametersOf('search'),
    tv: parametersOf('tv-search'),
    movie: parametersOf('movie-search'),
    audio: parametersOf('audio-search'),
    categories: new Set(categories.map(({ attributes }) => wholeNumber(attributes['id'], 'A category'))),
  }
}

/** Test: the first request of the RSS sync has to give a release. @throws ToolError as the user sees it */
export async function testFeed(app: Arr, indexer: Indexer, query: string): Promise<readonly Release[]> {
  const releases = await fetchPage(app, indexer, query)
  if (releases.length === 0) {
    throw new ToolError(
      'Query successful, but no results in the configured categories were returned from your indexer. This may be an ' +
        'issue with the indexer or your indexer category settings.',
    )
  }
  return releases
}

/** The query of a search: the parameters of all these programs, then those of each. */
export function queryOf(
  indexer: Indexer,
  caps: ArrCaps,
  type: string,
  categories: readonly number[],
  rest = '',
): string {
  const paging = `offset=0&limit=${caps.pageSize}`
  return `t=${type}&cat=${categories.join(',')}&extended=1&apikey=${indexer.apiKey}&${paging}${rest}`
}

/** The releases of one answer. @throws ToolError as Test reports it */
async function fetchPage(app: Arr, indexer: Indexer, query: string): Promise<readonly Release[]> {
  const root = await fetchXml(app, indexer, query)
  const items = childrenOf(childOf(root, 'channel'), 'item')
  return items.flatMap((item) => readItem(item))
}

async function fetchXml(app: Arr, indexer: Indexer, query: string): Promise<Element> {
  const { status, headers, body } = await get(indexer, query, headersOf(app, RSS))
  if (status !== 200) throw new ToolError(messageOf(status))
  if (headers.get('content-type')?.includes('text/html') === true) throw new ToolError('Site is likely blocked')
  const root = await readDocument(indexer, body)
  checkError(root, query)
  return root
}

/** The message that these programs show for a status. They also print the URL, which contains the key. */
function messageOf(status: number): string {
  if (status === 401 || status === 403) return 'Invalid API Key'
  const problem = `HTTP request failed: [${status}]`
  if (status >= 500)
    return `Unable to connect to indexer, indexer's server is unavailable. Try again later. ${problem}.`
  return `Unable to connect to indexer: ${problem}. Check the log surrounding this error for details`
}

function checkError(root: Element, query: string): void {
  const error = root.name === 'error' ? root : descendants(root, 'error')[0]
  if (error === undefined) return
  const code = wholeNumber(error.attributes['code'], 'The code of the error')
  const description = error.attributes['description'] ?? ''
  if (code >= 100 && code <= 199) throw new ToolError('Invalid API Key')
  if (!query.includes('apikey=') && description.startsWith('Missing parameter')) {
    throw new ToolError('Indexer requires an API key')
  }
  throw new ToolError(description === 'Request limit reached' ? 'API limit reached' : `Error detected: ${description}`)
}

/** A missing date makes the whole feed unusable; an invalid number drops the item. */
function readItem(item: Element): readonly Release[] {
  const published = Date.parse(childOf(item, 'pubDate')?.text ?? '')
  if (Number.isNaN(published)) throw new ToolError('Each item must have a pubDate element with a valid publish date.')
  const enclosure = childOf(item, 'enclosure')?.attributes ?? {}
  if (enclosure['type'] !== 'application/x-bittorrent')
    throw new ToolError('Feed does not contain application/x-bittorrent')
  const [seeders, peers] = [torznabValues(item, 'seeders')[0], torznabValues(item, 'peers')[0]]
  if ([seeders, peers].some((count) => count !== undefined && !/^\d+$/.test(count))) return []
  const link = enclosure['url'] ?? ''
  if (!URL.canParse(link) || torznabValues(item, 'magneturl').length > 0) return []
  return [
    {
      title: childOf(item, 'title')?.text ?? 'Unknown',
      guid: childOf(item, 'guid')?.text ?? '',
      link,
      size: Number(torznabValues(item, 'size')[0] ?? enclosure['length'] ?? 0),
      published,
      categories: torznabValues(item, 'category').map(Number),
      seeders: seeders === undefined ? undefined : Number(seeders),
      peers: peers === undefined ? undefined : Number(peers),
      infoHash: torznabValues(item, 'infohash')[0],
    },
  ]
}

// Searches and downloads, which are also shared.

const MAX_PAGES = 30
const MAX_RESULTS = 1_000

/** The releases of the first tier of queries that has any; pages follow as long as they are full. */
export async function fetchTiers(
  app: Arr,
  indexer: Indexer,
  caps: ArrCaps,
  tiers: readonly (readonly string[])[],
): Promise<readonly Release[]> {
  for (const queries of tiers) {
    const found: Release[] = []
    for (const query of queries) found.push(...(await fetchPages(app, indexer, caps, query)))
    if (found.length > 0) return found
  }
  return []
}

/** All pages of a query; with the last release that the RSS sync saw, only until that one. */
export async function fetchPages(
  app: Arr,
  indexer: Indexer,
  caps: ArrCaps,
  query: string,
  lastSeen?: Pick<Release, 'link' | 'published'>,
): Promise<readonly Release[]> {
  const releases: Release[] = []
  for (let page = 0; page < MAX_PAGES && releases.length < MAX_RESULTS; page++) {
    const found = await fetchPage(app, indexer, query.replace('offset=0', `offset=${page * caps.pageSize}`))
    releases.push(...found)
    const isOld = found.some(({ link, published }) => link === lastSeen?.link || published < (lastSeen?.published ?? 0))
    if (found.length < caps.pageSize || isOld) break
  }
  return releases
}

/**
 * Reasons to reject any release: a size of 0, and no seeders, because the settings require at least one.
 */
export function rejections(release: Release): readonly string[] {
  return [
    ...(release.size > 0 ? [] : ['size is 0']),
    ...(release.seeders === 0 ? ['not enough seeders'] : []),
    ...(release.title === 'Unknown' ? ['no title'] : []),
  ]
}

/** The .torrent file of a release. It follows only the three kinds of redirects that these programs follow. */
export async function grab(app: Arr, indexer: Indexer, release: Pick<Release, 'link'>): Promise<Uint8Array> {
  let url = release.link
  for (let hops = 0; hops < 5; hops++) {
    const headers = headersOf(app, 'application/x-bittorrent')
    const response = await indexer.fetch(url, { headers, redirect: 'manual' })
    const location = response.headers.get('location')
    if ([301, 302, 303].includes(response.status) && location !== null) {
      url = new URL(location, url).href
      continue
    }
    if (response.status === 404 || response.status === 410) throw new ToolError('The release is no longer available')
    if (response.status === 429) throw new ToolError('API grab limit reached')
    if (response.status !== 200) throw new ToolError(`Downloading failed: HTTP ${response.status}`)
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (!isTorrentFile(bytes)) throw new ToolError('Invalid torrent file')
    return bytes
  }
  throw new ToolError('Too many redirects')
}
