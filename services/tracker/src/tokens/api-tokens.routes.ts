import { isAddressRange } from '@vault-and-tracker/service-kit/http/client-address'
import { z } from 'zod'
import type { Accounts } from '../accounts/accounts.ts'
import { givenTime, idParams, text, time } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import type { ApiTokens } from './api-tokens.ts'
import { SCOPES } from './scopes.ts'

const MAX_ADDRESSES = 20

const apiToken = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    created: time,
    expires: time.nullable().meta({ description: 'null if it does not expire' }),
    addresses: z
      .array(z.string())
      .meta({ description: 'IP addresses and ranges that may use the token; empty for any' }),
    lastUsed: time.nullable().meta({ description: 'up to a minute late' }),
    lastAddress: z.string().nullable(),
  })
  .meta({ id: 'ApiToken' })
const apiTokens = z.object({ items: z.array(apiToken) })

const endpoint = endpoints<{ apiTokens: ApiTokens; accounts: Accounts }>()
const own = { tag: 'accounts', access: 'member' } as const
const admin = { tag: 'users', access: 'admin' } as const

/** API tokens of members, who create them, and of any user for administrators. */
export const apiTokenEndpoints = [
  endpoint({
    ...own,
    method: 'GET',
    path: '/api/tokens',
    operationId: 'listApiTokens',
    summary: 'List your API tokens, newest first',
    limit: 'read',
    answer: apiTokens,
    handle: async ({ caller }, { apiTokens }) => ({ items: await apiTokens.listBy(caller.session.account.id) }),
  }),
  endpoint({
    ...own,
    method: 'POST',
    path: '/api/tokens',
    operationId: 'createApiToken',
    summary: 'Create an API token, which is shown only once; at most 25',
    limit: 'authentication',
    body: z.object({
      name: text({ min: 1, max: 60 }),
      scopes: z
        .array(z.enum(SCOPES, `must be of ${SCOPES.join(', ')}`))
        .min(1, 'must not be empty')
        .max(SCOPES.length, `must be at most ${SCOPES.length}`),
      expires: givenTime.nullable().default(null),
      addresses: z
        .array(z.string().max(50))
        .max(MAX_ADDRESSES, `must be at most ${MAX_ADDRESSES}`)
        .refine((ranges) => ranges.every(isAddressRange), 'must be addresses or CIDR ranges, such as 203.0.113.0/24')
        .default([]),
      password: z.string().max(1_024).meta({ description: 'password of your account' }),
    }),
    status: 201,
    answer: apiToken.extend({ token: z.string().meta({ description: 'the credential; shown only once' }) }),
    errors: ['CONFLICT'],
    handle: async ({ body: { password, ...input }, caller }, { apiTokens, accounts }) => {
      const { account } = caller.session
      await accounts.confirmPassword(account, password)
      const { text: token, ...created } = await apiTokens.create(account.id, input)
      return { ...created, token }
    },
  }),
  endpoint({
    ...own,
    method: 'DELETE',
    path: '/api/tokens/:id',
    operationId: 'revokeApiToken',
    summary: 'Revoke an API token',
    limit: 'write',
    params: idParams,
    status: 204,
    errors: ['NOT_FOUND'],
    handle: ({ params, caller }, { apiTokens }) => apiTokens.revokeOwn(params.id, caller.session.account.id),
  }),
  endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/users/:id/tokens',
    operationId: 'listUserApiTokens',
    summary: 'List the API tokens of a user, newest first',
    limit: 'read',
    params: idParams,
    answer: apiTokens,
    errors: ['NOT_FOUND'],
    handle: async ({ params }, { apiTokens, accounts }) => {
      const { id } = await accounts.byId(params.id)
      return { items: await apiTokens.listBy(id) }
    },
  }),
  endpoint({
    ...admin,
    method: 'DELETE',
    path: '/api/admin/tokens/:id',
    operationId: 'revokeUserApiToken',
    summary: 'Revoke an API token of any user, who is notified',
    limit: 'write',
    params: idParams,
    status: 204,
    errors: ['NOT_FOUND'],
    handle: ({ params, caller }, { apiTokens }) => apiTokens.revokeAny(params.id, caller.session.account),
  }),
]
