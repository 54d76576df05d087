import { jsonAttributes } from '../format.ts'
import { cleanText } from '../xml/escape-xml.ts'
import { addAttributes } from './attributes.ts'
import { type Feed, type FeedItem, TORRENT_TYPE } from './feed.ts'
import { rfc822Date } from './rfc822-date.ts'

/**
 * The frame of a feed as JSON for NZBHydra2 and Newznab indexers. All values are strings, and `item` and `attr` are
 * always lists. `category` is the item's own; the attributes contain all of them.
 */
export function feedFrameJson(feed: Omit<Feed, 'items'>): readonly [before: string, after: string] {
  const frame = JSON.stringify({
    ...jsonAttributes({ version: '2.0' }),
    channel: {
      title: cleanText(feed.title),
      description: cleanText(feed.description),
      link: cleanText(feed.siteUrl),
      language: 'en-us',
      response: jsonAttributes({ offset: feed.offset, total: feed.total }),
      ...(feed.limits && { apilimits: jsonAttributes(feed.limits) }),
      item: [],
    },
  })
  return [frame.slice(0, -'[]}}'.length), '}}']
}

export function itemsJson(items: readonly FeedItem[]): string {
  return JSON.stringify(items.map(jsonItem))
}

function jsonItem(item: FeedItem): object {
  const attributes: object[] = []
  addAttributes(item, (name, value) => attributes.push(jsonAttributes({ name, value })))
  return {
    title: cleanText(item.title),
    guid: cleanText(item.detailsUrl),
    link: cleanText(item.downloadUrl),
    comments: cleanText(item.commentsUrl),
    pubDate: rfc822Date(item.publishedAt),
    size: String(item.size),
    files: String(item.files),
    grabs: String(item.grabs),
    category: String(item.categories[0] ?? ''),
    description: cleanText(item.description),
    enclosure: jsonAttributes({ url: item.downloadUrl, length: item.size, type: TORRENT_TYPE }),
    attr: attributes,
  }
}
