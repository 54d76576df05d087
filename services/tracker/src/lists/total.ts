/** Totals of lists are exact up to here; counting on would cost more than the page. */
export const MAX_EXACT_TOTAL = 5_000

/** No list goes on beyond so many items, so that nobody reads the catalogue from its end. */
export const MAX_OFFSET = 10_000

/** How many there are on all pages. Where it is not exact, there are more than `total`. */
export type Total = { readonly total: number; readonly totalIsExact: boolean }

/** @param counted how many there are, counted to one beyond `MAX_EXACT_TOTAL` at most */
export function totalOf(counted: number): Total {
  return { total: Math.min(counted, MAX_EXACT_TOTAL), totalIsExact: counted <= MAX_EXACT_TOTAL }
}
