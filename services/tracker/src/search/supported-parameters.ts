import type { Supported } from '@vault-and-tracker/torznab-xml'

/** The parameters that each Torznab function supports, for `t=caps` and the query parser. */
export const SUPPORTED_PARAMETERS: Supported = {
  search: ['q', 'tag'],
  tvsearch: ['q', 'season', 'ep', 'imdbid', 'tvdbid', 'tmdbid', 'tag'],
  movie: ['q', 'imdbid', 'tmdbid', 'year', 'tag'],
  music: ['q', 'artist', 'album', 'year', 'tag'],
  book: ['q', 'author', 'title', 'year', 'tag'],
}
