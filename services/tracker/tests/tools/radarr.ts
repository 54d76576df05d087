import { fetchCaps, queryOf } from '../../web/src/admin/torznab/tools/arr.ts'
import { RADARR, RADARR_CATEGORIES } from '../../web/src/admin/torznab/tools/radarr.ts'
import type { Indexer, Release } from '../../web/src/admin/torznab/tools/tool.ts'
import { fetchPages, fetchTiers } from './arr.ts'

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
