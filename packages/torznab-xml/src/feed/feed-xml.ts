import { buildXml } from '../xml/build-xml.ts'
import { escapeXml, joinXml, type XmlText, xml } from '../xml/escape-xml.ts'
import { addAttributes } from './attributes.ts'
import { type Feed, type FeedItem, TORRENT_TYPE } from './feed.ts'
import { rfc822Date } from './rfc822-date.ts'

/** The URI from the specification, by which readers recognize the attributes. */
const TORZNAB_NAMESPACE = 'http://torznab.com/schemas/2015/feed'
const NEWZNAB_NAMESPACE = 'http://www.newznab.com/DTD/2010/feeds/attributes/'
const ATOM_NAMESPACE = 'http://www.w3.org/2005/Atom'

type Frame = Omit<Feed, 'items'>

/** RSS 2.0 with the elements and attributes of Newznab and Torznab: the parts before and after the items. */
export function feedFrameXml(feed: Frame): readonly [before: string, after: string] {
  const frame = frameXml(feed)
  const end = frame.lastIndexOf('</channel>')
  return [frame.slice(0, end), frame.slice(end)]
}

export function itemsXml(items: readonly FeedItem[]): XmlText {
  return joinXml(items.map(itemXml))
}

/** The document without its items, for which the builder would be several times slower. */
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

const TYPE = escapeXml(TORRENT_TYPE)

/** The guid has no attributes, because xml2js would turn it into an object. */
function itemXml(item: FeedItem): XmlText {
  const url = escapeXml(item.downloadUrl)
  const size = escapeXml(item.size)
  let categories = ''
  for (const id of item.categories) categories += `<category>${escapeXml(id)}</category>`
  let attributes = ''
  addAttributes(item, (name, value) => {
    attributes += `${attributeStart(name)}${escapeXml(value)}"/>`
  })
  // All values are escaped.
  return [
    `<item><title>${escapeXml(item.title)}</title><guid>${escapeXml(item.detailsUrl)}</guid><link>${url}</link>`,
    `<comments>${escapeXml(item.commentsUrl)}</comments><pubDate>${escapeXml(rfc822Date(item.publishedAt))}</pubDate>`,
    `<size>${size}</size><files>${escapeXml(item.files)}</files><grabs>${escapeXml(item.grabs)}</grabs>`,
    `<description>${escapeXml(item.description)}</description>${categories}`,
    `<enclosure url="${url}" length="${size}" type="${TYPE}"/>${attributes}</item>`,
  ].join('') as XmlText
}

/** Caches escaped names, which are few and occur in nearly every item. */
const starts = new Map<string, XmlText>()

function attributeStart(name: string): XmlText {
  const known = starts.get(name)
  if (known !== undefined) return known
  const start = joinXml([xml`<torznab:attr name="`, escapeXml(name), xml`" value="`])
  starts.set(name, start)
  return start
}
