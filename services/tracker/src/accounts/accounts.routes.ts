import { z } from 'zod'
import { apiError } from '../errors.ts'
import { idParams, pageOf, pageOfAll, pageQuery, queryFlag, time } from '../http/fields.ts'
import { endpoints, type Visitor } from '../surface.ts'
import { ACCOUNT_STATES, type Account, type Accounts, PASSWORD_LENGTH, ROLES, USERNAME_PATTERN } from './accounts.ts'
import { type Activity, ratioOf } from './activity.ts'
import type { Invites } from './invites.ts'
import type { Sessions, StoredSession } from './sessions.ts'

/** A user as visible to every signed-in user. */
export const publicUser = z
  .object({
    id: z.string(),
    username: z.string(),
    role: z.enum(ROLES),
    state: z.enum(ACCOUNT_STATES),
    created: time,
  })
  .meta({ id: 'User' })

export const ownUser = publicUser
  .extend({
    email: z.string(),
    passkey: z.string().meta({ description: '40 hex digits; anyone who knows it can announce as this user' }),
    announceUrl: z.string(),
    canDownload: z.boolean(),
    statsPublic: z.boolean(),
    passkeyOpensTorznab: z.boolean().meta({ description: 'in addition to API tokens' }),
    invitesLeft: z.int(),
    uploaded: z.int().meta({ description: 'bytes, with rates applied' }),
    downloaded: z.int().meta({ description: 'bytes, with rates applied' }),
    ratio: z.number().nullable().meta({ description: 'null if nothing was downloaded' }),
  })
  .meta({ id: 'OwnUser' })

const ownUserWithoutKeys = ownUser
  .partial({ passkey: true, announceUrl: true })
  .meta({ id: 'OwnUserOfToken', description: 'without `passkey` and `announceUrl` for API tokens' })

const userStats = publicUser
  .omit({ state: true })
  .extend({
    uploaded: z.int().optional().meta({ description: 'bytes, with rates applied' }),
    downloaded: z.int().optional().meta({ description: 'bytes, with rates applied' }),
    ratio: z.number().nullable().optional().meta({ description: 'null if nothing was downloaded' }),
    uploadedActual: z.int().optional().meta({ description: 'bytes; visible to the user and staff only' }),
    downloadedActual: z.int().optional(),
    seeding: z.int().optional(),
    leeching: z.int().optional(),
    completed: z.int().optional(),
    seedSeconds: z.int().optional(),
    torrents: z.int().optional().meta({ description: 'number of uploaded torrents' }),
  })
  .meta({ id: 'UserStats' })

const session = z
  .object({
    id: z.string(),
    created: time,
    lastSeen: time,
    address: z.string(),
    userAgent: z.string(),
    current: z.boolean(),
  })
  .meta({ id: 'Session' })

export const invite = z
  .object({ id: z.string(), created: time, expires: time, used: time.nullable(), usedBy: z.string().nullable() })
  .meta({ id: 'Invite' })

export const username = z
  .string()
  .regex(USERNAME_PATTERN, 'must be 2 to 32 letters, digits, dots, dashes or underscores')
export const email = z.email('must be an email address').max(254, 'must be at most 254 characters long')
export const newPassword = z
  .string()
  .min(PASSWORD_LENGTH.min, `must be at least ${PASSWORD_LENGTH.min} characters long`)
  .max(PASSWORD_LENGTH.max, `must be at most ${PASSWORD_LENGTH.max} characters long`)
/** A password to verify. It may be any text up to a length, so that passwords set under earlier rules stay usable. */
export const password = z.string().max(1_024)

const endpoint = endpoints<{
  accounts: Accounts
  sessions: Sessions
  invites: Invites
  activity: Activity
  announceUrl: (passkey: string) => string
}>()

const read = { tag: 'accounts', method: 'GET', limit: 'read', access: 'member' } as const
const write = { tag: 'accounts', limit: 'write', access: 'member' } as const
export const signIn = { tag: 'accounts', method: 'POST', limit: 'authentication' } as const

/** Sessions and the user's own account. */
export const accountEndpoints = [
  endpoint({
    ...write,
    method: 'POST',
    path: '/api/auth/logout',
    operationId: 'signOut',
    summary: 'Sign out; also works for suspended and banned accounts',
    access: 'session',
    status: 204,
    handle: async ({ caller }, { sessions }) => {
      await sessions.close(caller.session)
      caller.clearSession()
    },
  }),
  endpoint({
    ...read,
    access: 'account',
    path: '/api/auth/sessions',
    operationId: 'listSessions',
    summary: 'List your sessions, newest first',
    query: pageQuery,
    answer: pageOf(session),
    handle: async ({ query, caller }, { sessions }) => {
      const own = caller.session
      const open = (await sessions.list(own.account)).map((each) => ({
        ...presentSession(each),
        current: each.id === own.id,
      }))
      return pageOfAll(open, query)
    },
  }),
  endpoint({
    ...write,
    method: 'DELETE',
    path: '/api/auth/sessions',
    operationId: 'endSessions',
    summary: 'End all your sessions, including this one',
    status: 204,
    handle: async ({ caller }, { accounts }) => {
      await accounts.endSessions(caller.session.account.id)
      caller.clearSession()
    },
  }),
  endpoint({
    ...write,
    method: 'DELETE',
    path: '/api/auth/sessions/:id',
    operationId: 'endSession',
    summary: 'End one of your sessions',
    params: idParams,
    status: 204,
    errors: ['NOT_FOUND'],
    handle: async ({ params, caller }, { sessions }) => {
      const { account, id } = caller.session
      if (!(await sessions.end(account, params.id))) throw apiError('NOT_FOUND', 'There is no such session.')
      if (params.id === id) caller.clearSession()
    },
  }),
  endpoint({
    ...read,
    access: 'account',
    path: '/api/user/me',
    operationId: 'getOwnUser',
    summary: 'Get your account',
    answer: ownUserWithoutKeys,
    handle: ({ caller }, { announceUrl }) => {
      const { passkey, announceUrl: url, ...user } = presentOwnUser(caller.session.account, announceUrl)
      return Promise.resolve(caller.scope === undefined ? { ...user, passkey, announceUrl: url } : user)
    },
  }),
  endpoint({
    ...write,
    method: 'PATCH',
    path: '/api/user/me',
    operationId: 'updateOwnUser',
    summary: 'Choose whether other members can see your totals, and whether Torznab accepts your passkey',
    body: z.object({ statsPublic: z.boolean(), passkeyOpensTorznab: z.boolean() }).partial(),
    status: 200,
    answer: ownUser,
    handle: async ({ body, caller }, { accounts, announceUrl }) =>
      presentOwnUser(await accounts.prefer(caller.session.account.id, body), announceUrl),
  }),
  endpoint({
    ...signIn,
    access: 'account',
    path: '/api/user/password',
    operationId: 'changePassword',
    summary: 'Change your password; ends all your sessions and starts a new one here',
    body: z.object({ currentPassword: password, newPassword }),
    status: 204,
    handle: async ({ body, caller }, { accounts, sessions }) => {
      const { account } = caller.session
      const changed = await accounts.changePassword(account, body.currentPassword, body.newPassword)
      await openSession(changed, caller, sessions, caller.session.isStrong)
    },
  }),
  endpoint({
    ...write,
    method: 'POST',
    path: '/api/user/passkey',
    operationId: 'resetOwnPasskey',
    summary: 'Reset your passkey; .torrent files must be downloaded again',
    query: z.object({
      keepAnnounceKeys: queryFlag
        .optional()
        .meta({ description: 'whether files downloaded with API tokens and feeds stay valid' }),
    }),
    status: 200,
    answer: ownUser,
    handle: async ({ query, caller }, { accounts, announceUrl }) =>
      presentOwnUser(await accounts.resetPasskey(caller.session.account.id, query), announceUrl),
  }),
  endpoint({
    ...read,
    path: '/api/user/:id/stats',
    operationId: 'getUserStats',
    summary: 'Get the statistics of a user that you are allowed to see',
    params: idParams,
    answer: userStats,
    errors: ['NOT_FOUND'],
    handle: ({ params, caller }, { activity }) => activity.statistics(caller.session.account, params.id),
  }),
  endpoint({
    ...read,
    path: '/api/user/invites',
    operationId: 'listInvites',
    summary: 'List your invites, newest first',
    query: pageQuery,
    answer: pageOf(invite),
    handle: ({ query, caller }, { invites }) => invites.listBy(caller.session.account.id, query),
  }),
  endpoint({
    ...write,
    method: 'POST',
    path: '/api/user/invites',
    operationId: 'createInvite',
    summary: 'Create an invite; its code is shown only once and expires after seven days',
    status: 201,
    answer: invite.extend({ code: z.string() }),
    errors: ['FORBIDDEN'],
    handle: ({ caller }, { invites }) => invites.create(caller.session.account),
  }),
  endpoint({
    ...write,
    method: 'DELETE',
    path: '/api/invites/:id',
    operationId: 'takeBackInvite',
    summary: 'Revoke an unused invite; restores your allowance',
    params: idParams,
    status: 204,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: ({ params, caller }, { invites }) => invites.revokeOwn(params.id, caller.session.account),
  }),
]

/** Opens a session and sets its cookie. @param isStrong whether it was opened with a second factor */
export async function openSession(
  account: Account,
  caller: Visitor,
  sessions: Sessions,
  isStrong: boolean,
): Promise<void> {
  const { address, userAgent } = caller
  caller.setSession(await sessions.open(account, { address, userAgent, isStrong }))
}

/** The public fields of an account. */
export function presentUser(account: Account): z.input<typeof publicUser> {
  const { id, username, role, state } = account
  return { id, username, role, state, created: account.createdAt }
}

/** An account with the fields that only its owner can see. */
export function presentOwnUser(account: Account, announceUrl: (passkey: string) => string): z.input<typeof ownUser> {
  const { email, passkey, canDownload, statsPublic, passkeyOpensTorznab, invitesLeft, uploaded, downloaded } = account
  return {
    ...presentUser(account),
    email,
    passkey,
    announceUrl: announceUrl(passkey),
    canDownload,
    statsPublic,
    passkeyOpensTorznab,
    invitesLeft,
    ...{ uploaded, downloaded, ratio: ratioOf(uploaded, downloaded) },
  }
}

/** A session as visible to its user and to administrators. */
export function presentSession({ id, createdAt, lastSeenAt, address, userAgent }: StoredSession) {
  return { id, created: new Date(createdAt), lastSeen: new Date(lastSeenAt), address, userAgent }
}
