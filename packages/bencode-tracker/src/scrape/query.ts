import { brandInfoHash, type InfoHash, type Passkey, parsePasskey } from '../ids.ts'
import { asciiBytes, MAX_QUERY_LENGTH, percentTo20BytesHex, QueryCursor } from '../query.ts'

/** The parameters of one scrape (BEP 48). */
export type ScrapeRequest = {
  /**
   * At most 74 without duplicates, in the order of the query. None means a full scrape, which the caller may refuse.
   */
  readonly infoHashes: readonly InfoHash[]
  readonly passkey: Passkey | undefined
}

export type ScrapeFailure =
  | 'invalid_info_hash'
  | 'invalid_passkey'
  | 'repeated_parameter'
  | 'too_many_info_hashes'
  | 'query_too_long'
  | 'invalid_query'

/** The result of {@link parseScrapeQuery}: the request, or the name of the failure to reply with. */
export type ScrapeParse =
  | { readonly ok: true; readonly request: ScrapeRequest }
  | { readonly ok: false; readonly failure: ScrapeFailure }

/** The number of info hashes in a UDP scrape (BEP 15), which clients also use as the batch size over HTTP. */
export const MAX_SCRAPE_INFO_HASHES = 74
/** Twice the length of 74 fully escaped info hashes (71 characters each with their names). */
const MAX_SCRAPE_QUERY_LENGTH = MAX_QUERY_LENGTH

/**
 * Parses the raw query of a scrape (BEP 48): `info_hash` up to 74 times, and `passkey`. Other parameters are ignored. A
 * second `?` after the passkey separates like `&`.
 */
export function parseScrapeQuery(rawQuery: string): ScrapeParse {
  if (rawQuery.length > MAX_SCRAPE_QUERY_LENGTH) return failed('query_too_long')
  const bytes = asciiBytes(rawQuery)
  if (bytes === undefined) return failed('invalid_query')
  const infoHashes = new Set<InfoHash>()
  let given = 0
  let passkey: Passkey | undefined
  const cursor = new QueryCursor(rawQuery)
  while (cursor.next()) {
    if (cursor.isNamed('info_hash')) {
      given += 1
      if (given > MAX_SCRAPE_INFO_HASHES) return failed('too_many_info_hashes')
      const hex = percentTo20BytesHex(bytes, cursor.valueStart, cursor.valueEnd)
      if (hex === '') return failed('invalid_info_hash')
      infoHashes.add(brandInfoHash(hex))
    } else if (cursor.isNamed('passkey')) {
      if (passkey !== undefined) return failed('repeated_parameter')
      cursor.endValueAtQuestionMark()
      passkey = parsePasskey(rawQuery.slice(cursor.valueStart, cursor.valueEnd))
      if (passkey === undefined) return failed('invalid_passkey')
    }
  }
  return { ok: true, request: { infoHashes: [...infoHashes], passkey } }
}

function failed(failure: ScrapeFailure): ScrapeParse {
  return { ok: false, failure }
}
