import type { Format } from '../format.ts'
import type { XmlText } from '../xml/escape-xml.ts'
import type { Feed, FeedItem } from './feed.ts'
import { feedJson, itemsJson } from './feed-json.ts'
import { feedXml, itemsXml } from './feed-xml.ts'

/** The items of a feed as they stand in it, which is nearly all of it. */
export type WrittenItems =
  | { readonly format: 'xml'; readonly text: XmlText }
  | { readonly format: 'json'; readonly text: string }

/**
 * Writes the items of a feed alone, so that an entity tag can be made of them and they need not be written twice.
 *
 * @throws RangeError as `writeFeed` does
 */
export function writeItems(items: readonly FeedItem[], format: Format = 'xml'): WrittenItems {
  return format === 'json' ? { format, text: itemsJson(items) } : { format, text: itemsXml(items) }
}

/**
 * A page of results (Torznab 1.3, "Search functions"; Newznab Web API, "SEARCH"). All extended attributes are in it,
 * whatever `attrs` and `extended` say, as the specification allows.
 *
 * @throws RangeError when a date is invalid or beyond the years 0 to 9999
 */
export function writeFeed(feed: Feed, format: Format = 'xml'): string {
  return withItems(feed, writeItems(feed.items, format))
}

/** As `writeFeed`, of items that are written already. */
export function withItems(feed: Omit<Feed, 'items'>, items: WrittenItems): string {
  return items.format === 'json' ? feedJson(feed, items.text) : feedXml(feed, items.text)
}
