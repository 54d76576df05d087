import { buildXml } from '../xml/build-xml.ts'
import { concatXml, escapeXml, type XmlText, xml } from '../xml/escape-xml.ts'
import { attributesOf } from './attributes.ts'
import { type Feed, type FeedItem, TORRENT_TYPE } from './feed.ts'
import { rfc822Date } from './rfc822-date.ts'

/** The URI that the specification fixes; readers know the attributes by it, not by the prefix. */
const TORZNAB_NAMESPACE = 'http://torznab.com/schemas/2015/feed'
const NEWZNAB_NAMESPACE = 'http://www.newznab.com/DTD/2010/feeds/attributes/'
const ATOM_NAMESPACE = 'http://www.w3.org/2005/Atom'

/** RSS 2.0 with the elements and attributes of Newznab and Torznab. */
export function feedXml(feed: Feed): string {
  const { limits } = feed
  return buildXml({
    rss: {
      '@version': escapeXml('2.0'),
      '@xmlns:atom': escapeXml(ATOM_NAMESPACE),
      '@xmlns:torznab': escapeXml(TORZNAB_NAMESPACE),
      '@xmlns:newznab': escapeXml(NEWZNAB_NAMESPACE),
      channel: {
        'atom:link': {
          '@href': escapeXml(feed.selfUrl),
          '@rel': escapeXml('self'),
          '@type': escapeXml('application/rss+xml'),
        },
        title: escapeXml(feed.title),
        description: escapeXml(feed.description),
        link: escapeXml(feed.siteUrl),
        language: escapeXml('en-us'),
        'newznab:response': { '@offset': escapeXml(feed.offset), '@total': escapeXml(feed.total) },
        'newznab:apilimits': limits && {
          '@apiCurrent': escapeXml(limits.apiCurrent),
          '@apiMax': escapeXml(limits.apiMax),
          '@grabCurrent': escapeXml(limits.grabCurrent),
          '@grabMax': escapeXml(limits.grabMax),
        },
        '#text': concatXml(feed.items.map(itemXml)),
      },
    },
  })
}

/**
 * One item. Written out because a feed is nearly all items, of some thirty elements each: the builder takes several
 * times as long over them.
 *
 * The guid has no attribute: xml2js, which cross-seed uses, makes an object of an element that has one.
 */
function itemXml(item: FeedItem): XmlText {
  const [link, size] = [escapeXml(item.downloadUrl), escapeXml(item.size)]
  return concatXml([
    xml`<item><title>${escapeXml(item.title)}</title>`,
    xml`<guid>${escapeXml(item.detailsUrl)}</guid>`,
    xml`<link>${link}</link>`,
    xml`<comments>${escapeXml(item.commentsUrl)}</comments>`,
    xml`<pubDate>${escapeXml(rfc822Date(item.publishedAt))}</pubDate>`,
    xml`<size>${size}</size>`,
    xml`<files>${escapeXml(item.files)}</files>`,
    xml`<grabs>${escapeXml(item.grabs)}</grabs>`,
    xml`<description>${escapeXml(item.description)}</description>`,
    ...item.categories.map((id) => xml`<category>${escapeXml(id)}</category>`),
    xml`<enclosure url="${link}" length="${size}" type="${escapeXml(TORRENT_TYPE)}"/>`,
    ...attributesOf(item).map(
      ([name, value]) => xml`<torznab:attr name="${escapeXml(name)}" value="${escapeXml(value)}"/>`,
    ),
    xml`</item>`,
  ])
}
