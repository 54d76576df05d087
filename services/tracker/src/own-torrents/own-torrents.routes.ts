import { z } from 'zod'
import { pageOf, pageQuery, time } from '../http/fields.ts'
import { bytes, ownTransfer } from '../http/torrent-fields.ts'
import { endpoints } from '../surface.ts'
import { OWN_LISTS, OWN_SORTS, OWN_STATES, type OwnTorrents } from './own-torrents.ts'

const ownTorrent = z
  .object({
    id: z.string(),
    name: z.string().meta({ description: 'info hash if the torrent is not yours and not approved' }),
    size: z.int(),
    state: z.enum(OWN_STATES),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'reason for the deletion, or for the rejection of your own torrent' }),
    downloadPercent: z.int(),
    uploadPercent: z.int(),
    created: time,
    seeders: z.int(),
    leechers: z.int(),
    snatches: z.int(),
    transfer: ownTransfer,
  })
  .meta({ id: 'OwnTorrent' })

const list = z.enum(OWN_LISTS, `must be one of ${OWN_LISTS.join(', ')}`)
const endpoint = endpoints<{ ownTorrents: OwnTorrents }>()
const read = { tag: 'accounts', method: 'GET', limit: 'read', access: 'member' } as const

/** The lists of a member's torrents. */
export const ownTorrentEndpoints = [
  endpoint({
    ...read,
    path: '/api/user/torrents',
    operationId: 'listOwnTorrents',
    summary:
      'List the torrents that you uploaded, seed, leech, snatched, or still have to seed (`duties`, unseeded first)',
    query: pageQuery.safeExtend({
      list,
      sort: z.enum(OWN_SORTS, `must be one of ${OWN_SORTS.join(', ')}`).optional(),
      order: z.enum(['asc', 'desc'], 'must be asc or desc').default('desc'),
    }),
    answer: pageOf(ownTorrent),
    handle: ({ query, caller }, { ownTorrents }) => ownTorrents.list(caller.session.account.id, query),
  }),
  endpoint({
    ...read,
    path: '/api/user/torrents/totals',
    operationId: 'getOwnTorrentTotals',
    summary: 'Get the totals of such a list, up to its newest 5,000 torrents',
    query: z.object({ list }),
    answer: z.object({
      total: z.int(),
      totalIsExact: z.boolean(),
      size: z.int(),
      uploaded: bytes,
      downloaded: bytes,
      requiredSeconds: z
        .int()
        .meta({ description: 'required seeding time, unless the ratio of the torrent reaches 1; 0 for none' }),
    }),
    handle: ({ query, caller }, { ownTorrents }) => ownTorrents.totals(caller.session.account.id, query.list),
  }),
]
