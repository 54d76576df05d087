import { cleanText } from './xml/escape-xml.ts'

/** Attributes in the JSON of Newznab indexers: next to the children, with strings as values. */
export function jsonAttributes(attributes: Readonly<Record<string, string | number | undefined>>) {
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) texts[name] = cleanText(String(value))
  }
  return { '@attributes': texts }
}
