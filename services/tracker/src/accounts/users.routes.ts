import { z } from 'zod'
import type { Factors } from '../factors/factors.ts'
import {
  downloadPercent,
  givenTime,
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
import { invite, presentSession, presentUser, publicUser } from './accounts.routes.ts'
import { ACCOUNT_STATES, type Account, type Accounts, ANNOUNCE_LIMIT_MAX, ROLES } from './accounts.ts'
import type { Invites } from './invites.ts'
import type { Sessions } from './sessions.ts'

const managedUser = publicUser
  .extend({
    email: z.string(),
    suspendedUntil: time.nullable().meta({ description: 'the end of the suspension, if it has one' }),
    stateReason: z.string().nullable().meta({ description: 'reason for a suspension or ban, which the user sees' }),
    apiBlocked: z.boolean(),
    canDownload: z.boolean(),
    invitesLeft: z.int(),
    downloadPercent: z.int(),
    uploadPercent: z.int(),
    announceLimit: z.int().nullable().meta({
      description: 'announces per minute, 0 for no limit; null for the limit of the server',
    }),
    uploaded: z.int(),
    downloaded: z.int(),
    lastSeen: time.nullable(),
  })
  .meta({ id: 'ManagedUser' })

const oneUser = managedUser
  .extend({
    invitedBy: namedUser.nullable().meta({ description: 'creator of the invite they registered with' }),
    secondFactors: z.int(),
    warnings: z.int(),
  })
  .meta({ id: 'ManagedUserDetails' })
const openSession = z
  .object({ id: z.string(), created: time, lastSeen: time, address: z.string(), userAgent: z.string() })
  .meta({ id: 'UserSession' })

const endpoint = endpoints<{
  accounts: Accounts
  factors: Factors
  sessions: Sessions
  invites: Invites
  warnings: { count(userId: string): Promise<number> }
}>()
const admin = { tag: 'users', access: 'admin', limit: 'write' } as const

const role = z.enum(ROLES, `must be one of ${ROLES.join(', ')}`)
const state = z.enum(ACCOUNT_STATES, `must be one of ${ACCOUNT_STATES.join(', ')}`)

/** User administration. */
export const userEndpoints = [
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/users',
    operationId: 'listUsers',
    summary: 'List users, newest first; `search` matches part of a username or email address',
    query: pageQuery.safeExtend({
      search: text({ min: 0, max: 100 }).optional(),
      role: role.optional(),
      state: state.optional(),
    }),
    answer: pageOf(managedUser),
    handle: async ({ query }, { accounts }) => {
      const { items, ...rest } = await accounts.list(query)
      return { ...rest, items: items.map(presentManaged) }
    },
  }),
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/users/:id',
    operationId: 'getUser',
    summary: 'Get a user and their inviter',
    params: idParams,
    answer: oneUser,
    errors: ['NOT_FOUND'],
    handle: async ({ params }, { accounts, factors, invites, warnings }) => {
      const account = await accounts.byId(params.id)
      const [invitedBy = null, { items }, warned] = await Promise.all([
        invites.inviterOf(account.id),
        factors.overview(account),
        warnings.count(account.id),
      ])
      return { ...presentManaged(account), invitedBy, secondFactors: items.length, warnings: warned }
    },
  }),
  endpoint({
    ...admin,
    method: 'PATCH',
    path: '/api/admin/users/:id',
    operationId: 'updateUser',
    summary: 'Change the role, state, permissions, invites, rates and announce limit of a user',
    params: idParams,
    body: z
      .object({
        role,
        state,
        suspendedUntil: givenTime
          .nullable()
          .meta({ description: 'end of a suspension; without it, the suspension has no end' }),
        apiBlocked: z.boolean(),
        canDownload: z.boolean(),
        invitesLeft: z.int().min(0, 'must not be negative').max(10_000, 'must be at most 10000'),
        downloadPercent,
        uploadPercent,
        announceLimit: z
          .int()
          .min(0, 'must not be negative')
          .max(ANNOUNCE_LIMIT_MAX, `must be at most ${ANNOUNCE_LIMIT_MAX}`)
          .nullable(),
        reason: text({ min: 1, max: 500 }).meta({
          description: 'for the admin log; a suspended or banned user sees it',
        }),
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
    summary: 'Reset the passkey of a user, whose account page shows the new one',
    params: idParams,
    answer: managedUser,
    errors: ['NOT_FOUND'],
    handle: async ({ params, caller }, { accounts }) =>
      presentManaged(await accounts.resetPasskey(params.id, { by: caller.session.account })),
  }),
  endpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/users/:id/password',
    operationId: 'resetUserPassword',
    summary: 'Set a random password, which is shown only once; ends all sessions of the user',
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
    summary: 'List the sessions of a user, newest first',
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
    summary: 'End all sessions of a user, who can sign in again',
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
    summary: 'List the invites that a user created, newest first',
    params: idParams,
    query: pageQuery,
    answer: pageOf(invite),
    errors: ['NOT_FOUND'],
    handle: async ({ params, query }, { accounts, invites }) => {
      const { id } = await accounts.byId(params.id)
      return invites.listBy(id, query)
    },
  }),
  endpoint({
    ...admin,
    method: 'DELETE',
    path: '/api/admin/invites/:id',
    operationId: 'takeBackUserInvite',
    summary: 'Revoke an unused invite of any user; restores their allowance',
    params: idParams,
    status: 204,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: ({ params, caller }, { invites }) => invites.revokeAny(params.id, caller.session.account),
  }),
]

function presentManaged(account: Account): z.input<typeof managedUser> {
  const { email, suspendedUntil, stateReason, apiBlocked, canDownload, invitesLeft, downloadPercent, uploadPercent } =
    account
  const { announceLimit, uploaded, downloaded, lastSeenAt } = account
  return {
    ...presentUser(account),
    email,
    suspendedUntil,
    stateReason,
    apiBlocked,
    canDownload,
    invitesLeft,
    downloadPercent,
    uploadPercent,
    announceLimit,
    uploaded,
    downloaded,
    lastSeen: lastSeenAt,
  }
}
