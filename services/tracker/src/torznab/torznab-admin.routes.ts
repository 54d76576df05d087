import { z } from 'zod'
import {
  addressFilter,
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
import type { RequestLists } from './request-lists.ts'
import { PRESET_NAMES, PRESETS, TORZNAB_BOUNDS, type TorznabConfiguration } from './settings.ts'
import { RANGES, STEPS, type TorznabStatistics } from './statistics.ts'
import type { TorznabUsage } from './usage.ts'

function bounded({ min, max }: { min: number; max: number }) {
  const message = `must be a whole number from ${String(min)} to ${String(max)}`
  return z.int(message).min(min, message).max(max, message)
}

const limits = {
  windowSeconds: bounded(TORZNAB_BOUNDS.windowSeconds),
  searchLimit: bounded(TORZNAB_BOUNDS.limit),
  downloadLimit: bounded(TORZNAB_BOUNDS.limit),
}
const settings = z.object({ enabled: z.boolean(), logging: z.boolean(), ...limits }).meta({ id: 'TorznabSettings' })
const presetName = z.enum(PRESET_NAMES, `must be one of ${PRESET_NAMES.join(', ')}`)
const preset = z.object({ preset: presetName, title: z.string(), ...limits }).meta({ id: 'TorznabPreset' })

const range = { from: time, to: time }
const sums = {
  requests: z.int(),
  errors: z.int(),
  averageMs: z.number().nullable().meta({ description: 'milliseconds; null without a request' }),
}
const totals = {
  ...sums,
  uniqueUsers: z.int().meta({
    description:
      'users whose first request came before the end and whose newest came after the start; exact if the range ends now',
  }),
}
const statistics = z
  .object({
    ...range,
    totals: z.object(totals).meta({ id: 'TorznabTotals' }),
    before: z
      .object({ ...range, ...totals })
      .nullable()
      .meta({ description: 'previous period of the same length; null if it has no data' }),
    requestsEver: z.int(),
    requestsLast24Hours: z.int().meta({ description: 'in the current hour and the previous 23' }),
    functions: z.array(z.object({ function: z.string(), ...sums })),
    clients: z.array(z.object({ client: z.string(), ...sums })),
    series: z.object({
      step: z.enum(STEPS).meta({ description: 'hour for up to 31 days, day for up to a year, otherwise month' }),
      items: z.array(z.object({ start: time, ...sums })),
    }),
  })
  .meta({ id: 'TorznabStatistics' })

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
    address: z
      .string()
      .nullable()
      .meta({ description: 'an IPv4 address, or the /64 of an IPv6 address; null if none was stored' }),
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

const endpoint = endpoints<{
  torznabConfiguration: TorznabConfiguration
  torznabStatistics: TorznabStatistics
  torznabLists: RequestLists
  torznabUsage: TorznabUsage
}>()
const admin = { tag: 'torznab', access: 'admin', limit: 'read', method: 'GET' } as const

/** The administration of the Torznab API. */
export const torznabAdminEndpoints = [
  endpoint({
    ...admin,
    path: '/api/admin/torznab/settings',
    operationId: 'getTorznabSettings',
    summary: 'Get the settings of the Torznab API: whether it and its log are on, and the limits for each user',
    answer: settings,
    handle: (_input, { torznabConfiguration }) => torznabConfiguration.read(),
  }),
  endpoint({
    ...admin,
    method: 'PATCH',
    limit: 'write',
    path: '/api/admin/torznab/settings',
    operationId: 'updateTorznabSettings',
    summary: 'Change the settings, on all replicas within a second; `preset` sets the limits that you omit',
    body: settings.partial().extend({ preset: presetName.optional() }),
    answer: settings,
    handle: ({ body, caller }, { torznabConfiguration }) =>
      torznabConfiguration.change(body, caller.session.account.id),
  }),
  endpoint({
    ...admin,
    path: '/api/admin/torznab/presets',
    operationId: 'listTorznabPresets',
    summary: 'List the presets of limits',
    answer: z.object({ items: z.array(preset) }),
    handle: () => {
      const items = PRESET_NAMES.map((name) => ({ preset: name, title: PRESETS[name].title, ...PRESETS[name].limits }))
      return Promise.resolve({ items })
    },
  }),
  endpoint({
    ...admin,
    path: '/api/admin/torznab/statistics',
    operationId: 'getTorznabStatistics',
    summary:
      'Get requests, users, errors and response times for a range of whole hours in UTC and the period before it',
    query: z
      .object({
        range: z.enum(RANGES, `must be one of ${RANGES.join(', ')}`).optional(),
        ...timeRange,
      })
      .refine(isTimeRange, noTimeRange),
    answer: statistics,
    handle: ({ query }, { torznabStatistics }) => torznabStatistics.read(query),
  }),
  endpoint({
    ...admin,
    path: '/api/admin/torznab/requests',
    operationId: 'listTorznabRequests',
    summary:
      'List requests with a valid key and within the limits, newest first; `user` is an id or a name, `error` is true, false or a code',
    query: pageQuery
      .safeExtend({
        user: text({ min: 1, max: 64 }).optional(),
        address: addressFilter.optional(),
        function: text({ min: 1, max: 20 }).optional(),
        error: errorFilter.optional(),
        ...timeRange,
      })
      .refine(isTimeRange, noTimeRange),
    answer: pageOf(request),
    handle: ({ query }, { torznabLists }) => torznabLists.requests(query),
  }),
  endpoint({
    ...admin,
    path: '/api/admin/torznab/addresses',
    operationId: 'listTorznabAddresses',
    summary: 'Count refused requests and requests without a valid key by hour and address, newest hour first',
    query: pageQuery,
    answer: pageOf(address),
    handle: ({ query }, { torznabLists }) => torznabLists.addresses(query),
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
    handle: ({ query }, { torznabLists }) => torznabLists.users(query),
  }),
  endpoint({
    ...admin,
    path: '/api/admin/torznab/blocks',
    operationId: 'listTorznabBlocks',
    summary: 'List the addresses blocked from the Torznab API, longest block first',
    answer: z.object({ items: z.array(block) }),
    handle: async (_input, { torznabUsage }) => ({ items: await torznabUsage.blocks() }),
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
    handle: ({ params, caller }, { torznabUsage }) => torznabUsage.unblock(params.address, caller.session.account.id),
  }),
]

const meter = z.object({
  used: z
    .int()
    .meta({ description: 'allowed requests in this window; exceeds the limit only after the limit was lowered' }),
  limit: z.int(),
})

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
    answer: z
      .object({
        enabled: z.boolean().meta({ description: 'false if the API is disabled for all users' }),
        blocked: z.boolean().meta({ description: 'true if an administrator blocked you from the API' }),
        addressBlockedUntil: time
          .nullable()
          .meta({ description: 'end of the block of your address; null if it is not blocked' }),
        windowSeconds: z.int(),
        resetsAt: time.meta({ description: 'end of the current window' }),
        searches: meter,
        downloads: meter,
      })
      .meta({ id: 'TorznabUsage' }),
    handle: ({ caller }, { torznabUsage }) => torznabUsage.of(caller.session.account, caller.address),
  }),
]
