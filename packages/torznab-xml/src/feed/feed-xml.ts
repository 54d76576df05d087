import { buildXml } from '../xml/build-xml.ts'
import { escapeXml, joinXml, type XmlText, xml } from '../xml/escape-xml.ts'
import { attributesOf } from './attributes.ts'
import { type Feed, type FeedItem, TORRENT_TYPE } from './feed.ts'
import { rfc822Date } from './rfc822-date.ts'

/** The URI that the specification fixes; readers know the attributes by it, not by the prefix. */
const TORZNAB_NAMESPACE = 'http://torznab.com/schemas/2015/feed'
const NEWZNAB_NAMESPACE = 'http://www.newznab.com/DTD/2010/feeds/attributes/'
const ATOM_NAMESPACE = 'http://www.w3.org/2005/Atom'

type Frame = Omit<Feed, 'items'>

/** RSS 2.0 with the elements and attributes of Newznab and Torznab, up to its items, and what follows them. */
export function feedFrameXml(feed: Frame): readonly [before: string, after: string] {
  const frame = frameXml(feed)
  const end = frame.lastIndexOf('</channel>')
  return [frame.slice(0, end), frame.slice(end)]
}

/** The items, one after the other. */
export function itemsXml(items: readonly FeedItem[]): XmlText {
  const pieces: XmlText[] = []
  for (const item of items) writeItem(pieces, item)
  return joinXml(pieces)
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

/** What stands between the values of an item. The guid has no attribute: xml2js makes an object of an element with one. */
const BETWEEN = {
  title: xml`<item><title>`,
  guid: xml`</title><guid>`,
  link: xml`</guid><link>`,
  comments: xml`</link><comments>`,
  pubDate: xml`</comments><pubDate>`,
  size: xml`</pubDate><size>`,
  files: xml`</size><files>`,
  grabs: xml`</files><grabs>`,
  description: xml`</grabs><description>`,
  afterDescription: xml`</description>`,
  category: xml`<category>`,
  afterCategory: xml`</category>`,
  enclosure: xml`<enclosure url="`,
  length: xml`" length="`,
  type: xml`" type="`,
  endOfTag: xml`"/>`,
  end: xml`</item>`,
} as const
const TYPE = escapeXml(TORRENT_TYPE)

/** Adds the pieces of an item. All are joined at once: a text put together bit by bit is copied again when it is sent. */
function writeItem(pieces: XmlText[], item: FeedItem): void {
  const { title, guid, link, comments, pubDate, files, grabs, description, endOfTag } = BETWEEN
  const url = escapeXml(item.downloadUrl)
  const size = escapeXml(item.size)
  pieces.push(title, escapeXml(item.title), guid, escapeXml(item.detailsUrl), link, url)
  pieces.push(comments, escapeXml(item.commentsUrl), pubDate, escapeXml(rfc822Date(item.publishedAt)))
  pieces.push(BETWEEN.size, size, files, escapeXml(item.files), grabs, escapeXml(item.grabs))
  pieces.push(description, escapeXml(item.description), BETWEEN.afterDescription)
  for (const id of item.categories) pieces.push(BETWEEN.category, escapeXml(id), BETWEEN.afterCategory)
  pieces.push(BETWEEN.enclosure, url, BETWEEN.length, size, BETWEEN.type, TYPE, endOfTag)
  for (const [name, value] of attributesOf(item)) pieces.push(attributeStart(name), escapeXml(value), endOfTag)
  pieces.push(BETWEEN.end)
}

/** The names are few, and each stands in nearly every item. */
const starts = new Map<string, XmlText>()

function attributeStart(name: string): XmlText {
  const known = starts.get(name)
  if (known !== undefined) return known
  const start = joinXml([xml`<torznab:attr name="`, escapeXml(name), xml`" value="`])
  starts.set(name, start)
  return start
}
