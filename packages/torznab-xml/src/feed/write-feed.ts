import type { Format } from '../format.ts'
import type { Feed, FeedItem } from './feed.ts'
import { feedFrameJson, itemsJson } from './feed-json.ts'
import { feedFrameXml, itemsXml } from './feed-xml.ts'

/**
 * Writes the items of a feed alone, which are nearly all of it, so that an entity tag can be made of them and they need
 * not be written twice.
 *
 * @throws RangeError as `writeFeed` does
 */
export function writeItems(items: readonly FeedItem[], format: Format = 'xml'): string {
  return format === 'json' ? itemsJson(items) : itemsXml(items)
}

/** What stands before and after the items of a feed. */
export function writeFrame(
  feed: Omit<Feed, 'items'>,
  format: Format = 'xml',
): readonly [before: string, after: string] {
  return format === 'json' ? feedFrameJson(feed) : feedFrameXml(feed)
}

/**
 * A page of results (Torznab 1.3, "Search functions"; Newznab Web API, "SEARCH"). All extended attributes are in it,
 * whatever `attrs` and `extended` say, as the specification allows.
 *
 * @throws RangeError when a date is invalid or beyond the years 0 to 9999
 */
export function writeFeed(feed: Feed, format: Format = 'xml'): string {
  const [before, after] = writeFrame(feed, format)
  return `${before}${writeItems(feed.items, format)}${after}`
}
