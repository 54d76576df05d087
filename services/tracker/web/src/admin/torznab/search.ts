import { oneOf, pageIn, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'

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

export const RANGES = ['24h', '7d', '30d', 'all'] as const

/** The parameters of the address. Each tab reads its own. */
export type TorznabSearch = Partial<ReturnType<typeof readTorznabSearch>>

/** Reads the parameters of an address or of a form; ignores invalid values. */
export function readTorznabSearch(raw: RawSearch) {
  return {
    tab: oneOf(raw, 'tab', TABS),
    range: oneOf(raw, 'range', RANGES.slice(1)),
    /** A name or an id. */
    user: textIn(raw, 'user', 64),
    address: textIn(raw, 'address', 50),
    function: oneOf(raw, 'function', FUNCTIONS),
    /** `true` for any error, `false` for none, or the code of one. */
    error: /^(?:true|false|\d{3})$/.exec(String(raw['error']))?.[0],
    from: timeIn(raw, 'from'),
    to: timeIn(raw, 'to'),
    /** Part of a username. */
    search: textIn(raw, 'search', 32),
    blocked: oneOf(raw, 'blocked', ['true']),
    page: pageIn(raw),
  }
}

/** A time as ISO 8601 in UTC. */
function timeIn(raw: RawSearch, name: string): string | undefined {
  const time = Date.parse(textIn(raw, name) ?? '')
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
