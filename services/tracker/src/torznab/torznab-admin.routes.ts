import { z } from 'zod'
import {
  isTimeRange,
  namedUser,
  noTimeRange,
  pageOf,
  pageQuery,
  queryFlag,
  text,
  time,
  timeRange,
} from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import type { TorznabBlocks } from './blocks.ts'
import type { RequestLists } from './request-lists.ts'

const request = z
  .object({
    id: z.string(),
    at: time,
    user: namedUser,
    function: z.string(),
    query: z.string(),
    results: z.int(),
    durationMs: z.number(),
    error: z.int().nullable().meta({ description: 'Torznab error code' }),
    client: z.string().meta({ description: 'name of the application, without its version' }),
  })
  .meta({ id: 'TorznabRequest' })

const address = z
  .object({
    hour: time.meta({ description: 'the start of the hour, ISO 8601, UTC' }),
    address: z.string().meta({
      description:
        'an IPv4 address, the /64 of an IPv6 address, or `others` for all addresses after the first 500 in an hour',
    }),
    requests: z.int(),
    wrongKeys: z.int(),
    overLimits: z.int().meta({ description: 'refused by a limit, or because the address is blocked' }),
  })
  .meta({ id: 'TorznabAddress' })

const usage = z
  .object({
    user: namedUser,
    requests: z.int(),
    downloads: z.int(),
    errors: z.int(),
    violations: z.int().meta({ description: 'requests refused by a limit' }),
    lastRequest: time.nullable(),
    blocked: z.boolean(),
  })
  .meta({ id: 'TorznabUser' })

const block = z
  .object({
    address: z.string().meta({ description: 'an IPv4 address, or the /64 of an IPv6 address' }),
    until: time,
    secondsLeft: z.int(),
    penaltySeconds: z.int().meta({ description: 'total duration of the block' }),
  })
  .meta({ id: 'TorznabBlock' })

const errorFilter = z
  .string()
  .regex(/^(?:true|false|\d{3})$/, 'must be true, false or the code of an error')
  .transform((value) => (value === 'true' ? true : value === 'false' ? false : Number(value)))

const endpoint = endpoints<{ torznabLists: RequestLists; torznabBlocks: TorznabBlocks }>()
const admin = { tag: 'torznab', access: 'admin', limit: 'read', method: 'GET' } as const

/** The use of the Torznab API, for administrators. */
export const torznabAdminEndpoints = [
  endpoint({
    ...admin,
    path: '/api/admin/torznab/requests',
    operationId: 'listTorznabRequests',
    summary:
      'List requests with a valid key and within the limits, newest first; `user` is an id or a name, `error` is true, false or a code',
    query: pageQuery
      .safeExtend({
        user: text({ min: 1, max: 64 }).optional(),
        function: text({ min: 1, max: 20 }).optional(),
        error: errorFilter.optional(),
        ...timeRange,
      })
      .refine(isTimeRange, noTimeRange),
    answer: pageOf(request),
    handle: async ({ query }, { torznabLists }) => {
      const { user, function: name, error, from, to, page, limit } = query
      const found = await torznabLists.requests({ user, function: name, error, from, to, page, limit })
      const items = found.items.map((each) => ({
        ...each,
        at: each.at.toISOString(),
        durationMs: Math.round(each.durationMs * 100) / 100,
      }))
      return { ...found, items, page, limit }
    },
  }),
  endpoint({
    ...admin,
    path: '/api/admin/torznab/addresses',
    operationId: 'listTorznabAddresses',
    summary: 'Count refused requests and requests without a valid key by hour and address, newest hour first',
    query: pageQuery,
    answer: pageOf(address),
    handle: async ({ query: { page, limit } }, { torznabLists }) => {
      const found = await torznabLists.addresses({ page, limit })
      return { ...found, items: found.items.map((each) => ({ ...each, hour: each.hour.toISOString() })), page, limit }
    },
  }),
  endpoint({
    ...admin,
    path: '/api/admin/torznab/users',
    operationId: 'listTorznabUsers',
    summary: 'List users of the Torznab API and users blocked from it, busiest first; `search` matches part of a name',
    query: pageQuery.safeExtend({
      search: text({ min: 0, max: 32 }).optional(),
      blocked: queryFlag.optional(),
    }),
    answer: pageOf(usage),
    handle: async ({ query: { page, limit, search, blocked } }, { torznabLists }) => {
      const found = await torznabLists.users({ page, limit, search, blocked })
      const items = found.items.map(({ lastAt, ...each }) => ({ ...each, lastRequest: lastAt?.toISOString() ?? null }))
      return { ...found, items, page, limit }
    },
  }),
  endpoint({
    ...admin,
    path: '/api/admin/torznab/blocks',
    operationId: 'listTorznabBlocks',
    summary: 'List the addresses blocked from the Torznab API, longest block first',
    answer: z.object({ items: z.array(block) }),
    handle: async (_input, { torznabBlocks }) => {
      const blocks = await torznabBlocks.list()
      return { items: blocks.map((each) => ({ ...each, until: each.until.toISOString() })) }
    },
  }),
  endpoint({
    ...admin,
    method: 'DELETE',
    limit: 'write',
    path: '/api/admin/torznab/blocks/:address',
    operationId: 'liftTorznabBlock',
    summary: 'Unblock an address, and reset the duration of its next block',
    params: z.object({ address: z.string() }),
    status: 204,
    errors: ['NOT_FOUND'],
    handle: ({ params, caller }, { torznabBlocks }) => torznabBlocks.lift(params.address, caller.session.account.id),
  }),
]
