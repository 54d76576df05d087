import { z } from 'zod'
import { idParams, itemLimit, namedUser, time, torrentPageQuery } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { BUSY_SORTS, SWARM_RANGES, type SwarmStatistics } from './swarm-statistics.ts'
import type { TorrentPeers } from './torrent-peers.ts'

const perSecond = z.number().meta({ description: 'per second over the last minute, in all processes' })
const totals = z
  .object({
    swarms: z.int().meta({ description: 'torrents with a peer' }),
    seeders: z.int(),
    leechers: z.int(),
    announces: perSecond,
    refused: perSecond,
  })
  .meta({ id: 'SwarmTotals' })

const average = z.number().nullable().meta({ description: 'null if no sample was taken' })
const history = z
  .object({
    stepSeconds: z.int(),
    items: z.array(
      z.object({
        start: time,
        seeders: z.int().nullable(),
        leechers: z.int().nullable(),
        announces: average,
        refused: average,
      }),
    ),
  })
  .meta({ id: 'SwarmHistory' })

const busyTorrent = z
  .object({
    id: z.string(),
    name: z.string(),
    size: z.int(),
    seeders: z.int(),
    leechers: z.int(),
    lastSeen: time.nullable().meta({ description: 'last accounted announce' }),
  })
  .meta({ id: 'BusyTorrent' })

const peer = z
  .object({
    user: namedUser.nullable().meta({ description: 'null for a few seconds after the first announce' }),
    client: z.string(),
    state: z.enum(['seeder', 'leecher', 'paused']),
    addresses: z.array(z.string()).nullable().meta({ description: 'with ports; null for moderators' }),
    uploaded: z.int().meta({ description: 'bytes, as reported by the client' }),
    downloaded: z.int(),
    left: z.int().nullable().meta({ description: "bytes; of the user's client that announced last" }),
    lastAnnounce: time,
  })
  .meta({ id: 'Peer' })

const endpoint = endpoints<{ swarmStatistics: SwarmStatistics; torrentPeers: TorrentPeers }>()
const staff = { tag: 'swarms', access: 'moderator', limit: 'read', method: 'GET' } as const

/** Swarm statistics for staff. */
export const swarmStatisticsEndpoints = [
  endpoint({
    ...staff,
    path: '/api/admin/swarms',
    operationId: 'getSwarmTotals',
    summary: 'Get the current totals of all swarms',
    answer: totals,
    handle: (_input, { swarmStatistics }) => swarmStatistics.now(),
  }),
  endpoint({
    ...staff,
    path: '/api/admin/swarms/history',
    operationId: 'getSwarmHistory',
    summary: 'Get seeders, leechers and announces per second over time, averaged by step',
    query: z.object({ range: z.enum(SWARM_RANGES, `must be one of ${SWARM_RANGES.join(', ')}`).default('24h') }),
    answer: history,
    handle: ({ query }, { swarmStatistics }) => swarmStatistics.history(query.range),
  }),
  endpoint({
    ...staff,
    path: '/api/admin/swarms/busiest',
    operationId: 'listBusiestTorrents',
    summary: 'List the torrents with the most peers',
    query: z.object({
      sort: z.enum(BUSY_SORTS, `must be one of ${BUSY_SORTS.join(', ')}`).default('peers'),
      limit: itemLimit,
    }),
    answer: z.object({ items: z.array(busyTorrent) }),
    handle: async ({ query }, { swarmStatistics }) => ({
      items: await swarmStatistics.busiest(query.sort, query.limit),
    }),
  }),
  endpoint({
    ...staff,
    path: '/api/admin/swarms/:id/peers',
    operationId: 'listTorrentPeers',
    summary: 'List the peers of a torrent, seeders first; addresses for administrators only',
    params: idParams,
    query: torrentPageQuery,
    answer: z.object({
      torrent: z.object({ id: z.string(), name: z.string(), size: z.int() }),
      seeders: z.int(),
      leechers: z.int(),
      items: z.array(peer),
      page: z.int(),
      limit: z.int(),
      total: z.int().meta({ description: 'on all pages; may include a few expired peers' }),
    }),
    errors: ['NOT_FOUND'],
    handle: async ({ params, query: { page, limit }, caller }, { torrentPeers }) => {
      const withAddresses = caller.session.account.role === 'admin'
      const { torrent, items, ...counts } = await torrentPeers.list(params.id, { page, limit, withAddresses })
      const { id, name, size } = torrent
      return { torrent: { id, name, size }, ...counts, items, page, limit }
    },
  }),
]
