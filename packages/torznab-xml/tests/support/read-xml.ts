import { spawnSync } from 'node:child_process'
import { Parser } from 'xml2js'

/** An element as every reader knows it. Namespace prefixes are as in our documents. */
export type Element = {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly text: string
  readonly children: readonly Element[]
}

type Xml2jsElement = {
  readonly '#name': string
  readonly $?: Readonly<Record<string, string>>
  readonly _?: string
  readonly $$?: readonly Xml2jsElement[]
}

/** Parses with xml2js, which cross-seed and rss-parser use. Throws if the document is not well-formed. */
export async function readWithXml2js(document: string): Promise<Element> {
  const parser = new Parser({ explicitRoot: false, explicitChildren: true, preserveChildrenOrder: true })
  return fromXml2js((await parser.parseStringPromise(document)) as Xml2jsElement)
}

function fromXml2js({ '#name': name, $ = {}, _ = '', $$ = [] }: Xml2jsElement): Element {
  const attributes = Object.entries($).filter(([attribute]) => !attribute.startsWith('xmlns'))
  return { name, attributes: Object.fromEntries(attributes), text: _, children: $$.map(fromXml2js) }
}

const SCRIPT = `
import json, sys
import xml.etree.ElementTree as etree
prefixes = {
    'http://torznab.com/schemas/2015/feed': 'torznab:',
    'http://www.newznab.com/DTD/2010/feeds/attributes/': 'newznab:',
    'http://www.w3.org/2005/Atom': 'atom:',
}
def plain(element):
    uri, brace, name = element.tag[1:].partition('}')
    return {
        'name': prefixes[uri] + name if brace else element.tag,
        'attributes': dict(element.attrib),
        'text': (element.text or '') + ''.join(child.tail or '' for child in element),
        'children': [plain(child) for child in element],
    }
documents = json.load(sys.stdin)
sys.stdout.write(json.dumps([plain(etree.fromstring(document.encode("utf-8"))) for document in documents]))
`

/** Parses with Python's xml.etree, which FlexGet uses: expat, a strict parser. Throws likewise. */
export function readWithPython(documents: readonly string[]): readonly Element[] {
  const python = spawnSync('python3', ['-c', SCRIPT], {
    input: JSON.stringify(documents),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (python.error) {
    throw new Error('These tests need python3 on PATH: its xml.etree is one of the readers. Install it.', {
      cause: python.error,
    })
  }
  if (python.status !== 0) throw new Error(`python3 could not read a document:\n${python.stderr}`)
  return JSON.parse(python.stdout) as Element[]
}

/** The children of a name. */
export function childrenNamed(element: Element | undefined, name: string): readonly Element[] {
  return element?.children.filter((child) => child.name === name) ?? []
}
