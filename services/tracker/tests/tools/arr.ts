import { type Arr, type ArrCaps, fetchPage, headersOf } from '../../web/src/admin/torznab/tools/arr.ts'
import { type Indexer, type Release, ToolError } from '../../web/src/admin/torznab/tools/tool.ts'
import { isTorrentFile } from './torrent-file.ts'

// What Sonarr, Radarr, Lidarr and Readarr have in common beside their Test, being one program once.

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
 * What keeps a release from being grabbed, whatever it is: a size that no quality allows, and, with the setting of
 * one seeder at least, none.
 */
export function rejections(release: Release): readonly string[] {
  return [
    ...(release.size > 0 ? [] : ['size is 0']),
    ...(release.seeders === 0 ? ['not enough seeders'] : []),
    ...(release.title === 'Unknown' ? ['no title'] : []),
  ]
}

/** The .torrent file of a release. Redirects are followed by hand, and only the three that these programs know. */
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
