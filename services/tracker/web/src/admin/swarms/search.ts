export const RANGES = ['3h', '24h', '7d', '30d', '1y'] as const
export type Range = (typeof RANGES)[number]
const BUSIEST = ['peers', 'seeders', 'leechers'] as const
export type BusySort = (typeof BUSIEST)[number]

/** What the address of the page says; what is left out has its default. */
export type SwarmsSearch = { readonly range?: Range | undefined; readonly busiest?: BusySort | undefined }

/** Reads the parameters of an address; what makes no sense, or is the default, is as if it were not there. */
export function readSwarmsSearch(raw: Readonly<Record<string, unknown>>): SwarmsSearch {
  return {
    range: RANGES.find((range) => range === raw['range'] && range !== '24h'),
    busiest: BUSIEST.find((busiest) => busiest === raw['busiest'] && busiest !== 'peers'),
  }
}

/** Likewise of the peers of a torrent. */
export function readPage(raw: Readonly<Record<string, unknown>>): { page?: number | undefined } {
  const page = Number(raw['page'])
  return { page: Number.isInteger(page) && page > 1 && page <= 10_000 ? page : undefined }
}
