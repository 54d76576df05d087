declare const escaped: unique symbol

/** Text that may stand in an XML document as it is, between tags or in double quotes. Only `escapeXml` makes it. */
export type XmlText = string & { readonly [escaped]: true }

/**
 * What XML 1.0 (section 2.2) forbids or discourages: control characters but tab, line feed and carriage return, the
 * byte order mark and the non-characters. One of them in one title makes strict readers refuse the whole document.
 */
const REMOVED = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\uFEFF\uFFFE\uFFFF]/g
/** In Unicode mode this matches only surrogates without their partner. */
const LONE_SURROGATES = /\p{Surrogate}/gu
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // As references, since readers turn the bare characters into spaces in attributes, and CR into LF everywhere.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}
/** Whether anything has to be done at all; for most strings of a feed nothing has. */
const NOT_PLAIN = /[\0-\x1F&<>"\x7F-\x9F\uD800-\uDFFF\uFEFF\uFFFE\uFFFF]/

/**
 * Text without what no document may hold. Control characters and non-characters are removed, as Jackett and Prowlarr
 * do: applications compare titles, and such a character is never a part of one. A lone surrogate is the rest of a
 * character that is lost, and becomes U+FFFD, as UTF-8 encoders make it, before removing what is between two of them
 * could join them. JSON documents get the same text.
 */
export function cleanText(text: string): string {
  return NOT_PLAIN.test(text) ? text.replace(LONE_SURROGATES, '\u{FFFD}').replace(REMOVED, '') : text
}

/** Any text as character data or attribute value of XML 1.0 (sections 2.4 and 3.3.3), after `cleanText`. */
export function escapeXml(value: string | number): XmlText {
  const text = String(value)
  const isPlain = typeof value === 'number' || !NOT_PLAIN.test(text)
  return (isPlain ? text : cleanText(text).replace(/[&<>"\t\n\r]/g, (found) => ENTITIES[found] ?? '')) as XmlText
}

/** A piece of a document as it is written in the source, without anything to fill in. */
export function xml(strings: TemplateStringsArray): XmlText {
  return (strings[0] ?? '') as XmlText
}

/** Pieces, one after the other. */
export function joinXml(pieces: readonly XmlText[]): XmlText {
  return pieces.join('') as XmlText
}
