/** Functions that search (Torznab 1.3, "Function Overview"). */
export const SEARCH_FUNCTIONS = ['search', 'tvsearch', 'movie', 'music', 'book'] as const
export type SearchFunction = (typeof SEARCH_FUNCTIONS)[number]

/** All functions of this indexer. Other functions of the specification are for Usenet, comments and carts. */
export const TORZNAB_FUNCTIONS = ['caps', ...SEARCH_FUNCTIONS, 'details'] as const
export type TorznabFunction = (typeof TORZNAB_FUNCTIONS)[number]

/** Parameters for a text search in one field. */
export const TEXT_PARAMETERS = [
  'genre',
  'artist',
  'album',
  'label',
  'track',
  'author',
  'title',
  'publisher',
  'imdbtitle',
] as const
export type TextParameter = (typeof TEXT_PARAMETERS)[number]

/** Parameters for the id of a series or film in another catalogue. */
export const ID_PARAMETERS = ['imdbid', 'tmdbid', 'tvdbid', 'tvmazeid', 'rid', 'traktid', 'doubanid'] as const
export type IdParameter = (typeof ID_PARAMETERS)[number]

/**
 * Parameters that narrow a search, from the Newznab Web API, Torznab 1.1 and 1.3, and applications. `supportedParams`
 * in caps lists only these, and never `cat`, `limit`, `offset` and the like (Torznab 1.1).
 */
export const SEARCH_PARAMETERS = [
  'q',
  'season',
  'ep',
  ...ID_PARAMETERS,
  'year',
  'imdbyear',
  ...TEXT_PARAMETERS,
  'group',
  'tag',
] as const
export type SearchParameter = (typeof SEARCH_PARAMETERS)[number]

/**
 * The supported parameters of each function, for both caps and the parser. A function without any is unavailable.
 * `group` is left out because it is a Usenet group.
 */
export type Supported = Readonly<Record<SearchFunction, readonly Exclude<SearchParameter, 'group'>[]>>
