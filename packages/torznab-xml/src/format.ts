/** The format of a response: XML, or JSON with `o=json` (Newznab Web API, parameter `o`). */
export type Format = 'xml' | 'json'

/** The media type of a document. Applications accept these without content negotiation. */
export function contentType(format: Format, document: 'caps' | 'feed' | 'error'): string {
  if (format === 'json') return 'application/json; charset=utf-8'
  return document === 'feed' ? 'application/rss+xml; charset=utf-8' : 'application/xml; charset=utf-8'
}
