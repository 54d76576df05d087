import { fetchCaps } from '../../web/src/admin/torznab/tools/arr.ts'
import { accepted, PROWLARR } from '../../web/src/admin/torznab/tools/prowlarr.ts'
import type { Indexer, Release } from '../../web/src/admin/torznab/tools/tool.ts'
import { fetchPages } from './arr.ts'

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
