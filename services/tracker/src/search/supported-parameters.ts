import type { Supported } from '@vault-and-tracker/torznab-xml'

/** What the indexer's functions heed: caps tells it, and the parser of queries goes by it. */
export const SUPPORTED_PARAMETERS: Supported = {
  search: ['q', 'tag'],
  tvsearch: ['q', 'season', 'ep', 'imdbid', 'tvdbid', 'tmdbid', 'tag'],
  movie: ['q', 'imdbid', 'tmdbid', 'year', 'tag'],
  music: ['q', 'artist', 'album', 'year', 'tag'],
  book: ['q', 'author', 'title', 'year', 'tag'],
}
