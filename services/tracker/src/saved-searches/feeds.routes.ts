import { FileAnswer } from '@vault-and-tracker/rest'
import { z } from 'zod'
import { time } from '../http/fields.ts'
import { torrentFileHeaders } from '../http/torrent-file-headers.ts'
import { endpoints } from '../surface.ts'
import type { Tokens } from '../tokens/tokens.ts'
import { FEED_TYPES, type FeedFormat, writeFeedDocument } from './feed-documents.ts'
import type { FeedReader, Feeds } from './feeds.ts'

const feedToken = z
  .object({
    id: z.string(),
    savedSearch: z.string().nullable().meta({ description: 'id' }),
    category: z.string().nullable().meta({ description: 'slug; null like `savedSearch` for the bookmarks' }),
    created: time,
    lastUsed: time.nullable().meta({ description: 'up to a minute late' }),
  })
  .meta({ id: 'FeedToken' })

const endpoint = endpoints<{
  feeds: Feeds
  tokens: Tokens
  feedUrl: (token: string, format: FeedFormat) => string
}>()
const own = { tag: 'saved searches', access: 'member' } as const
const url = z.string().meta({ description: 'contains the token, and is shown only once' })

const feed = {
  tag: 'feeds',
  access: 'feed',
  method: 'GET',
  limit: 'search',
  isConditional: true,
  errors: ['NOT_FOUND'],
  query: z.object({
    token: z
      .string()
      .optional()
      .meta({ description: 'token of this feed, or an API token; otherwise `Authorization` or the cookie counts' }),
    savedSearch: z.string().optional().meta({ description: 'id; with an API token or the cookie' }),
    category: z.string().optional().meta({ description: 'slug; with an API token or the cookie' }),
  }),
} as const

/** Feeds of saved searches, categories and bookmarks, and their addresses. */
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
    summary: 'Create the addresses of a feed of a saved search, a category or your bookmarks; at most 50',
    limit: 'write',
    body: z
      .object({ savedSearch: z.string().nullable(), category: z.string().nullable().default(null) })
      .refine((list) => list.savedSearch === null || list.category === null, 'must name one list'),
    status: 201,
    answer: feedToken.extend({ url, jsonUrl: url }),
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ body, caller }, { tokens, feedUrl }) => {
      const { text, ...created } = await tokens.create(caller.session.account.id, body)
      return { ...created, url: feedUrl(text, 'rss'), jsonUrl: feedUrl(text, 'json') }
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
    ...feed,
    path: '/api/feeds/rss',
    operationId: 'readFeed',
    summary: 'Read a feed as RSS: its newest 100 torrents',
    answerTypes: [FEED_TYPES.rss],
    handle: ({ caller }, { feeds }) => feedAnswer(feeds, caller, 'rss'),
  }),
  endpoint({
    ...feed,
    path: '/api/feeds/json',
    operationId: 'readJsonFeed',
    summary: 'Read a feed as JSON Feed 1.1: its newest 100 torrents',
    answerTypes: [FEED_TYPES.json],
    handle: ({ caller }, { feeds }) => feedAnswer(feeds, caller, 'json'),
  }),
  endpoint({
    tag: 'feeds',
    access: 'feed',
    method: 'GET',
    path: '/api/feeds/download',
    operationId: 'downloadFromFeed',
    summary: 'Download the .torrent file with the announce key of the token',
    limit: 'download',
    query: z.object({ id: z.string(), token: z.string().meta({ description: 'token of the link in a feed' }) }),
    answerTypes: ['application/x-bittorrent'],
    errors: ['NOT_FOUND'],
    handle: async ({ query, caller }, { feeds }) => {
      const { name, bytes } = await feeds.download(query.id, caller)
      return new FileAnswer(bytes, torrentFileHeaders(name))
    },
  }),
]

async function feedAnswer(feeds: Feeds, reader: FeedReader, format: FeedFormat): Promise<FileAnswer> {
  const { text, tag } = writeFeedDocument(await feeds.read(reader), format)
  return new FileAnswer(Buffer.from(text), {
    'Content-Type': `${FEED_TYPES[format]}; charset=utf-8`,
    'Cache-Control': 'private, no-cache',
    ETag: `W/"${tag}"`,
  })
}
