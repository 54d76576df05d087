const MAX_PAGE = 10_000

/** The parameters of an address as they were read. */
export type RawSearch = Readonly<Record<string, unknown>>

/** Text of an address; undefined where there is none. */
export function textIn(raw: RawSearch, name: string, maxLength = 100): string | undefined {
  const value = raw[name]
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, maxLength) : undefined
}

/** One of the values that make sense; undefined for any other. */
export function oneOf<Value extends string>(raw: RawSearch, name: string, values: readonly Value[]): Value | undefined {
  return values.find((value) => value === raw[name])
}

/** The number of a page; undefined for the first. */
export function pageIn(raw: RawSearch): number | undefined {
  const page = Number(raw['page'])
  return Number.isInteger(page) && page > 1 && page <= MAX_PAGE ? page : undefined
}

/** What the address says, without what it leaves out. */
export function given<Search extends object>(
  search: Search,
): { [Name in keyof Search]?: Exclude<Search[Name], undefined> } {
  const entries = Object.entries(search).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof Search]?: Exclude<Search[Name], undefined> }
}
