import { type Arr, type ArrCaps, fetchCaps, fetchPages, fetchTiers, queryOf, testFeed } from './arr.ts'
import { type Indexer, type Release, ToolError } from './tool.ts'

const LIDARR: Arr = { name: 'Lidarr', version: '2.12.4.4658' }

/** Lidarr's default categories. */
const CATEGORIES = [3000, 3010, 3030, 3040] as const

/** @throws ToolError as the user sees it */
export async function testLidarr(indexer: Indexer): Promise<readonly Release[]> {
  const caps = await fetchCaps(LIDARR, indexer)
  if (caps.search?.includes('q') !== true && !hasAlbums(caps)) {
    throw new ToolError('Indexer does not support required search parameters')
  }
  return testFeed(LIDARR, indexer, recent(indexer, caps))
}

export async function syncLidarr(indexer: Indexer, lastSeen?: Release): Promise<readonly Release[]> {
  const caps = await fetchCaps(LIDARR, indexer)
  return fetchPages(LIDARR, indexer, caps, recent(indexer, caps), lastSeen)
}

/** An album by its fields, with an empty `q`; when these find nothing, by words. */
export async function searchAlbum(
  indexer: Indexer,
  wanted: { artist: string; album: string; year?: number },
): Promise<readonly Release[]> {
  const caps = await fetchCaps(LIDARR, indexer)
  const [artist, album] = [encodeURIComponent(wanted.artist), encodeURIComponent(wanted.album)]
  const year = wanted.year !== undefined && caps.audio?.includes('year') === true ? `&year=${wanted.year}` : ''
  const byWords = queryOf(indexer, caps, 'search', CATEGORIES, `&q=${artist}%20${album}`)
  const byFields = queryOf(indexer, caps, 'music', CATEGORIES, `&q=&artist=${artist}&album=${album}${year}`)
  return fetchTiers(LIDARR, indexer, caps, hasAlbums(caps) ? [[byFields], [byWords]] : [[byWords]])
}

function recent(indexer: Indexer, caps: ArrCaps): string {
  return queryOf(indexer, caps, caps.audio === undefined ? 'search' : 'music', CATEGORIES)
}

function hasAlbums({ audio }: ArrCaps): boolean {
  return ['q', 'artist', 'album'].every((name) => audio?.includes(name))
}
