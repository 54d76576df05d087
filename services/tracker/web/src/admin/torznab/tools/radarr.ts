import { type Arr, fetchCaps, queryOf, testFeed } from './arr.ts'
import { type Indexer, ToolError } from './tool.ts'

export const RADARR: Arr = { name: 'Radarr', version: '5.26.2.10099' }

/** What Radarr asks for unless the user chooses otherwise. */
export const RADARR_CATEGORIES = [2000, 2010, 2020, 2030, 2040, 2045, 2050, 2060] as const

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
