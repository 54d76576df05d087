import { type Arr, fetchCaps, fetchPages, fetchTiers, queryOf, testFeed } from './arr.ts'
import { type Indexer, type Release, ToolError } from './tool.ts'

export const SONARR: Arr = { name: 'Sonarr', version: '4.0.15.2941' }

/** Sonarr's default categories. */
const SONARR_CATEGORIES = [5030, 5040] as const

/** The button "Test". @throws ToolError as the user sees it */
export async function testSonarr(indexer: Indexer, categories: readonly number[] = SONARR_CATEGORIES) {
  const caps = await fetchCaps(SONARR, indexer)
  const canSearchTv =
    ['season', 'ep'].every((name) => caps.tv?.includes(name)) && hasOne(caps.tv, ['q', 'tvdbid', 'rid'])
  if (caps.search?.includes('q') !== true && !canSearchTv) {
    throw new ToolError('Indexer does not support required search parameters')
  }
  return testFeed(SONARR, indexer, queryOf(indexer, caps, 'tvsearch', categories))
}

function hasOne(parameters: readonly string[] | undefined, wanted: readonly string[]): boolean {
  return wanted.some((name) => parameters?.includes(name) === true)
}

const ANIME_CATEGORIES = [5070] as const

type SeriesIds = { readonly tvdb?: number; readonly imdb?: string; readonly tmdb?: number }

/** The sync of every quarter of an hour, from the newest to the last one seen. */
export async function syncSonarr(
  indexer: Indexer,
  lastSeen?: Release,
  categories: readonly number[] = SONARR_CATEGORIES,
): Promise<readonly Release[]> {
  const caps = await fetchCaps(SONARR, indexer)
  return fetchPages(SONARR, indexer, caps, queryOf(indexer, caps, 'tvsearch', categories), lastSeen)
}

/** One episode of a standard series: by all ids that caps lists, then, when these find nothing, by title. */
export async function searchEpisode(
  indexer: Indexer,
  wanted: { title: string; ids: SeriesIds; season: number; episode: number },
): Promise<readonly Release[]> {
  const numbers = `&season=${wanted.season}&ep=${wanted.episode}`
  return search(indexer, wanted, numbers)
}

/** A season; the specials are season `00`. */
export async function searchSeason(indexer: Indexer, wanted: { title: string; ids: SeriesIds; season: number }) {
  return search(indexer, wanted, `&season=${wanted.season === 0 ? '00' : wanted.season}`)
}

/** A day of a daily show, with a slash that is not escaped. @param date `YYYY-MM-DD` */
export async function searchDaily(indexer: Indexer, wanted: { title: string; ids: SeriesIds; date: string }) {
  const [year = '', month = '', day = ''] = wanted.date.split('-')
  return search(indexer, wanted, `&season=${year}&ep=${month}/${day}`)
}

/** An episode of anime by its absolute number, of two digits at least, by id and by title at once. */
export async function searchAnime(indexer: Indexer, wanted: { title: string; tvdb: number; absolute: number }) {
  const caps = await fetchCaps(SONARR, indexer)
  const number = String(wanted.absolute).padStart(2, '0')
  const byId = queryOf(indexer, caps, 'tvsearch', ANIME_CATEGORIES, `&tvdbid=${wanted.tvdb}&q=${number}`)
  const text = `${encodeURIComponent(clean(wanted.title)).replaceAll('%20', '+')}+${number}`
  const byTitle = queryOf(indexer, caps, 'search', ANIME_CATEGORIES, `&q=${text}`)
  return fetchTiers(SONARR, indexer, caps, [[byId, byTitle]])
}

async function search(indexer: Indexer, wanted: { title: string; ids: SeriesIds }, numbers: string) {
  const caps = await fetchCaps(SONARR, indexer)
  const { tvdb, imdb, tmdb } = wanted.ids
  const ids = [
    tvdb !== undefined && caps.tv?.includes('tvdbid') === true ? `&tvdbid=${tvdb}` : '',
    imdb !== undefined && caps.tv?.includes('imdbid') === true ? `&imdbid=${imdb}` : '',
    tmdb !== undefined && caps.tv?.includes('tmdbid') === true ? `&tmdbid=${tmdb}` : '',
  ].join('')
  const query = (rest: string): string => queryOf(indexer, caps, 'tvsearch', SONARR_CATEGORIES, `${rest}${numbers}`)
  const byTitle = query(`&q=${encodeURIComponent(clean(wanted.title))}`)
  return fetchTiers(SONARR, indexer, caps, ids === '' ? [[byTitle]] : [[query(ids)], [byTitle]])
}

/** A title as Sonarr sends it: without the article, apostrophes and dots, without accents, `&` as a word. */
function clean(title: string): string {
  return title
    .replace(/^the /i, '')
    .replaceAll('&', 'and')
    .replace(/['.`´‘’]/g, '')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
