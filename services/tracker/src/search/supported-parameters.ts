import type { Supported } from '@vault-and-tracker/torznab-xml'

/** What the indexer's functions heed: caps tells it, and the parser of queries goes by it. */
export const SUPPORTED_PARAMETERS: Supported = {
  search: ['q'],
  tvsearch: ['q', 'season', 'ep', 'imdbid', 'tvdbid', 'tmdbid'],
  movie: ['q', 'imdbid', 'tmdbid', 'year'],
  music: ['q', 'artist', 'album', 'year'],
  book: ['q', 'author', 'title', 'year'],
}
