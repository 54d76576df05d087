import { type Caps, capsCategories } from '@vault-and-tracker/torznab-xml'
import type { Category } from '../categories/categories.ts'
import { SUPPORTED_PARAMETERS } from '../search/supported-parameters.ts'
import { FREELEECH } from './tags.ts'

/** Items on a page: unless the request says otherwise, and at most. */
export const PAGE_LIMITS = { default: 25, max: 100 } as const

/** The indexer as documents name it. */
export type IndexerInfo = {
  /** The base of all addresses, without a slash at its end. */
  readonly publicUrl: string
  readonly title: string
  readonly registration: Caps['registration']
}

/** The content of the answer to `t=caps`. */
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
