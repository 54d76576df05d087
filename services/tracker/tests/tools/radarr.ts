import { type Arr, fetchCaps, fetchPages, fetchTiers, queryOf, testFeed } from './arr.ts'
import { type Indexer, type Release, ToolError } from './tool.ts'

const RADARR: Arr = { name: 'Radarr', version: '5.26.2.10099' }

/** Radarr's default categories. */
const RADARR_CATEGORIES = [2000, 2010, 2020, 2030, 2040, 2045, 2050, 2060] as const

/** The button "Test". @throws ToolError as the user sees it */
export async function testRadarr(indexer: Indexer, categories: readonly number[] = RADARR_CATEGORIES) {
  const caps = await fetchCaps(RADARR, indexer)
  const canSearchFilms = ['q', 'tmdbid', 'imdbid'].some((name) => caps.movie?.includes(name))
  if (caps.search?.includes('q') !== true && !canSearchFilms) {
    throw new ToolError('Indexer does not support required search parameters')
  }
  if (!categories.some((id) => caps.categories.has(id))) {
    throw new ToolError('This indexer does not support any of the selected categories!')
  }
  return testFeed(RADARR, indexer, queryOf(indexer, caps, 'movie', categories))
}

/** The sync of every hour, from the newest to the last one seen. */
export async function syncRadarr(indexer: Indexer, lastSeen?: Release): Promise<readonly Release[]> {
  const caps = await fetchCaps(RADARR, indexer)
  return fetchPages(RADARR, indexer, caps, queryOf(indexer, caps, 'movie', RADARR_CATEGORIES), lastSeen)
}

/** A film by ids, the IMDb id without `tt`; when these find nothing, by title and year. */
export async function searchFilm(
  indexer: Indexer,
  wanted: { title: string; year: number; tmdb: number; imdb: string },
): Promise<readonly Release[]> {
  const caps = await fetchCaps(RADARR, indexer)
  const ids = [
    caps.movie?.includes('tmdbid') === true ? `&tmdbid=${wanted.tmdb}` : '',
    caps.movie?.includes('imdbid') === true ? `&imdbid=${wanted.imdb.slice(2)}` : '',
  ].join('')
  const title = encodeURIComponent(`${wanted.title.replace(/[^\p{L}\p{N} ]+/gu, ' ').trim()} ${wanted.year}`)
  const byTitle = queryOf(indexer, caps, 'search', RADARR_CATEGORIES, `&q=${title}`)
  return fetchTiers(RADARR, indexer, caps, [[queryOf(indexer, caps, 'movie', RADARR_CATEGORIES, ids)], [byTitle]])
}
