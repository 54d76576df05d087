/** Ids from here on are site-specific (Newznab Web API, "Category Ranges") and do not form families. */
const FIRST_CUSTOM_ID = 100_000

/** The family of an id by its number: 5000 for 5040 and for 5000 itself; undefined for site-specific ids. */
export function familyOfId(id: number): number | undefined {
  return id < FIRST_CUSTOM_ID ? id - (id % 1000) : undefined
}

/** Common slugs of categories, and their ids. Several slugs may have the same id. */
const IDS_OF_SLUGS: Readonly<Record<string, number>> = {
  movies: 2000,
  'movies-hd': 2040,
  'movies-uhd': 2045,
  'movies-4k': 2045,
  tv: 5000,
  'tv-hd': 5040,
  'tv-uhd': 5045,
  'tv-4k': 5045,
  anime: 5070,
  'tv-anime': 5070,
  audio: 3000,
  music: 3000,
  games: 4050,
  'games-pc': 4050,
  ebooks: 7020,
  books: 7020,
}

/** The usual id of a category with this slug; undefined for other slugs. */
export function torznabIdOfSlug(slug: string): number | undefined {
  return Object.hasOwn(IDS_OF_SLUGS, slug) ? IDS_OF_SLUGS[slug] : undefined
}
