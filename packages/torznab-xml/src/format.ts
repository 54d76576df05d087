import { cleanText } from './xml/escape-xml.ts'

/** The format of a response: XML, or JSON with `o=json` (Newznab Web API, parameter `o`). */
export type Format = 'xml' | 'json'

/** The media type of a document. Applications accept these without content negotiation. */
export function contentType(format: Format, document: 'caps' | 'feed' | 'error'): string {
  if (format === 'json') return 'application/json; charset=utf-8'
  return document === 'feed' ? 'application/rss+xml; charset=utf-8' : 'application/xml; charset=utf-8'
}

/** Attributes in the JSON of Newznab indexers: next to the children, with strings as values. */
export function jsonAttributes(attributes: Readonly<Record<string, string | number | undefined>>) {
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) texts[name] = cleanText(String(value))
  }
  return { '@attributes': texts }
}
