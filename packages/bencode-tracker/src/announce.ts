import { identifyParameter, Parameter } from './announce-parameter.ts'
import { type AnnounceFailure, type AnnounceRequest, blankRequest } from './announce-request.ts'
import { readParameter } from './announce-value.ts'
import { nameEnd, passkeyEnd, valueEnd } from './query.ts'

/** What {@link parseAnnounceQuery} gives: the request, or the name of the failure to answer with. */
export type AnnounceParse =
  | { readonly ok: true; readonly request: AnnounceRequest }
  | { readonly ok: false; readonly failure: AnnounceFailure }

/** Longest query of an announce, in characters; ordinary ones have about 350. */
export const MAX_ANNOUNCE_QUERY_LENGTH = 4096

/**
 * Reads the raw query of an announce (BEP 3, 7, 21, 23), that is everything after the first `?`, not decoded.
 * One pass, in place. A required parameter that is missing, a known one that is repeated, malformed or over-long is a
 * failure; unknown ones are ignored. Two tolerances: a second `?` behind the passkey separates like `&`, and of several
 * `ip` the first counts, because one client sends one for each address family.
 */
export function parseAnnounceQuery(rawQuery: string): AnnounceParse {
  const { length } = rawQuery
  if (length > MAX_ANNOUNCE_QUERY_LENGTH) return failed('query_too_long')
  const request = blankRequest()
  let seen = 0
  let position = 0
  while (position < length) {
    const endOfName = nameEnd(rawQuery, position)
    let end = valueEnd(rawQuery, endOfName)
    const parameter = identifyParameter(rawQuery, position, endOfName)
    if (parameter !== Parameter.unknown) {
      // A known name without `=` has an empty value, and is judged by it.
      const start = Math.min(endOfName + 1, end)
      if (parameter === Parameter.passkey) end = passkeyEnd(rawQuery, start, end)
      if ((seen & parameter) === 0) {
        seen |= parameter
        const failure = readParameter(request, parameter, rawQuery, start, end)
        if (failure !== undefined) return failed(failure)
      } else if (parameter !== Parameter.ip) {
        return failed(parameter === Parameter.infoHash ? 'several_info_hashes' : 'repeated_parameter')
      }
    }
    position = end + 1
  }
  if ((seen & REQUIRED) !== REQUIRED) return failed(firstMissing(seen))
  return { ok: true, request }
}

const REQUIRED =
  Parameter.infoHash | Parameter.peerId | Parameter.port | Parameter.uploaded | Parameter.downloaded | Parameter.left

function firstMissing(seen: number): AnnounceFailure {
  if ((seen & Parameter.infoHash) === 0) return 'missing_info_hash'
  if ((seen & Parameter.peerId) === 0) return 'missing_peer_id'
  if ((seen & Parameter.port) === 0) return 'missing_port'
  if ((seen & Parameter.uploaded) === 0) return 'missing_uploaded'
  if ((seen & Parameter.downloaded) === 0) return 'missing_downloaded'
  return 'missing_left'
}

function failed(failure: AnnounceFailure): AnnounceParse {
  return { ok: false, failure }
}
