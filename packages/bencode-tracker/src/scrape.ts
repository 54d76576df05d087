import { brandInfoHash, type InfoHash, type Passkey } from './brand.ts'
import { parsePasskey } from './passkey.ts'
import { percentTo20BytesHex } from './percent.ts'
import { nameEnd, passkeyEnd, valueEnd } from './query.ts'

/** The parameters of one scrape (BEP 48). */
export interface ScrapeRequest {
  /** At most 74, each once, in the order of the query; none asks for a full scrape, which is for the caller to judge. */
  readonly infoHashes: readonly InfoHash[]
  readonly passkey: Passkey | undefined
}

export type ScrapeFailure =
  | 'invalid_info_hash'
  | 'invalid_passkey'
  | 'repeated_parameter'
  | 'too_many_info_hashes'
  | 'query_too_long'

/** What {@link parseScrapeQuery} gives: the request, or the name of the failure to answer with. */
export type ScrapeParse =
  | { readonly ok: true; readonly request: ScrapeRequest }
  | { readonly ok: false; readonly failure: ScrapeFailure }

/** As many info hashes as fit into a UDP scrape (BEP 15), which is what clients batch by. */
export const MAX_SCRAPE_INFO_HASHES = 74
/** Room for 74 fully escaped info hashes (71 characters each with their names) and as much again. */
export const MAX_SCRAPE_QUERY_LENGTH = 10_240

/**
 * Reads the raw query of a scrape (BEP 48): `info_hash` up to 74 times, and `passkey`. Everything else is ignored; a
 * second `?` behind the passkey separates like `&`.
 */
export function parseScrapeQuery(rawQuery: string): ScrapeParse {
  if (rawQuery.length > MAX_SCRAPE_QUERY_LENGTH) return failed('query_too_long')
  const infoHashes = new Set<InfoHash>()
  let given = 0
  let passkey: Passkey | undefined
  let position = 0
  while (position < rawQuery.length) {
    const endOfName = nameEnd(rawQuery, position)
    let end = valueEnd(rawQuery, endOfName)
    const start = Math.min(endOfName + 1, end)
    if (isNamed('info_hash', rawQuery, position, endOfName)) {
      given += 1
      if (given > MAX_SCRAPE_INFO_HASHES) return failed('too_many_info_hashes')
      const hex = percentTo20BytesHex(rawQuery, start, end)
      if (hex === '') return failed('invalid_info_hash')
      infoHashes.add(brandInfoHash(hex))
    } else if (isNamed('passkey', rawQuery, position, endOfName)) {
      if (passkey !== undefined) return failed('repeated_parameter')
      end = passkeyEnd(rawQuery, start, end)
      passkey = parsePasskey(rawQuery.slice(start, end))
      if (passkey === undefined) return failed('invalid_passkey')
    }
    position = end + 1
  }
  return { ok: true, request: { infoHashes: [...infoHashes], passkey } }
}

function isNamed(name: string, query: string, start: number, end: number): boolean {
  return end - start === name.length && query.startsWith(name, start)
}

function failed(failure: ScrapeFailure): ScrapeParse {
  return { ok: false, failure }
}
