import XMLBuilder from 'fast-xml-builder'
import type { XmlText } from './escape-xml.ts'

/** A child of an element; several of one name are a list. An undefined one is left out. */
type XmlChild = XmlText | XmlElement | readonly XmlChild[] | undefined

/** An element: names beginning with `@` are its attributes, `#text` is its content, others are its children. */
export type XmlElement = { readonly [name: string]: XmlChild }

// The builder's own escaping leaves control characters and lone surrogates in, so ours, which XmlText vouches for,
// takes its place. Without suppressBooleanAttributes, an attribute "true" would lose its value.
const builder = new XMLBuilder({
  attributeNamePrefix: '@',
  ignoreAttributes: false,
  processEntities: false,
  suppressBooleanAttributes: false,
  suppressEmptyNode: true,
})

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

/** A document of XML 1.0, to be sent as UTF-8. */
export function buildXml(root: XmlElement): string {
  return `${DECLARATION}${builder.build(root)}`
}
