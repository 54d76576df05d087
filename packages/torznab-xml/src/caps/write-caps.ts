import { type Format, jsonAttributes } from '../format.ts'
import { buildXml, type XmlElement } from '../xml/build-xml.ts'
import { escapeXml } from '../xml/escape-xml.ts'
import { type Caps, SEARCH_ELEMENTS, searchAttributes, TORZNAB_VERSION, yesOrNo } from './caps.ts'

/** The tree that caps has in XML and in JSON. */
type Node = {
  readonly attributes?: Readonly<Record<string, string | number | undefined>>
  readonly children?: Children
}
type Children = Readonly<Record<string, Node | readonly Node[]>>

/** Writes the response to `t=caps` (Torznab 1.3, "Caps Format"; as JSON in the form that NZBHydra2 reads). */
export function writeCaps(caps: Caps, format: Format = 'xml'): string {
  const root = { children: childrenOf(caps) }
  return format === 'json' ? JSON.stringify(toJson(root)) : buildXml({ caps: toXml(root) })
}

function childrenOf({ server, limits, registration, supported, categories, tags }: Caps): Children {
  const { title, strapline, email, url, image } = server
  return {
    server: { attributes: { version: TORZNAB_VERSION, title, strapline, email, url, image } },
    limits: { attributes: { default: limits.default, max: limits.max } },
    registration: {
      attributes: { available: yesOrNo(registration.available), open: yesOrNo(registration.open) },
    },
    searching: {
      children: Object.fromEntries(
        SEARCH_ELEMENTS.map(([element, name]) => [element, { attributes: searchAttributes(supported, name) }]),
      ),
    },
    categories: {
      children: {
        category: categories.map(({ id, name, subcategories }) => ({
          attributes: { id, name },
          children: { subcat: subcategories.map((sub) => ({ attributes: { id: sub.id, name: sub.name } })) },
        })),
      },
    },
    tags: {
      children: { tag: tags.map(({ name, description }) => ({ attributes: { name, description } })) },
    },
  }
}

function isList(nodes: Node | readonly Node[]): nodes is readonly Node[] {
  return Array.isArray(nodes)
}

function toXml({ attributes = {}, children = {} }: Node): XmlElement {
  return {
    ...mapValues(attributes, (value) => (value === undefined ? undefined : escapeXml(value)), '@'),
    ...mapValues(children, (nodes) => (isList(nodes) ? nodes.map(toXml) : toXml(nodes))),
  }
}

function toJson({ attributes, children = {} }: Node): object {
  return {
    ...(attributes && jsonAttributes(attributes)),
    ...mapValues(children, (nodes) => (isList(nodes) ? nodes.map(toJson) : toJson(nodes))),
  }
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, map: (value: From) => To, prefix = '') {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [`${prefix}${name}`, map(value)]))
}
