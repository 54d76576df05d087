import { z } from 'zod'
import { idParams, pageOf, pageQuery, text } from '../http/fields.ts'
import { version } from '../http/torrent-fields.ts'
import { TORRENT_STATES } from '../search/listed-torrent.ts'
import type { Search } from '../search/search.ts'
import { endpoints } from '../surface.ts'
import { listedTorrent, presentListed, presentTorrent, torrentAnswer, verdict } from './torrent-page.routes.ts'
import type { Torrents } from './torrents.ts'

const endpoint = endpoints<{ torrents: Torrents; search: Search }>()
const seen = version.optional().meta({ description: 'the version that you saw; CONFLICT if the torrent has changed' })
const moderator = { tag: 'moderation', access: 'moderator', limit: 'write' } as const

/** Moderation of uploaded torrents. */
export const moderationEndpoints = [
  endpoint({
    ...moderator,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/torrents',
    operationId: 'listTorrentsToModerate',
    summary: 'List the torrents in a state, oldest first',
    query: pageQuery.safeExtend({
      state: z.enum(TORRENT_STATES, `must be one of ${TORRENT_STATES.join(', ')}`).default('pending'),
    }),
    answer: pageOf(listedTorrent.extend({ verdict, version })),
    handle: async ({ query, caller }, { search }) => {
      const list = { ...query, sort: 'created', order: 'asc' } as const
      const viewer = caller.session.account
      const { items, ...rest } = await search.list(list, viewer.id)
      return {
        ...rest,
        items: items.map((torrent) => ({
          ...presentListed(torrent, viewer),
          ...{ verdict: torrent.verdict, version: torrent.version },
        })),
      }
    },
  }),
  endpoint({
    ...moderator,
    method: 'POST',
    path: '/api/admin/torrents/:id/approve',
    operationId: 'approveTorrent',
    summary: 'Approve a torrent',
    params: idParams,
    query: z.object({ version: seen }),
    answer: torrentAnswer,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ params, query, caller }, { torrents }) => {
      const { account } = caller.session
      const state = { state: 'approved', reason: null } as const
      return presentTorrent(await torrents.moderate(params.id, state, account, query.version), account)
    },
  }),
  endpoint({
    ...moderator,
    method: 'POST',
    path: '/api/admin/torrents/:id/reject',
    operationId: 'rejectTorrent',
    summary: 'Reject a torrent; its uploader can see the reason',
    params: idParams,
    query: z.object({ version: seen }),
    body: z.object({ reason: text({ min: 1, max: 500 }) }),
    answer: torrentAnswer,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ params, query, body, caller }, { torrents }) => {
      const { account } = caller.session
      const state = { state: 'rejected', reason: body.reason } as const
      return presentTorrent(await torrents.moderate(params.id, state, account, query.version), account)
    },
  }),
]
