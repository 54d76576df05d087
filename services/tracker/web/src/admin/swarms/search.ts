import type { RawSearch } from '@vault-and-tracker/web-kit/address'

export const RANGES = ['3h', '24h', '7d', '30d', '1y'] as const
export type Range = (typeof RANGES)[number]
const BUSIEST = ['peers', 'seeders', 'leechers'] as const
export type BusySort = (typeof BUSIEST)[number]

/** The parameters of the page's address. Omitted ones have their defaults. */
export type SwarmsSearch = { readonly range?: Range | undefined; readonly busiest?: BusySort | undefined }

/** Reads an address; ignores invalid parameters and defaults. */
export function readSwarmsSearch(raw: RawSearch): SwarmsSearch {
  return {
    range: RANGES.find((range) => range === raw['range'] && range !== '24h'),
    busiest: BUSIEST.find((busiest) => busiest === raw['busiest'] && busiest !== 'peers'),
  }
}
