import { type Caps, capsCategories, type Supported } from '@vault-and-tracker/torznab-xml'
import type { Category } from '../categories/categories.ts'

/** The parameters that each Torznab function supports, for `t=caps` and the query parser. */
export const SUPPORTED_PARAMETERS: Supported = {
  search: ['q', 'tag'],
  tvsearch: ['q', 'season', 'ep', 'imdbid', 'tvdbid', 'tmdbid', 'tag'],
  movie: ['q', 'imdbid', 'tmdbid', 'year', 'tag'],
  music: ['q', 'artist', 'album', 'year', 'tag'],
  book: ['q', 'author', 'title', 'year', 'tag'],
}

/** The tag of torrents whose download is not charged to the caller. autobrr knows it by this name. */
export const FREELEECH = 'freeleech'

/** Items on a page. */
export const PAGE_LIMITS = { default: 25, max: 100 } as const

/** The indexer as it appears in documents. */
export type IndexerInfo = {
  /** Without a slash at the end. */
  readonly publicUrl: string
  readonly title: string
  readonly registration: Caps['registration']
}

/** The answer to `t=caps`. */
export function capsOf(indexer: IndexerInfo, categories: readonly Category[]): Caps {
  return {
    server: { title: indexer.title, url: `${indexer.publicUrl}/` },
    limits: PAGE_LIMITS,
    registration: indexer.registration,
    supported: SUPPORTED_PARAMETERS,
    categories: capsCategories(categories),
    tags: [{ name: FREELEECH, description: 'Downloads are not charged' }],
  }
}
