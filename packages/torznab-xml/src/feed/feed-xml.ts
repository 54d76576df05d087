import { buildXml } from '../xml/build-xml.ts'
import { concatXml, escapeXml, type XmlText, xml } from '../xml/escape-xml.ts'
import { type Attribute, attributesOf } from './attributes.ts'
import { type Feed, type FeedItem, TORRENT_TYPE } from './feed.ts'
import { rfc822Date } from './rfc822-date.ts'

/** The URI that the specification fixes; readers know the attributes by it, not by the prefix. */
const TORZNAB_NAMESPACE = 'http://torznab.com/schemas/2015/feed'
const NEWZNAB_NAMESPACE = 'http://www.newznab.com/DTD/2010/feeds/attributes/'
const ATOM_NAMESPACE = 'http://www.w3.org/2005/Atom'

type Frame = Omit<Feed, 'items'>

/**
 * RSS 2.0 with the elements and attributes of Newznab and Torznab.
 *
 * @param items of `itemsXml`
 */
export function feedXml(feed: Frame, items: XmlText): string {
  const frame = frameXml(feed)
  const end = frame.lastIndexOf('</channel>')
  return `${frame.slice(0, end)}${items}${frame.slice(end)}`
}

/** The items, one after the other. */
export function itemsXml(items: readonly FeedItem[]): XmlText {
  return concatXml(items, itemXml)
}

/** The document without its items, which would take the builder several times as long: a feed is nearly all items. */
function frameXml({ title, description, siteUrl, selfUrl, offset, total, limits }: Frame): string {
  return buildXml({
    rss: {
      '@version': escapeXml('2.0'),
      '@xmlns:atom': escapeXml(ATOM_NAMESPACE),
      '@xmlns:torznab': escapeXml(TORZNAB_NAMESPACE),
      '@xmlns:newznab': escapeXml(NEWZNAB_NAMESPACE),
      channel: {
        'atom:link': {
          '@href': escapeXml(selfUrl),
          '@rel': escapeXml('self'),
          '@type': escapeXml('application/rss+xml'),
        },
        title: escapeXml(title),
        description: escapeXml(description),
        link: escapeXml(siteUrl),
        language: escapeXml('en-us'),
        'newznab:response': { '@offset': escapeXml(offset), '@total': escapeXml(total) },
        'newznab:apilimits': limits && {
          '@apiCurrent': escapeXml(limits.apiCurrent),
          '@apiMax': escapeXml(limits.apiMax),
          '@grabCurrent': escapeXml(limits.grabCurrent),
          '@grabMax': escapeXml(limits.grabMax),
        },
      },
    },
  })
}

/** One item. The guid has no attribute: xml2js, which cross-seed uses, makes an object of an element that has one. */
function itemXml(item: FeedItem): XmlText {
  const [title, guid] = [escapeXml(item.title), escapeXml(item.detailsUrl)]
  const [link, comments] = [escapeXml(item.downloadUrl), escapeXml(item.commentsUrl)]
  const [size, files, grabs] = [escapeXml(item.size), escapeXml(item.files), escapeXml(item.grabs)]
  const date = escapeXml(rfc822Date(item.publishedAt))
  const names = xml`<title>${title}</title><guid>${guid}</guid><link>${link}</link><comments>${comments}</comments>`
  const facts = xml`<pubDate>${date}</pubDate><size>${size}</size><files>${files}</files><grabs>${grabs}</grabs>`
  const about = xml`<description>${escapeXml(item.description)}</description>${concatXml(item.categories, categoryXml)}`
  const file = xml`<enclosure url="${link}" length="${size}" type="${escapeXml(TORRENT_TYPE)}"/>`
  return xml`<item>${names}${facts}${about}${file}${concatXml(attributesOf(item), attributeXml)}</item>`
}

function categoryXml(id: number): XmlText {
  return xml`<category>${escapeXml(id)}</category>`
}

function attributeXml([name, value]: Attribute): XmlText {
  return xml`${attributeStart(name)}${escapeXml(value)}"/>`
}

/** The names are few, and each stands in nearly every item. */
const starts = new Map<string, XmlText>()

function attributeStart(name: string): XmlText {
  const known = starts.get(name)
  if (known !== undefined) return known
  const start = xml`<torznab:attr name="${escapeXml(name)}" value="`
  starts.set(name, start)
  return start
}
