declare const escaped: unique symbol

/** Text that is safe in an XML document between tags and in double quotes. Only `escapeXml` creates it. */
export type XmlText = string & { readonly [escaped]: true }

/**
 * Characters that XML 1.0 (section 2.2) forbids or discourages: control characters except tab, line feed and carriage
 * return, the byte order mark and non-characters. Strict readers refuse the whole document because of one of them.
 */
const REMOVED = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\uFEFF\uFFFE\uFFFF]/g
/** In Unicode mode this matches only surrogates without their partner. */
const LONE_SURROGATES = /\p{Surrogate}/gu
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // Without references, readers replace these with spaces in attributes, and CR with LF everywhere.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}
/** Whether a string needs escaping. Most strings of a feed do not. */
const NOT_PLAIN = /[\0-\x1F&<>"\x7F-\x9F\uD800-\uDFFF\uFEFF\uFFFE\uFFFF]/

/**
 * Cleans text for XML and JSON documents. Control characters and non-characters are removed, as in Jackett and
 * Prowlarr: applications compare titles, which never contain them. Lone surrogates become U+FFFD, as in UTF-8 encoders,
 * before the removal, which could otherwise join two of them.
 */
export function cleanText(text: string): string {
  return NOT_PLAIN.test(text) ? text.replace(LONE_SURROGATES, '\u{FFFD}').replace(REMOVED, '') : text
}

/** Cleans and escapes text for character data and attribute values of XML 1.0 (sections 2.4 and 3.3.3). */
export function escapeXml(value: string | number): XmlText {
  const text = String(value)
  const isPlain = typeof value === 'number' || !NOT_PLAIN.test(text)
  return (isPlain ? text : cleanText(text).replace(/[&<>"\t\n\r]/g, (found) => ENTITIES[found] ?? '')) as XmlText
}

/** A literal piece of a document. */
export function xml(strings: TemplateStringsArray): XmlText {
  return (strings[0] ?? '') as XmlText
}

/** Concatenates pieces. */
export function joinXml(pieces: readonly XmlText[]): XmlText {
  return pieces.join('') as XmlText
}
