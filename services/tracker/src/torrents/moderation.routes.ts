import { z } from 'zod'
import { type BoundEndpoint, bind, defineEndpoint, plain } from '../rest/endpoint.routes.ts'
import { idParams, pageOf, pageQuery, text } from '../rest/fields.routes.ts'
import { listedTorrent, presentTorrent, torrentAnswer } from './torrent-api.routes.ts'
import { TORRENT_STATES, type Torrents } from './torrents.ts'

const moderator = { ...plain, access: 'moderator', limit: 'write', status: 200 } as const

/** What moderators do with what was uploaded. */
export const moderationApi = {
  listTorrents: defineEndpoint({
    ...moderator,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/torrents',
    summary: 'Torrents of a state, the oldest first',
    query: z.object({
      ...pageQuery,
      state: z.enum(TORRENT_STATES, `must be one of ${TORRENT_STATES.join(', ')}`).default('pending'),
    }),
    answer: pageOf(listedTorrent),
  }),
  approve: defineEndpoint({
    ...moderator,
    method: 'POST',
    path: '/api/admin/torrents/:id/approve',
    summary: 'Approve a torrent',
    params: idParams,
    answer: torrentAnswer,
    errors: ['NOT_FOUND'],
  }),
  reject: defineEndpoint({
    ...moderator,
    method: 'POST',
    path: '/api/admin/torrents/:id/reject',
    summary: 'Reject a torrent; its uploader sees the reason',
    params: idParams,
    body: z.object({
      reason: text({ min: 1, max: 500 }),
    }),
    answer: torrentAnswer,
    errors: ['NOT_FOUND'],
  }),
}

/** The endpoints of moderation. */
export function moderationRoutes(deps: { torrents: Torrents }): readonly BoundEndpoint[] {
  const { torrents } = deps
  return [
    bind(moderationApi.listTorrents, async ({ query: { page, limit, state } }) => {
      const { items, total } = await torrents.list({
        page,
        limit,
        state,
        sort: 'created',
        order: 'asc',
        category: undefined,
        search: undefined,
      })
      return { items: items.map((torrent) => presentTorrent(torrent)), page, limit, total }
    }),
    bind(moderationApi.approve, async ({ params }) =>
      presentTorrent(await torrents.moderate(params.id, 'approved', null)),
    ),
    bind(moderationApi.reject, async ({ params, body }) =>
      presentTorrent(await torrents.moderate(params.id, 'rejected', body.reason)),
    ),
  ]
}
