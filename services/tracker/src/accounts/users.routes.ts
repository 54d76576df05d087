import { z } from 'zod'
import { downloadPercent, idParams, pageOf, pageQuery, text, time, uploadPercent } from '../http/fields.ts'
import { endpoints } from '../http/surface.ts'
import { presentUser, publicUser } from './accounts.routes.ts'
import { ACCOUNT_STATES, type Account, type Accounts, ROLES } from './accounts.ts'

const managedUser = publicUser
  .extend({
    email: z.string(),
    apiBlocked: z.boolean(),
    canDownload: z.boolean(),
    invitesLeft: z.int(),
    downloadPercent: z.int(),
    uploadPercent: z.int(),
    uploaded: z.int(),
    downloaded: z.int(),
    lastSeen: time.nullable(),
  })
  .meta({ id: 'ManagedUser' })

const endpoint = endpoints<{ accounts: Accounts }>()
const admin = { tag: 'users', access: 'admin', limit: 'write' } as const

/** What administrators do with the accounts of others. */
export const userEndpoints = [
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/users',
    operationId: 'listUsers',
    summary: 'Users, newest first; `search` is part of a name or address',
    query: z.object({ ...pageQuery, search: text({ min: 0, max: 100 }).optional() }),
    answer: pageOf(managedUser),
    handle: async ({ query: { search, page, limit } }, { accounts }) => {
      const { items, ...total } = await accounts.list({ search, page, limit })
      return { items: items.map(presentManaged), page, limit, ...total }
    },
  }),
  endpoint({
    ...admin,
    method: 'PATCH',
    path: '/api/admin/users/:id',
    operationId: 'updateUser',
    summary: 'Change role, state, downloads, invites, percentages, and access to the Torznab API',
    params: idParams,
    body: z
      .object({
        role: z.enum(ROLES, `must be one of ${ROLES.join(', ')}`),
        state: z.enum(ACCOUNT_STATES, `must be one of ${ACCOUNT_STATES.join(', ')}`),
        apiBlocked: z.boolean(),
        canDownload: z.boolean(),
        invitesLeft: z.int().min(0, 'must not be negative').max(10_000, 'must be at most 10000'),
        downloadPercent,
        uploadPercent,
      })
      .partial(),
    answer: managedUser,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ params, body, caller }, { accounts }) =>
      presentManaged(await accounts.change(params.id, body, caller.session.account)),
  }),
  endpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/users/:id/passkey',
    operationId: 'resetUserPasskey',
    summary: 'Give a user a new passkey; they find it in their own account',
    params: idParams,
    answer: managedUser,
    errors: ['NOT_FOUND'],
    handle: async ({ params, caller }, { accounts }) =>
      presentManaged(await accounts.resetPasskey(params.id, caller.session.account)),
  }),
]

function presentManaged(account: Account): z.input<typeof managedUser> {
  const { email, apiBlocked, canDownload, invitesLeft, downloadPercent, uploadPercent } = account
  const { uploaded, downloaded, lastSeenAt } = account
  return {
    ...presentUser(account),
    email,
    apiBlocked,
    canDownload,
    invitesLeft,
    downloadPercent,
    uploadPercent,
    uploaded,
    downloaded,
    lastSeen: lastSeenAt?.toISOString() ?? null,
  }
}
