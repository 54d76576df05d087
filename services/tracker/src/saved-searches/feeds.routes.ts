import { createHash } from 'node:crypto'
import { FileAnswer } from '@vault-and-tracker/rest'
import { contentType, type Feed, writeFrame, writeItems } from '@vault-and-tracker/torznab-xml'
import { z } from 'zod'
import { time } from '../http/fields.ts'
import { torrentFileHeaders } from '../http/torrent-file-headers.ts'
import { endpoints } from '../surface.ts'
import type { Tokens } from '../tokens/tokens.ts'
import type { Feeds } from './feeds.ts'

const feedToken = z
  .object({
    id: z.string(),
    savedSearch: z.string().nullable().meta({ description: 'id; null for the bookmarks' }),
    created: time,
    lastUsed: time.nullable().meta({ description: 'up to a minute late' }),
  })
  .meta({ id: 'FeedToken' })

const endpoint = endpoints<{ feeds: Feeds; tokens: Tokens; feedUrl: (token: string) => string }>()
const own = { tag: 'saved searches', access: 'member' } as const
const token = z.string().meta({ description: 'of this feed, or an API token' })

/** Feeds of saved searches and bookmarks, and their addresses. */
export const feedEndpoints = [
  endpoint({
    ...own,
    method: 'GET',
    path: '/api/feed-tokens',
    operationId: 'listFeedTokens',
    summary: 'List the tokens of your feeds, newest first',
    limit: 'read',
    answer: z.object({ items: z.array(feedToken) }),
    handle: async ({ caller }, { tokens }) => ({ items: await tokens.listBy(caller.session.account.id) }),
  }),
  endpoint({
    ...own,
    method: 'POST',
    path: '/api/feed-tokens',
    operationId: 'createFeed',
    summary: 'Create an address for a feed of a saved search or of your bookmarks; at most 50',
    limit: 'write',
    body: z.object({ savedSearch: z.string().nullable() }),
    status: 201,
    answer: feedToken.extend({ url: z.string().meta({ description: 'contains the token, and is shown only once' }) }),
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ body, caller }, { tokens, feedUrl }) => {
      const { text, ...created } = await tokens.create(caller.session.account.id, body.savedSearch)
      return { ...created, url: feedUrl(text) }
    },
  }),
  endpoint({
    ...own,
    method: 'DELETE',
    path: '/api/feed-tokens/:id',
    operationId: 'revokeFeed',
    summary: 'Revoke the address of a feed',
    limit: 'write',
    params: z.object({ id: z.string() }),
    errors: ['NOT_FOUND'],
    handle: ({ params, caller }, { tokens }) => tokens.revoke(params.id, caller.session.account.id),
  }),
  endpoint({
    tag: 'feeds',
    access: 'feed',
    method: 'GET',
    path: '/api/feeds/rss',
    operationId: 'readFeed',
    summary: 'Read a feed as RSS: its newest 100 torrents',
    limit: 'search',
    query: z.object({
      token,
      savedSearch: z
        .string()
        .optional()
        .meta({ description: 'the list that an API token reads; the bookmarks without it' }),
    }),
    answerTypes: ['application/rss+xml'],
    isConditional: true,
    errors: ['NOT_FOUND'],
    handle: async ({ caller }, { feeds }) => feedAnswer(await feeds.read(caller)),
  }),
  endpoint({
    tag: 'feeds',
    access: 'feed',
    method: 'GET',
    path: '/api/feeds/download',
    operationId: 'downloadFromFeed',
    summary: 'Download the .torrent file with the passkey of the feed owner',
    limit: 'download',
    query: z.object({ id: z.string(), token }),
    answerTypes: ['application/x-bittorrent'],
    errors: ['NOT_FOUND'],
    handle: async ({ query, caller }, { feeds }) => {
      const { name, bytes } = await feeds.download(query.id, caller)
      return new FileAnswer(bytes, torrentFileHeaders(name))
    },
  }),
]

/** The document with a tag that changes only with its items, because the counts of peers change all the time. */
function feedAnswer(feed: Feed): FileAnswer {
  const [before, after] = writeFrame(feed, 'xml')
  const unchanging = feed.items.map((item) => ({ ...item, seeders: 0, leechers: 0, grabs: 0 }))
  const tag = createHash('sha256').update(before).update(writeItems(unchanging, 'xml')).digest('base64url')
  return new FileAnswer(Buffer.from(`${before}${writeItems(feed.items, 'xml')}${after}`), {
    'Content-Type': contentType('xml', 'feed'),
    'Cache-Control': 'private, no-cache',
    ETag: `W/"${tag}"`,
  })
}
