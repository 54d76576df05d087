import type { paths } from '../../../generated/openapi.ts'

type StatisticsQuery = NonNullable<paths['/api/admin/torznab/statistics']['get']['parameters']['query']>
export type Range = NonNullable<StatisticsQuery['range']>

const TABS = ['configuration', 'users', 'requests', 'blocks', 'check'] as const
/** The tabs behind the first, the statistics. */
export type TorznabTab = (typeof TABS)[number]

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
export type FunctionName = (typeof FUNCTIONS)[number]

export const RANGES: readonly Range[] = ['24h', '7d', '30d', 'all']

/** What the address says; what is left out has its default. Each tab reads what concerns it. */
export type TorznabSearch = {
  readonly tab?: TorznabTab | undefined
  readonly range?: Exclude<Range, '24h'> | undefined
  /** ISO 8601, of statistics and requests. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Whose requests: a name or an id. */
  readonly user?: string | undefined
  readonly function?: FunctionName | undefined
  /** `true` for any error, `false` for none, or the code of one. */
  readonly error?: string | undefined
  /** Part of the name of users. */
  readonly search?: string | undefined
  readonly blocked?: 'true' | undefined
  readonly page?: number | undefined
}

/** What the log of requests is narrowed to. */
export type RequestSearch = Pick<TorznabSearch, 'user' | 'function' | 'error' | 'from' | 'to' | 'page'>

/** The part of the address that the log of requests reads. */
export function requestSearchOf(search: TorznabSearch): RequestSearch {
  const { user, function: name, error, from, to, page } = search
  return { user, function: name, error, from, to, page }
}

const MAX_PAGE = 10_000

/** Reads the parameters of an address; what makes no sense is as if it were not there. */
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

/** Without the parameters that are not given, as the API client wants them. */
export function given<Query extends object>(query: Query): { [Name in keyof Query]?: Exclude<Query[Name], undefined> } {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Query]?: Exclude<Query[Name], undefined>
  }
}
