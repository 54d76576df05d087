import type { Format } from '../format.ts'
import type { Feed } from './feed.ts'
import { feedJson } from './feed-json.ts'
import { feedXml } from './feed-xml.ts'

/**
 * A page of results (Torznab 1.3, "Search functions"; Newznab Web API, "SEARCH"). All extended attributes are in it,
 * whatever `attrs` and `extended` say, as the specification allows.
 *
 * @throws RangeError when a date is invalid or beyond the years 0 to 9999
 */
export function writeFeed(feed: Feed, format: Format = 'xml'): string {
  return format === 'json' ? feedJson(feed) : feedXml(feed)
}
