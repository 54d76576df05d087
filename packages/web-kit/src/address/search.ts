const MAX_PAGE = 10_000

/** The unchecked parameters of an address. */
export type RawSearch = Readonly<Record<string, unknown>>

export function textIn(raw: RawSearch, name: string, maxLength = 100): string | undefined {
  const value = raw[name]
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, maxLength) : undefined
}

/** The parameter if it is one of `values`. */
export function oneOf<Value extends string>(raw: RawSearch, name: string, values: readonly Value[]): Value | undefined {
  return values.find((value) => value === raw[name])
}

/** A page number from 2 on; the first page has none. */
export function pageIn(raw: RawSearch): number | undefined {
  const page = Number(raw['page'])
  return Number.isInteger(page) && page > 1 && page <= MAX_PAGE ? page : undefined
}

/** The parameters without those that are undefined. */
export function given<Search extends object>(
  search: Search,
): { [Name in keyof Search]?: Exclude<Search[Name], undefined> } {
  const entries = Object.entries(search).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof Search]?: Exclude<Search[Name], undefined> }
}
