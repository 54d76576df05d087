import { Parser } from 'xml2js'
import type { Element } from './element.ts'

/** Characters that the XML parser used here accepts and those of other languages refuse (XML 1.0, section 2.2). */
const ILLEGAL = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]|&#(?:0|x0);/u

type Attribute = { readonly value: string; readonly prefix: string }
type Raw = {
  readonly '#name': string
  readonly $?: Readonly<Record<string, Attribute>>
  readonly $ns?: { readonly local: string; readonly uri: string }
  readonly _?: string
  readonly $$?: readonly Raw[]
}

/** Reads a document as strictly as .NET, Go and Python do. Throws when it is not well-formed. */
export async function readXml(document: string): Promise<Element> {
  if (ILLEGAL.test(document)) throw new Error('a character that XML does not allow')
  const parser = new Parser({ xmlns: true, explicitRoot: false, explicitChildren: true, preserveChildrenOrder: true })
  return toElement((await parser.parseStringPromise(document)) as Raw)
}

function toElement({ '#name': name, $ = {}, $ns, _ = '', $$ = [] }: Raw): Element {
  return {
    name: $ns === undefined || $ns.uri === '' ? name : `{${$ns.uri}}${$ns.local}`,
    attributes: Object.fromEntries(Object.entries($).map(([attribute, { value }]) => [attribute, value])),
    text: _,
    children: $$.map(toElement),
  }
}
