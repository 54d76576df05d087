import { z } from 'zod'
import { apiError } from '../errors.ts'
import { idParams, pageOf, pageOfAll, pageQuery, time } from '../http/fields.ts'
import { endpoints, type Visitor } from '../surface.ts'
import { ACCOUNT_STATES, type Account, type Accounts, PASSWORD_LENGTH, ROLES, USERNAME_PATTERN } from './accounts.ts'
import type { Invite, Invites } from './invites.ts'
import type { Sessions, StoredSession } from './sessions.ts'
import type { Stats } from './stats.ts'

/** A user as every signed-in user may see them. */
export const publicUser = z
  .object({
    id: z.string(),
    username: z.string(),
    role: z.enum(ROLES),
    state: z.enum(ACCOUNT_STATES),
    created: time,
  })
  .meta({ id: 'User' })

const ownUser = publicUser
  .extend({
    email: z.string(),
    passkey: z.string().meta({ description: '40 hex digits; anyone who has it can announce as this user' }),
    announceUrl: z.string(),
    canDownload: z.boolean(),
    statsPublic: z.boolean(),
    invitesLeft: z.int(),
  })
  .meta({ id: 'OwnUser' })

const userStats = z
  .object({
    id: z.string(),
    username: z.string(),
    uploaded: z.int().optional().meta({ description: 'bytes, multipliers applied' }),
    downloaded: z.int().optional().meta({ description: 'bytes, multipliers applied' }),
    ratio: z.number().nullable().optional().meta({ description: 'null when nothing was downloaded' }),
    uploadedActual: z.int().optional().meta({ description: 'bytes; for the user and staff only' }),
    downloadedActual: z.int().optional(),
    seeding: z.int().optional(),
    leeching: z.int().optional(),
    completed: z.int().optional(),
    seedSeconds: z.int().optional(),
    torrents: z.int().optional().meta({ description: 'how many the user uploaded' }),
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

const username = z.string().regex(USERNAME_PATTERN, 'must be 2 to 32 letters, digits, dots, dashes or underscores')
const email = z.email('must be an email address').max(254, 'must be at most 254 characters long')
const newPassword = z
  .string()
  .min(PASSWORD_LENGTH.min, `must be at least ${PASSWORD_LENGTH.min} characters long`)
  .max(PASSWORD_LENGTH.max, `must be at most ${PASSWORD_LENGTH.max} characters long`)
/** A password to be checked: any text up to a length, since what was once allowed must stay usable. */
const password = z.string().max(1_024)

const endpoint = endpoints<{
  accounts: Accounts
  sessions: Sessions
  invites: Invites
  stats: Stats
  announceUrl: (passkey: string) => string
}>()

const read = { tag: 'accounts', method: 'GET', limit: 'read', access: 'member' } as const
const write = { tag: 'accounts', limit: 'write', access: 'member' } as const
const signIn = { tag: 'accounts', method: 'POST', limit: 'authentication' } as const

/** Signing up, signing in, and one's own account. */
export const accountEndpoints = [
  endpoint({
    ...signIn,
    path: '/api/auth/register',
    operationId: 'register',
    summary: 'Open an account and sign in',
    access: 'anyone',
    body: z.object({ username, email, password: newPassword, invite: z.string().max(200).optional() }),
    status: 201,
    answer: ownUser,
    errors: ['FORBIDDEN', 'CONFLICT'],
    handle: async ({ body, caller }, { accounts, sessions, announceUrl }) => {
      const account = await accounts.register(body)
      await openSession(account, caller, sessions)
      return presentOwnUser(account, announceUrl)
    },
  }),
  endpoint({
    ...signIn,
    path: '/api/auth/login',
    operationId: 'signIn',
    summary: 'Sign in: sets the cookie `session`',
    access: 'anyone',
    body: z.object({ username: z.string().max(254), password }),
    status: 200,
    answer: ownUser,
    errors: ['UNAUTHORIZED', 'FORBIDDEN'],
    handle: async ({ body, caller }, { accounts, sessions, announceUrl }) => {
      const account = await accounts.authenticate(body.username, body.password)
      await openSession(account, caller, sessions)
      return presentOwnUser(account, announceUrl)
    },
  }),
  endpoint({
    ...write,
    method: 'POST',
    path: '/api/auth/logout',
    operationId: 'signOut',
    summary: 'End this session, whatever the state of the account',
    access: 'session',
    status: 204,
    handle: async ({ caller }, { sessions }) => {
      await sessions.close(caller.session)
      caller.clearSession()
    },
  }),
  endpoint({
    ...read,
    path: '/api/auth/sessions',
    operationId: 'listSessions',
    summary: 'Where you are signed in, newest first',
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
    summary: 'Sign out everywhere, here too',
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
    summary: 'End one session',
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
    path: '/api/user/me',
    operationId: 'getOwnUser',
    summary: 'Your own account',
    answer: ownUser,
    handle: ({ caller }, { announceUrl }) => Promise.resolve(presentOwnUser(caller.session.account, announceUrl)),
  }),
  endpoint({
    ...write,
    method: 'PATCH',
    path: '/api/user/me',
    operationId: 'updateOwnUser',
    summary: 'Choose whether other members see your uploaded, downloaded and ratio',
    body: z.object({ statsPublic: z.boolean() }),
    status: 200,
    answer: ownUser,
    handle: async ({ body, caller }, { accounts, announceUrl }) =>
      presentOwnUser(await accounts.setStatsPublic(caller.session.account.id, body.statsPublic), announceUrl),
  }),
  endpoint({
    ...signIn,
    access: 'member',
    path: '/api/user/password',
    operationId: 'changePassword',
    summary: 'Change your password; every session ends and this one starts anew',
    body: z.object({ currentPassword: password, newPassword }),
    status: 204,
    handle: async ({ body, caller }, { accounts, sessions }) => {
      const { account } = caller.session
      const changed = await accounts.changePassword(account, body.currentPassword, body.newPassword)
      await openSession(changed, caller, sessions)
    },
  }),
  endpoint({
    ...write,
    method: 'POST',
    path: '/api/user/passkey',
    operationId: 'resetOwnPasskey',
    summary: 'Get a new passkey; every .torrent must be downloaded again',
    status: 200,
    answer: ownUser,
    handle: async ({ caller }, { accounts, announceUrl }) =>
      presentOwnUser(await accounts.resetPasskey(caller.session.account.id), announceUrl),
  }),
  endpoint({
    ...read,
    path: '/api/user/:id/stats',
    operationId: 'getUserStats',
    summary: 'Statistics of a user, as far as you may see them',
    params: idParams,
    answer: userStats,
    errors: ['NOT_FOUND'],
    handle: ({ params, caller }, { stats }) => stats.visibleTo(caller.session.account, params.id),
  }),
  endpoint({
    ...read,
    path: '/api/user/invites',
    operationId: 'listInvites',
    summary: 'Your invites, newest first',
    query: pageQuery,
    answer: pageOf(invite),
    handle: async ({ query: { page, limit }, caller }, { invites }) => {
      const { items, ...total } = await invites.listBy(caller.session.account.id, { page, limit })
      return { items: items.map(presentInvite), page, limit, ...total }
    },
  }),
  endpoint({
    ...write,
    method: 'POST',
    path: '/api/user/invites',
    operationId: 'createInvite',
    summary: 'Make an invite; the code is shown only now and is valid for seven days',
    status: 201,
    answer: invite.extend({ code: z.string() }),
    errors: ['FORBIDDEN'],
    handle: async ({ caller }, { invites }) => {
      const { invite, code } = await invites.create(caller.session.account)
      return { ...presentInvite(invite), code }
    },
  }),
  endpoint({
    ...write,
    method: 'DELETE',
    path: '/api/invites/:id',
    operationId: 'takeBackInvite',
    summary: 'Take back an invite of yours that nobody used; what it took from your allowance comes back',
    params: idParams,
    status: 204,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: ({ params, caller }, { invites }) => invites.takeBackOwn(params.id, caller.session.account),
  }),
]

async function openSession(account: Account, caller: Visitor, sessions: Sessions): Promise<void> {
  caller.setSession(await sessions.open(account, caller))
}

/** The public part of an account. */
export function presentUser(account: Account): z.input<typeof publicUser> {
  const { id, username, role, state } = account
  return { id, username, role, state, created: account.createdAt.toISOString() }
}

/** One's own account, with what only its owner sees. */
function presentOwnUser(account: Account, announceUrl: (passkey: string) => string): z.input<typeof ownUser> {
  const { email, passkey, canDownload, statsPublic, invitesLeft } = account
  return {
    ...presentUser(account),
    email,
    passkey,
    announceUrl: announceUrl(passkey),
    canDownload,
    statsPublic,
    invitesLeft,
  }
}

/** A session as its user and administrators see it. */
export function presentSession({ id, createdAt, lastSeenAt, address, userAgent }: StoredSession) {
  const [created, lastSeen] = [new Date(createdAt).toISOString(), new Date(lastSeenAt).toISOString()]
  return { id, created, lastSeen, address, userAgent }
}

/** An invite without its code. */
export function presentInvite(invite: Invite) {
  return {
    id: invite.id,
    created: invite.createdAt.toISOString(),
    expires: invite.expiresAt.toISOString(),
    used: invite.usedAt?.toISOString() ?? null,
    usedBy: invite.usedBy,
  }
}
