import { type Passkey, parsePasskey } from '../ids.ts'
import { QueryCursor } from '../query.ts'

export type TrackerAction = 'announce' | 'scrape'

/**
 * A request target of the tracker. `rawQuery` follows the first `?`, not decoded. A malformed passkey, or different
 * passkeys in the path and in the query, make it a failure.
 */
export type TrackerTarget =
  | {
      readonly ok: true
      readonly action: TrackerAction
      readonly passkey: Passkey | undefined
      readonly rawQuery: string
    }
  | { readonly ok: false; readonly action: TrackerAction; readonly failure: 'invalid_passkey' }

const PASSKEY_LENGTH = 40
const SCHEME_AND_HOST = /^https?:\/\/[^/?#]*/i

/**
 * Recognises the request targets of announce and scrape (BEP 3, 48): `/announce`, `/announce/<passkey>`,
 * `/<passkey>/announce`, and the same with `scrape`. The passkey may also be the query parameter `passkey`. Scheme and
 * host may precede it (RFC 9112 section 3.2.2). Returns `undefined` for all other targets.
 */
export function parseTrackerTarget(target: string): TrackerTarget | undefined {
  return target.startsWith('/') ? parseOriginForm(target) : parseOriginForm(target.replace(SCHEME_AND_HOST, ''))
}

function parseOriginForm(target: string): TrackerTarget | undefined {
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  const rawQuery = mark === -1 ? '' : target.slice(mark + 1)
  if (path === '/announce') return withQueryPasskey('announce', rawQuery)
  if (path === '/scrape') return withQueryPasskey('scrape', rawQuery)
  if (path.startsWith('/announce/')) return withPathPasskey('announce', path.slice('/announce/'.length), rawQuery)
  if (path.startsWith('/scrape/')) return withPathPasskey('scrape', path.slice('/scrape/'.length), rawQuery)
  return passkeyFirst('announce', path, rawQuery) ?? passkeyFirst('scrape', path, rawQuery)
}

/** The passkey of a raw query: `undefined` if missing, `'invalid'` if it is not 40 hex digits. */
function passkeyFromQuery(rawQuery: string): Passkey | 'invalid' | undefined {
  if (!rawQuery.includes('passkey')) return undefined
  const cursor = new QueryCursor(rawQuery)
  while (cursor.next()) {
    if (!cursor.isNamed('passkey')) continue
    cursor.endValueAtQuestionMark()
    return parsePasskey(rawQuery.slice(cursor.valueStart, cursor.valueEnd)) ?? 'invalid'
  }
  return undefined
}

function withQueryPasskey(action: TrackerAction, rawQuery: string): TrackerTarget {
  const passkey = passkeyFromQuery(rawQuery)
  if (passkey === 'invalid') return { ok: false, action, failure: 'invalid_passkey' }
  return { ok: true, action, passkey, rawQuery }
}

function withPathPasskey(action: TrackerAction, segment: string, rawQuery: string): TrackerTarget {
  const passkey = parsePasskey(segment)
  const second = passkeyFromQuery(rawQuery)
  if (passkey === undefined || (second !== undefined && second !== passkey)) {
    return { ok: false, action, failure: 'invalid_passkey' }
  }
  return { ok: true, action, passkey, rawQuery }
}

/** `/<passkey>/announce`. Without 40 hex digits it is not a target of the tracker: `/api/announce` may be a page. */
function passkeyFirst(action: TrackerAction, path: string, rawQuery: string): TrackerTarget | undefined {
  if (path.length !== PASSKEY_LENGTH + action.length + 2 || !path.endsWith(action)) return undefined
  if (!path.startsWith('/') || path.charAt(PASSKEY_LENGTH + 1) !== '/') return undefined
  const segment = path.slice(1, PASSKEY_LENGTH + 1)
  return parsePasskey(segment) === undefined ? undefined : withPathPasskey(action, segment, rawQuery)
}
