import type { Format } from '../format.ts'
import type { Feed, FeedItem } from './feed.ts'
import { feedFrameJson, itemsJson } from './feed-json.ts'
import { feedFrameXml, itemsXml } from './feed-xml.ts'

/**
 * Writes only the items of a feed, so that their entity tag can be computed without writing them twice.
 *
 * @throws RangeError as `writeFeed` does
 */
export function writeItems(items: readonly FeedItem[], format: Format = 'xml'): string {
  return format === 'json' ? itemsJson(items) : itemsXml(items)
}

/** The parts of a feed before and after the items. */
export function writeFrame(
  feed: Omit<Feed, 'items'>,
  format: Format = 'xml',
): readonly [before: string, after: string] {
  return format === 'json' ? feedFrameJson(feed) : feedFrameXml(feed)
}

/**
 * Writes a page of results (Torznab 1.3, "Search functions"; Newznab Web API, "SEARCH"). It contains all extended
 * attributes regardless of `attrs` and `extended`, as the specification allows.
 *
 * @throws RangeError if a date is invalid or outside the years 0–9999
 */
export function writeFeed(feed: Feed, format: Format = 'xml'): string {
  const [before, after] = writeFrame(feed, format)
  return `${before}${writeItems(feed.items, format)}${after}`
}
