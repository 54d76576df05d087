/** Functions that search (Torznab 1.3, "Function Overview"). */
export const SEARCH_FUNCTIONS = ['search', 'tvsearch', 'movie', 'music', 'book'] as const
export type SearchFunction = (typeof SEARCH_FUNCTIONS)[number]

/** All functions of this indexer. Others of the specification concern Usenet or sites with comments and carts. */
export const TORZNAB_FUNCTIONS = ['caps', ...SEARCH_FUNCTIONS, 'details'] as const
export type TorznabFunction = (typeof TORZNAB_FUNCTIONS)[number]

/** Parameters whose value is text to look for in one field. */
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

/** Parameters whose value is the number of a series or film in another catalogue. */
export const ID_PARAMETERS = ['imdbid', 'tmdbid', 'tvdbid', 'tvmazeid', 'rid', 'traktid', 'doubanid'] as const
export type IdParameter = (typeof ID_PARAMETERS)[number]

/**
 * Parameters that narrow a search, of the Newznab Web API, of Torznab 1.1 and 1.3 and of what tools send besides.
 * These are what `supportedParams` in caps can list; `cat`, `limit`, `offset` and their like never are (Torznab 1.1).
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
 * Which parameters each function heeds. Caps tells it, and the parser goes by it, so that the two cannot differ. A
 * function without any is not available. `group` is a Usenet group, which torrents do not have.
 */
export type Supported = Readonly<Record<SearchFunction, readonly Exclude<SearchParameter, 'group'>[]>>
