import { createHash } from 'node:crypto'
import { type Feed, type FeedItem, TORRENT_TYPE, writeFeed } from '@vault-and-tracker/torznab-xml'
import { sizeText } from '../torrents/size-text.ts'

/** The formats of feeds, with their media types. */
export const FEED_TYPES = { rss: 'application/rss+xml', json: 'application/feed+json' } as const
export type FeedFormat = keyof typeof FEED_TYPES

/**
 * A feed for readers, and its entity tag without quotes. The tag changes only with the items, because the counts of peers
 * change all the time. The description of an item is its category, to which the texts of the entries add the rest.
 */
export function writeFeedDocument(feed: Feed, format: FeedFormat): { readonly text: string; readonly tag: string } {
  const write = (items: readonly FeedItem[]): string => {
    const described = items.map((item) => ({ ...item, description: summaryOf(item) }))
    return format === 'rss' ? writeFeed({ ...feed, items: described }) : writeJsonFeed({ ...feed, items: described })
  }
  const unchanging = feed.items.map((item) => ({ ...item, seeders: 0, leechers: 0, grabs: 0 }))
  return { text: write(feed.items), tag: createHash('sha256').update(write(unchanging)).digest('base64url') }
}

/** JSON Feed 1.1. It has no `feed_url`, because only the address with its token works. */
function writeJsonFeed({ title, description, siteUrl, items }: Feed): string {
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title,
    home_page_url: siteUrl,
    description,
    language: 'en',
    items: items.map((item) => ({
      id: item.detailsUrl,
      url: item.detailsUrl,
      title: item.title,
      content_text: item.description,
      date_published: item.publishedAt.toISOString(),
      authors: item.attributes?.poster === undefined ? undefined : [{ name: item.attributes.poster }],
      tags: item.attributes?.tags,
      attachments: [{ url: item.downloadUrl, mime_type: TORRENT_TYPE }],
    })),
  })
}

function summaryOf({ description, size, seeders, leechers }: FeedItem): string {
  return [description, sizeText(size, 1), counted(seeders, 'seeder'), counted(leechers, 'leecher')].join(', ')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
