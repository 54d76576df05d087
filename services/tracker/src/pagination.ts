/** Totals are exact up to here. Counting further would cost more than the page itself. */
export const MAX_EXACT_TOTAL = 5_000

/** Lists end after this many items, because late pages are expensive. */
export const MAX_OFFSET = 10_000

/** The number of items on all pages. If it is not exact, there are more than `total`. */
export type Total = { readonly total: number; readonly totalIsExact: boolean }

/** A page of a list, counted from 1. */
export type Page = { readonly page: number; readonly limit: number }

/** The items of a page, as the API returns them. */
export type Listed<Item> = Page & Total & { readonly items: readonly Item[] }

/** @param counted the number of items, counted up to `most + 1` */
export function totalOf(counted: number, most = MAX_EXACT_TOTAL): Total {
  return { total: Math.min(counted, most), totalIsExact: counted <= most }
}
