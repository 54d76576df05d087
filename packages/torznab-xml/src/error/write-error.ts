import type { Format } from '../format.ts'
import { jsonAttributes } from '../json.ts'
import { buildXml } from '../xml/build-xml.ts'
import { escapeXml } from '../xml/escape-xml.ts'
import type { TorznabError } from './torznab-error.ts'

/** Writes the body of an error (Newznab Web API, "Error code example"). */
export function writeError({ code, description }: TorznabError, format: Format = 'xml'): string {
  if (format === 'json') return JSON.stringify({ error: jsonAttributes({ code, description }) })
  return buildXml({ error: { '@code': escapeXml(code), '@description': escapeXml(description) } })
}
