import { cleanText } from './xml/escape-xml.ts'

/** Attributes as the JSON of Newznab indexers has them: beside the children, every value a string. */
export function jsonAttributes(attributes: Readonly<Record<string, string | number | undefined>>) {
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) texts[name] = cleanText(String(value))
  }
  return { '@attributes': texts }
}
