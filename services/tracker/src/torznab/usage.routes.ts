import { z } from 'zod'
import { time } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import type { TorznabUsage } from './usage.ts'

const meter = z.object({
  used: z
    .int()
    .meta({ description: 'allowed requests in this window; exceeds the limit only after the limit was lowered' }),
  limit: z.int(),
})

const usage = z
  .object({
    enabled: z.boolean().meta({ description: 'false if the API is switched off for all users' }),
    blocked: z.boolean().meta({ description: 'true if an administrator blocked you from the API' }),
    addressBlockedUntil: time
      .nullable()
      .meta({ description: 'end of the block of your address; null if it is not blocked' }),
    windowSeconds: z.int(),
    resetsAt: time.meta({ description: 'end of the current window' }),
    searches: meter,
    downloads: meter,
  })
  .meta({ id: 'TorznabUsage' })

const endpoint = endpoints<{ torznabUsage: TorznabUsage }>()

/** Members' own use of the Torznab API. */
export const torznabUsageEndpoints = [
  endpoint({
    tag: 'accounts',
    access: 'member',
    limit: 'read',
    method: 'GET',
    path: '/api/user/torznab',
    operationId: 'getOwnTorznabUsage',
    summary: 'Get your Torznab requests in the current window, and your limits; this request does not count',
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
