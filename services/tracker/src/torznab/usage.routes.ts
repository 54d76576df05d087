import { z } from 'zod'
import { time } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import type { TorznabUsage } from './usage.ts'

const meter = z.object({
  used: z
    .int()
    .meta({ description: 'allowed requests in this window; above the limit only where that was lowered meanwhile' }),
  limit: z.int(),
})

const usage = z
  .object({
    enabled: z.boolean().meta({ description: 'false where the API is switched off for everybody' }),
    blocked: z.boolean().meta({ description: 'true where an administrator blocked you from the API' }),
    addressBlockedUntil: time.nullable().meta({ description: 'of the address that asks' }),
    windowSeconds: z.int(),
    resetsAt: time.meta({ description: 'the end of this window' }),
    searches: meter,
    downloads: meter,
  })
  .meta({ id: 'TorznabUsage' })

const endpoint = endpoints<{ torznabUsage: TorznabUsage }>()

/** What members see of their own use of the Torznab API. */
export const torznabUsageEndpoints = [
  endpoint({
    tag: 'accounts',
    access: 'member',
    limit: 'read',
    method: 'GET',
    path: '/api/user/torznab',
    operationId: 'getOwnTorznabUsage',
    summary: 'Your Torznab requests in the current window, and your limits; asking counts nothing',
    answer: usage,
    handle: async ({ caller }, { torznabUsage }) => {
      const { addressBlockedUntil, resetsAt, ...rest } = await torznabUsage.of(caller.session.account, caller.address)
      return {
        ...rest,
        addressBlockedUntil: addressBlockedUntil?.toISOString() ?? null,
        resetsAt: resetsAt.toISOString(),
      }
    },
  }),
]
