import { z } from 'zod'
import { addressFilter, namedUser, pageOf, pageQuery, text, time } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { ADDRESS_KINDS, type Addresses, MAX_USERS_COUNTED } from './addresses.ts'

const userAddress = z
  .object({
    user: namedUser,
    address: z.string().meta({ description: 'an IPv4 address, or the /64 of an IPv6 address' }),
    kind: z.enum(ADDRESS_KINDS).meta({ description: '`web` for sessions, `api` for Torznab, feeds and API tokens' }),
    requests: z.int(),
    first: time,
    last: time.meta({ description: 'up to an hour late' }),
    users: z.int().meta({ description: `seen from the address, counted up to ${MAX_USERS_COUNTED}` }),
  })
  .meta({ id: 'UserAddress' })

/** Where users were seen, for administrators only. */
export const addressEndpoints = [
  endpoints<{ addresses: Addresses }>()({
    tag: 'users',
    access: 'admin',
    limit: 'read',
    method: 'GET',
    path: '/api/admin/addresses',
    operationId: 'listUserAddresses',
    summary: 'List the addresses of a user, or the users of an address, last seen first; `user` is an id or a name',
    query: pageQuery
      .safeExtend({ user: text({ min: 1, max: 64 }).optional(), address: addressFilter.optional() })
      .refine(({ user, address }) => user !== undefined || address !== undefined, {
        path: ['user'],
        error: 'is required unless you give an address',
      }),
    answer: pageOf(userAddress),
    handle: async ({ query }, { addresses }) => {
      const { items, ...rest } = await addresses.list(query)
      return {
        ...rest,
        items: items.map(({ firstAt, lastAt, ...each }) => ({ ...each, first: firstAt, last: lastAt })),
      }
    },
  }),
]
