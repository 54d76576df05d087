import { z } from 'zod'
import { endpoints } from '../surface.ts'
import type { Overview } from './overview.ts'

const perSecond = z.number().meta({ description: 'per second over the last minute, in all processes' })

const overview = z
  .object({
    pending: z.int().meta({ description: 'torrents waiting for a moderator' }),
    torrents: z.int(),
    members: z.int(),
    activeMembers: z.int().meta({ description: 'announced or signed in within a day' }),
    blockedMembers: z.int().meta({ description: 'blocked from the Torznab API' }),
    blockedAddresses: z.int().meta({ description: 'currently blocked from the Torznab API' }),
    swarms: z.int().meta({ description: 'torrents with a peer' }),
    seeders: z.int(),
    leechers: z.int(),
    announces: perSecond,
    refused: perSecond,
    torznab: z
      .object({ requests: z.int(), errors: z.int() })
      .meta({ description: 'in the current hour and the previous 23' }),
  })
  .meta({ id: 'Overview' })

const endpoint = endpoints<{ overview: Overview }>()

/** The overview for staff. */
export const overviewEndpoints = [
  endpoint({
    tag: 'site',
    access: 'moderator',
    limit: 'read',
    method: 'GET',
    path: '/api/admin/overview',
    operationId: 'getOverview',
    summary: 'Get key figures of the site',
    answer: overview,
    handle: (_input, { overview: found }) => found.read(),
  }),
]
