import { spawnSync } from 'node:child_process'

const SCRIPT = `
import json, sys
import xml.etree.ElementTree as etree
TORZNAB = '{http://torznab.com/schemas/2015/feed}'
def plain(document):
    root = etree.fromstring(document.encode('utf-8'))
    return {
        'root': root.tag,
        'attributes': dict(root.attrib),
        'categories': [each.get('id') for each in root.iter('category') if each.get('id')],
        'items': [{
            'title': item.findtext('title'),
            'guid': item.findtext('guid'),
            'link': item.findtext('link'),
            'pubDate': item.findtext('pubDate'),
            'size': item.findtext('size'),
            'enclosure': dict(item.find('enclosure').attrib),
            'attributes': [[each.get('name'), each.get('value')] for each in item.iter(TORZNAB + 'attr')],
        } for item in root.iter('item')],
    }
sys.stdout.write(json.dumps([plain(document) for document in json.load(sys.stdin)]))
`

/** A document as Python's xml.etree reads it, a strict parser, which FlexGet uses. */
export type PythonDocument = {
  readonly root: string
  readonly attributes: Readonly<Record<string, string>>
  /** The ids of elements `category`, in caps. */
  readonly categories: readonly string[]
  readonly items: readonly {
    readonly title: string
    readonly guid: string
    readonly link: string
    readonly pubDate: string
    readonly size: string
    readonly enclosure: Readonly<Record<string, string>>
    readonly attributes: readonly (readonly [name: string, value: string])[]
  }[]
}

/** @throws when one of the documents is not well-formed */
export function readWithPython(documents: readonly string[]): readonly PythonDocument[] {
  const input = JSON.stringify(documents)
  const python = spawnSync('python3', ['-c', SCRIPT], { input, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (python.error)
    throw new Error('this test reads documents with xml.etree: install python3', { cause: python.error })
  if (python.status !== 0) throw new Error(`python3 could not read a document:\n${python.stderr}`)
  return JSON.parse(python.stdout) as PythonDocument[]
}
