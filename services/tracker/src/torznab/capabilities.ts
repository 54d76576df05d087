import { type Caps, capsCategories, type Supported } from '@vault-and-tracker/torznab-xml'
import type { Category } from '../categories/categories.ts'

/**
 * The parameters that each function heeds. `year` is not for series: tools mean the year in which one began, which
 * names of its episodes do not tell.
 */
export const SUPPORTED: Supported = {
  search: ['q'],
  tvsearch: ['q', 'season', 'ep', 'imdbid', 'tmdbid', 'tvdbid'],
  movie: ['q', 'imdbid', 'tmdbid', 'year'],
  music: ['q', 'artist', 'album', 'year'],
  book: ['q', 'author', 'title'],
}

/** Items on a page: unless the request says otherwise, and at most. */
export const PAGE_LIMITS = { default: 25, max: 100 } as const

/** The site as documents name it. */
export type Site = {
  /** The base of all addresses, without a slash at its end. */
  readonly publicUrl: string
  readonly title: string
  readonly registration: Caps['registration']
}

/** What `t=caps` tells. */
export function capsOf(site: Site, categories: readonly Category[]): Caps {
  return {
    server: { title: site.title, url: `${site.publicUrl}/` },
    limits: PAGE_LIMITS,
    registration: site.registration,
    supported: SUPPORTED,
    categories: capsCategories(categories),
    tags: [{ name: 'freeleech', description: 'Downloads are not charged' }],
  }
}
