import { z } from 'zod'
import { time } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import type { TorznabUsage } from './usage.ts'

const meter = z.object({
  used: z
    .int()
    .meta({ description: 'allowed requests in this window; above the limit only if that was lowered meanwhile' }),
  limit: z.int(),
})

const usage = z
  .object({
    enabled: z.boolean().meta({ description: 'false if the API is switched off for all users' }),
    blocked: z.boolean().meta({ description: 'true if an administrator blocked you from the API' }),
    addressBlockedUntil: time.nullable().meta({ description: 'of the address of this request' }),
    windowSeconds: z.int(),
    resetsAt: time.meta({ description: 'the end of this window' }),
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
    summary: 'Your Torznab requests in the current window, and your limits; reading them counts nothing',
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
