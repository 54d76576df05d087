import { asciiBytes, QueryCursor } from '../query.ts'
import { identifyParameter, Parameter, readParameter } from './parameter.ts'
import { type AnnounceFailure, type AnnounceRequest, blankRequest } from './request.ts'

/** The result of {@link parseAnnounceQuery}: the request, or the name of the failure to reply with. */
export type AnnounceParse =
  | { readonly ok: true; readonly request: AnnounceRequest }
  | { readonly ok: false; readonly failure: AnnounceFailure }

/** Longest query of an announce, in characters; ordinary ones have about 350. */
const MAX_ANNOUNCE_QUERY_LENGTH = 4096

/**
 * Parses the raw query of an announce (BEP 3, 7, 21, 23): everything after the first `?`, not decoded. A missing
 * required parameter, or a repeated, malformed or over-long known one, is a failure. Unknown parameters are ignored.
 * There are two exceptions: a second `?` after the passkey separates like `&`, and the first of several `ip` counts,
 * because one client sends one per address family.
 */
export function parseAnnounceQuery(rawQuery: string): AnnounceParse {
  if (rawQuery.length > MAX_ANNOUNCE_QUERY_LENGTH) return failed('query_too_long')
  const bytes = asciiBytes(rawQuery)
  if (bytes === undefined) return failed('invalid_query')
  const request = blankRequest()
  const cursor = new QueryCursor(rawQuery)
  let seen = 0
  while (cursor.next()) {
    const parameter = identifyParameter(bytes, cursor.nameStart, cursor.nameEnd)
    if (parameter === Parameter.unknown) continue
    if (parameter === Parameter.passkey) cursor.endValueAtQuestionMark()
    const bit = 1 << parameter
    if ((seen & bit) === 0) {
      seen |= bit
      const failure = readParameter(request, parameter, rawQuery, bytes, cursor.valueStart, cursor.valueEnd)
      if (failure !== undefined) return failed(failure)
    } else if (parameter !== Parameter.ip) {
      return failed(parameter === Parameter.infoHash ? 'several_info_hashes' : 'repeated_parameter')
    }
  }
  return (seen & ALL_REQUIRED) === ALL_REQUIRED ? { ok: true, request } : failed(firstMissing(seen))
}

/** In the order in which a missing one is reported. */
const REQUIRED: readonly (readonly [Parameter, AnnounceFailure])[] = [
  [Parameter.infoHash, 'missing_info_hash'],
  [Parameter.peerId, 'missing_peer_id'],
  [Parameter.port, 'missing_port'],
  [Parameter.uploaded, 'missing_uploaded'],
  [Parameter.downloaded, 'missing_downloaded'],
]
const ALL_REQUIRED = REQUIRED.reduce((bits, [parameter]) => bits | (1 << parameter), 1 << Parameter.left)

function firstMissing(seen: number): AnnounceFailure {
  return REQUIRED.find(([parameter]) => (seen & (1 << parameter)) === 0)?.[1] ?? 'missing_left'
}

function failed(failure: AnnounceFailure): AnnounceParse {
  return { ok: false, failure }
}
