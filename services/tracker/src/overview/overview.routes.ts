import { z } from 'zod'
import { endpoints } from '../surface.ts'
import type { Overview } from './overview.ts'

const perSecond = z.number().meta({ description: 'a second, over the last minute, of all processes' })

const overview = z
  .object({
    pending: z.int().meta({ description: 'torrents that wait for a moderator' }),
    torrents: z.int(),
    members: z.int(),
    activeMembers: z.int().meta({ description: 'announced or signed in within a day' }),
    blockedMembers: z.int().meta({ description: 'blocked from the Torznab API' }),
    blockedAddresses: z.int().meta({ description: 'blocked from the Torznab API now' }),
    swarms: z.int().meta({ description: 'torrents with a peer' }),
    seeders: z.int(),
    leechers: z.int(),
    announces: perSecond,
    refused: perSecond,
    torznab: z
      .object({ requests: z.int(), errors: z.int() })
      .meta({ description: 'in the current hour and the 23 before' }),
  })
  .meta({ id: 'Overview' })

const endpoint = endpoints<{ overview: Overview }>()

/** What staff look at first. */
export const overviewEndpoints = [
  endpoint({
    tag: 'site',
    access: 'moderator',
    limit: 'read',
    method: 'GET',
    path: '/api/admin/overview',
    operationId: 'getOverview',
    summary: 'One number of each part of the site',
    answer: overview,
    handle: (_input, { overview: found }) => found.read(),
  }),
]
