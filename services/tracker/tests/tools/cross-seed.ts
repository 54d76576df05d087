import { CROSS_SEED_HEADERS, queryCrossSeed, startCrossSeed } from '../../web/src/admin/torznab/tools/cross-seed.ts'
import { type Indexer, type Release, ToolError } from '../../web/src/admin/torznab/tools/tool.ts'
import { isTorrentFile } from './torrent-file.ts'

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

/** What cross-seed looks for; it names no category and no limit. */
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
