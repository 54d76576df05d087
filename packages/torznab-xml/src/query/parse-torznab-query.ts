import { type TorznabError, torznabError } from '../error/torznab-error.ts'
import type { Format } from '../format.ts'
import {
  ID_PARAMETERS,
  type IdParameter,
  SEARCH_PARAMETERS,
  type SearchFunction,
  type SearchParameter,
  type Supported,
  TEXT_PARAMETERS,
  type TextParameter,
  TORZNAB_FUNCTIONS,
  type TorznabFunction,
} from './functions.ts'
import { type ParameterReader, readParameters } from './parameters.ts'
import {
  parseFlag,
  parseId,
  parseImdbId,
  parseNames,
  parseNumbers,
  parseTags,
  parseWhole,
  parseYear,
  type TagFilter,
} from './values.ts'
import { readWantedEpisode, type WantedEpisode } from './wanted-episode.ts'

/** A search. Undefined criteria were not requested, and items must match all others. */
export type SearchQuery = {
  readonly function: SearchFunction
  readonly q: string | undefined
  /** Category ids as sent, including unknown ones. If all are unknown, the feed is empty. */
  readonly categories: readonly number[] | undefined
  /** From 0 to the maximum. */
  readonly limit: number
  readonly offset: number
  readonly episode: WantedEpisode | undefined
  /** An item must have one of these ids, not all (Torznab 1.1). Empty if none was sent. */
  readonly ids: Readonly<Partial<Record<IdParameter, number>>>
  readonly year: number | undefined
  readonly text: Readonly<Partial<Record<TextParameter, string>>>
  readonly tags: TagFilter | undefined
  readonly maxAgeDays: number | undefined
  /** Bytes. */
  readonly minSize: number | undefined
  readonly maxSize: number | undefined
  /** All extended attributes, these, or the default if undefined. */
  readonly attrs: 'all' | readonly string[] | undefined
  /**
   * Parameters of the standard that this function does not support. If there is one, the response is an empty feed
   * (Torznab 1.1, "Service Changes"), because ignoring it would return unrelated items.
   */
  readonly unsupported: readonly SearchParameter[]
}

export type TorznabQuery =
  | { readonly function: 'caps' }
  /** One item, by its info hash in lower-case hex. */
  | { readonly function: 'details'; readonly infoHash: string }
  | SearchQuery

/** A parsed query string. The key and the format are available even if the request is refused. */
export type TorznabRequest = {
  readonly format: Format
  /** The key as sent, as `apikey` or `passkey`. Only caps does not require it. */
  readonly apiKey: string | undefined
  /** Undefined if it is missing or unknown. */
  readonly function: TorznabFunction | undefined
} & ({ readonly ok: true; readonly query: TorznabQuery } | { readonly ok: false; readonly error: TorznabError })

export type ParseOptions = {
  readonly supported: Supported
  /** The same limits as in caps. */
  readonly limits: { readonly default: number; readonly max: number }
}

/**
 * Parses the query string of a Torznab request (Torznab 1.3, "Standard Queries" and "Parameters"). Never throws.
 *
 * Reports the first error: `t` is missing (200) or unknown (300), the key is missing (200), or a parameter is incorrect
 * (201). A limit above the maximum becomes the maximum. Names outside the standard are ignored.
 *
 * @param rawQuery as in the URL, with or without the question mark
 */
export function parseTorznabQuery(rawQuery: string, options: ParseOptions): TorznabRequest {
  const parameters = readParameters(rawQuery)
  const name = parameters.text('t')?.toLowerCase()
  const known = TORZNAB_FUNCTIONS.find((candidate) => candidate === name)
  const common = {
    format: formatOf(parameters),
    apiKey: keyOf(parameters),
    function: known,
  }
  const refused = (error: TorznabError): TorznabRequest => ({ ...common, ok: false, error })

  if (name === undefined) return refused(torznabError('missingParameter', 't'))
  if (known === undefined) return refused(torznabError('noSuchFunction'))
  if (known === 'caps') return { ...common, ok: true, query: { function: 'caps' } }
  if (common.apiKey === undefined) return refused(torznabError('missingParameter', 'apikey'))

  parameters.read('o', (format) => (/^(?:xml|json)$/i.test(format) ? format : undefined))
  const query = known === 'details' ? readDetails(parameters) : readSearch(known, parameters, options)
  const incorrect = parameters.incorrect()
  if (incorrect !== undefined) return refused(torznabError('incorrectParameter', incorrect))
  return query === undefined ? refused(torznabError('missingParameter', 'id')) : { ...common, ok: true, query }
}

/** The requested format of a query string. */
export function requestedFormat(rawQuery: string): Format {
  return formatOf(readParameters(rawQuery))
}

/** The key; empty if it consists of control characters, which makes it a wrong key and not a missing one. */
function keyOf(parameters: ParameterReader): string | undefined {
  const key = parameters.text('apikey') ?? parameters.text('passkey')
  return key ?? (parameters.isSent('apikey') || parameters.isSent('passkey') ? '' : undefined)
}

function formatOf(parameters: ParameterReader): Format {
  return parameters.text('o')?.toLowerCase() === 'json' ? 'json' : 'xml'
}

function readDetails(parameters: ParameterReader): TorznabQuery | undefined {
  const infoHash = parameters.read('id', (id) => (/^[0-9a-f]{40}$/i.test(id) ? id.toLowerCase() : undefined))
  return infoHash === undefined ? undefined : { function: 'details', infoHash }
}

function readSearch(name: SearchFunction, parameters: ParameterReader, options: ParseOptions): SearchQuery {
  const supported = new Set<string>(options.supported[name])
  const unsupported = SEARCH_PARAMETERS.filter(
    (parameter) => !supported.has(parameter) && parameters.text(parameter) !== undefined,
  )
  // Values of unsupported parameters are not checked.
  const ignored = new Set<string>(unsupported)
  const supportedOnly: ParameterReader = {
    ...parameters,
    text: (parameter) => (ignored.has(parameter) ? undefined : parameters.text(parameter)),
    read: (parameter, parse) => (ignored.has(parameter) ? undefined : parameters.read(parameter, parse)),
  }
  const categories = supportedOnly.read('cat', parseNumbers)
  return {
    function: name,
    q: supportedOnly.text('q'),
    categories: categories?.length === 0 ? undefined : categories,
    limit: Math.min(supportedOnly.read('limit', parseWhole) ?? options.limits.default, options.limits.max),
    offset: supportedOnly.read('offset', parseWhole) ?? 0,
    episode: readWantedEpisode(supportedOnly),
    ids: readAll(ID_PARAMETERS, (id) => supportedOnly.read(id, id === 'imdbid' ? parseImdbId : parseId)),
    year: supportedOnly.read('year', parseYear) ?? supportedOnly.read('imdbyear', parseYear),
    text: readAll(TEXT_PARAMETERS, (text) => supportedOnly.text(text)),
    tags: supportedOnly.read('tag', parseTags),
    maxAgeDays: boundOf(supportedOnly.read('maxage', parseWhole)),
    minSize: supportedOnly.read('minsize', parseWhole),
    maxSize: boundOf(supportedOnly.read('maxsize', parseWhole)),
    attrs: supportedOnly.read('extended', parseFlag) === true ? 'all' : supportedOnly.read('attrs', parseNames),
    unsupported,
  }
}

/** Zero days or bytes would exclude everything. Applications mean no limit. */
function boundOf(most: number | undefined): number | undefined {
  return most === 0 ? undefined : most
}

function readAll<Name extends string, Value>(
  names: readonly Name[],
  read: (name: Name) => Value | undefined,
): Partial<Record<Name, Value>> {
  const values: Partial<Record<Name, Value>> = {}
  for (const name of names) {
    const value = read(name)
    if (value !== undefined) values[name] = value
  }
  return values
}
