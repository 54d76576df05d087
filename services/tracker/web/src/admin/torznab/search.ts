import type { paths } from '../../../generated/openapi.ts'

type StatisticsQuery = NonNullable<paths['/api/admin/torznab/statistics']['get']['parameters']['query']>
export type Range = NonNullable<StatisticsQuery['range']>

const TABS = ['configuration', 'users', 'requests', 'blocks', 'check'] as const

/** The functions of the API, as the log names them. */
export const FUNCTIONS = [
  'caps',
  'search',
  'tvsearch',
  'movie',
  'music',
  'book',
  'details',
  'download',
  'unknown',
] as const

export const RANGES: readonly Range[] = ['24h', '7d', '30d', 'all']

/** The parameters of the address, of which each tab reads its own. */
export type TorznabSearch = {
  readonly tab?: (typeof TABS)[number] | undefined
  readonly range?: Exclude<Range, '24h'> | undefined
  /** ISO 8601, for statistics and requests. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** A name or an id. */
  readonly user?: string | undefined
  readonly function?: (typeof FUNCTIONS)[number] | undefined
  /** `true` for any error, `false` for none, or the code of one. */
  readonly error?: string | undefined
  /** Part of the name of users. */
  readonly search?: string | undefined
  readonly blocked?: 'true' | undefined
  readonly page?: number | undefined
}

/** The filters of the request log. */
export type RequestSearch = Pick<TorznabSearch, 'user' | 'function' | 'error' | 'from' | 'to' | 'page'>

/** The part of the address that the request log reads. */
export function requestSearchOf(search: TorznabSearch): RequestSearch {
  const { user, function: name, error, from, to, page } = search
  return { user, function: name, error, from, to, page }
}

const MAX_PAGE = 10_000

/** Reads the parameters of an address; invalid values are ignored. */
export function readTorznabSearch(raw: Readonly<Record<string, unknown>>): TorznabSearch {
  const page = Number(raw['page'])
  const error = textOf(raw['error'])
  return {
    tab: TABS.find((tab) => tab === raw['tab']),
    range: (['7d', '30d', 'all'] as const).find((range) => range === raw['range']),
    from: timeOf(raw['from']),
    to: timeOf(raw['to']),
    user: textOf(raw['user'])?.slice(0, 64),
    function: FUNCTIONS.find((name) => name === raw['function']),
    error: error !== undefined && /^(?:true|false|\d{3})$/.test(error) ? error : undefined,
    search: textOf(raw['search'])?.slice(0, 32),
    blocked: raw['blocked'] === 'true' ? 'true' : undefined,
    page: Number.isInteger(page) && page > 1 && page <= MAX_PAGE ? page : undefined,
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

function timeOf(value: unknown): string | undefined {
  const time = Date.parse(textOf(value) ?? '')
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

/** Removes undefined parameters for the API client. */
export function given<Query extends object>(query: Query): { [Name in keyof Query]?: Exclude<Query[Name], undefined> } {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Query]?: Exclude<Query[Name], undefined>
  }
}
