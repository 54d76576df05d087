import XMLBuilder from 'fast-xml-builder'
import type { XmlText } from './escape-xml.ts'

/** A child of an element, or a list of children with one name. Undefined children are omitted. */
type XmlChild = XmlText | XmlElement | readonly XmlChild[] | undefined

/** An element: names beginning with `@` are its attributes, `#text` is its content, others are its children. */
export type XmlElement = { readonly [name: string]: XmlChild }

// XmlText is already escaped, because the builder's own escaping keeps control characters and lone surrogates. Without
// suppressBooleanAttributes, an attribute "true" would lose its value.
const builder = new XMLBuilder({
  attributeNamePrefix: '@',
  ignoreAttributes: false,
  processEntities: false,
  suppressBooleanAttributes: false,
  suppressEmptyNode: true,
})

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

/** Writes an XML 1.0 document for UTF-8. */
export function buildXml(root: XmlElement): string {
  return `${DECLARATION}${builder.build(root)}`
}
