import { z } from 'zod'
import {
  downloadPercent,
  idParams,
  namedUser,
  pageOf,
  pageOfAll,
  pageQuery,
  text,
  time,
  uploadPercent,
} from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { invite, presentInvite, presentSession, presentUser, publicUser } from './accounts.routes.ts'
import { ACCOUNT_STATES, type Account, type Accounts, ROLES } from './accounts.ts'
import type { Invites } from './invites.ts'
import type { Sessions } from './sessions.ts'

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

const oneUser = managedUser
  .extend({ invitedBy: namedUser.nullable().meta({ description: 'whose invite they registered with' }) })
  .meta({ id: 'ManagedUserDetails' })
const openSession = z
  .object({ id: z.string(), created: time, lastSeen: time, address: z.string(), userAgent: z.string() })
  .meta({ id: 'UserSession' })

const endpoint = endpoints<{ accounts: Accounts; sessions: Sessions; invites: Invites }>()
const admin = { tag: 'users', access: 'admin', limit: 'write' } as const

const role = z.enum(ROLES, `must be one of ${ROLES.join(', ')}`)
const state = z.enum(ACCOUNT_STATES, `must be one of ${ACCOUNT_STATES.join(', ')}`)

/** What administrators do with the accounts of others. */
export const userEndpoints = [
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/users',
    operationId: 'listUsers',
    summary: 'Users, newest first; `search` is part of a name or address',
    query: pageQuery.safeExtend({
      search: text({ min: 0, max: 100 }).optional(),
      role: role.optional(),
      state: state.optional(),
    }),
    answer: pageOf(managedUser),
    handle: async ({ query: { search, role, state, page, limit } }, { accounts }) => {
      const { items, ...total } = await accounts.list({ search, role, state, page, limit })
      return { items: items.map(presentManaged), page, limit, ...total }
    },
  }),
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/users/:id',
    operationId: 'getUser',
    summary: 'One user, and who invited them',
    params: idParams,
    answer: oneUser,
    errors: ['NOT_FOUND'],
    handle: async ({ params }, { accounts, invites }) => {
      const account = await accounts.byId(params.id)
      return { ...presentManaged(account), invitedBy: (await invites.inviterOf(account.id)) ?? null }
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
        role,
        state,
        apiBlocked: z.boolean(),
        canDownload: z.boolean(),
        invitesLeft: z.int().min(0, 'must not be negative').max(10_000, 'must be at most 10000'),
        downloadPercent,
        uploadPercent,
        reason: text({ min: 1, max: 500 }).meta({ description: 'why, for the admin log' }),
      })
      .partial(),
    answer: managedUser,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ params, body: { reason, ...changes }, caller }, { accounts }) =>
      presentManaged(await accounts.change(params.id, changes, caller.session.account, reason)),
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
  endpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/users/:id/password',
    operationId: 'resetUserPassword',
    summary: 'Give a user a random password, which is shown only now; every session of theirs ends',
    params: idParams,
    status: 200,
    answer: z.object({ password: z.string() }),
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ params, caller }, { accounts }) => ({
      password: await accounts.giveRandomPassword(params.id, caller.session.account),
    }),
  }),
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/users/:id/sessions',
    operationId: 'listUserSessions',
    summary: 'Where a user is signed in, newest first',
    params: idParams,
    query: pageQuery,
    answer: pageOf(openSession),
    errors: ['NOT_FOUND'],
    handle: async ({ params, query }, { accounts, sessions }) => {
      const open = await sessions.list(await accounts.byId(params.id))
      return pageOfAll(open.map(presentSession), query)
    },
  }),
  endpoint({
    ...admin,
    method: 'DELETE',
    path: '/api/admin/users/:id/sessions',
    operationId: 'endUserSessions',
    summary: 'End every session of a user; they can sign in again',
    params: idParams,
    status: 204,
    errors: ['NOT_FOUND'],
    handle: ({ params, caller }, { accounts }) => accounts.endSessions(params.id, caller.session.account),
  }),
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/users/:id/invites',
    operationId: 'listUserInvites',
    summary: 'The invites that a user made, newest first',
    params: idParams,
    query: pageQuery,
    answer: pageOf(invite),
    errors: ['NOT_FOUND'],
    handle: async ({ params, query: { page, limit } }, { accounts, invites }) => {
      const { id } = await accounts.byId(params.id)
      const { items, ...total } = await invites.listBy(id, { page, limit })
      return { items: items.map(presentInvite), page, limit, ...total }
    },
  }),
  endpoint({
    ...admin,
    method: 'DELETE',
    path: '/api/admin/invites/:id',
    operationId: 'takeBackUserInvite',
    summary: 'Take back an invite of any user that nobody used; what it took from their allowance comes back',
    params: idParams,
    status: 204,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: ({ params, caller }, { invites }) => invites.takeBackOfAnyone(params.id, caller.session.account),
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
