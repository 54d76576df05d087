import { type Arr, fetchCaps, fetchPages, testFeed } from './arr.ts'
import { type Indexer, type Release, ToolError } from './tool.ts'

const PROWLARR: Arr = { name: 'Prowlarr', version: '1.37.0.5076' }

/** The button "Test": asks for the latest of everything, without categories and limit. @throws ToolError as the user sees it */
export async function testProwlarr(indexer: Indexer): Promise<readonly Release[]> {
  const caps = await fetchCaps(PROWLARR, indexer)
  if (caps.search?.includes('q') !== true) throw new ToolError('Indexer does not support required search parameters')
  return accepted(await testFeed(PROWLARR, indexer, `t=search&extended=1&apikey=${indexer.apiKey}`), caps.categories)
}

/** The releases that Prowlarr passes on. @throws ToolError for a release that it would drop silently */
function accepted(releases: readonly Release[], known: ReadonlySet<number>): readonly Release[] {
  for (const { title, size, categories } of releases) {
    if (size <= 0) throw new ToolError(`Invalid release: ${title}: no size provided`)
    if (!categories.some((id) => known.has(id)))
      throw new ToolError(`Invalid release: ${title}: no categories provided`)
  }
  return releases
}

/** A search that one of the programs behind Prowlarr asked for, as Prowlarr forwards it. */
export type ForwardedSearch = {
  readonly type: 'search' | 'tvsearch' | 'movie' | 'music' | 'book'
  /** As the program sent them; families are expanded to their parts. */
  readonly categories: readonly number[]
  readonly q?: string
  readonly season?: number
  readonly episode?: string
}

export async function forward(indexer: Indexer, search: ForwardedSearch): Promise<readonly Release[]> {
  const caps = await fetchCaps(PROWLARR, indexer)
  const expanded = search.categories.flatMap((id) => [
    id,
    ...[...caps.categories].filter((one) => id % 1000 === 0 && one > id && one < id + 1000),
  ])
  // Without numbers there is nothing that only tvsearch could find.
  const type = search.type === 'tvsearch' && search.season === undefined ? 'search' : search.type
  const rest = [
    search.season === undefined ? '' : `&season=${search.season}`,
    search.episode === undefined ? '' : `&ep=${search.episode}`,
    '&limit=100&offset=0',
    search.q === undefined ? '' : `&q=${encodeURIComponent(search.q)}`,
  ].join('')
  const cat = expanded.length > 0 ? `&cat=${[...new Set(expanded)].join(',')}` : ''
  const query = `t=${type}&extended=1${cat}&apikey=${indexer.apiKey}${rest}`
  return accepted(await fetchPages(PROWLARR, indexer, caps, query), caps.categories)
}
