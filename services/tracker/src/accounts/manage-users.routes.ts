import { z } from 'zod'
import { type BoundEndpoint, bind, defineEndpoint, plain, sessionOf } from '../rest/endpoint.routes.ts'
import { downloadPercent, idParams, pageOf, pageQuery, text, time, uploadPercent } from '../rest/fields.routes.ts'
import { presentUser, publicUser } from './account-api.routes.ts'
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

const admin = { ...plain, access: 'admin', limit: 'write', status: 200 } as const

/** What administrators do with the accounts of others. */
export const manageUsersApi = {
  listUsers: defineEndpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/users',
    summary: 'Users, newest first; `search` is part of a name or address',
    query: z.object({ ...pageQuery, search: text({ min: 0, max: 100 }).optional() }),
    answer: pageOf(managedUser),
  }),
  changeUser: defineEndpoint({
    ...admin,
    method: 'PATCH',
    path: '/api/admin/users/:id',
    summary: 'Change role, state, downloads, invites, what counts, and access to the Torznab API',
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
  }),
  resetPasskey: defineEndpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/users/:id/passkey',
    summary: 'Give a user a new passkey; the user finds it in the own account',
    params: idParams,
    answer: managedUser,
    errors: ['NOT_FOUND'],
  }),
}

/** The endpoints of managing users. */
export function manageUsersRoutes(deps: { accounts: Accounts }): readonly BoundEndpoint[] {
  const { accounts } = deps
  return [
    bind(manageUsersApi.listUsers, async ({ query: { search, page, limit } }) => {
      const { items, total } = await accounts.list({ search, page, limit })
      return { items: items.map(presentManaged), page, limit, total }
    }),
    bind(manageUsersApi.changeUser, async ({ params, body, caller }) =>
      presentManaged(await accounts.change(params.id, body, sessionOf(caller).account)),
    ),
    bind(manageUsersApi.resetPasskey, async ({ params }) => presentManaged(await accounts.resetPasskey(params.id))),
  ]
}

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
