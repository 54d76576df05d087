import { z } from 'zod'
import { defineEndpoint, plain } from '../rest/endpoint.routes.ts'
import { idParams, time } from '../rest/fields.routes.ts'
import { ACCOUNT_STATES, type Account, PASSWORD_LENGTH, ROLES, USERNAME_PATTERN } from './accounts.ts'

/** A user as everybody signed in may see him. */
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
    passkey: z.string().meta({ description: '40 hex digits; whoever holds them announces as this user' }),
    announceUrl: z.string(),
    canDownload: z.boolean(),
    statsPublic: z.boolean(),
    invitesLeft: z.int(),
  })
  .meta({ id: 'OwnUser' })

const stats = z
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

const invite = z
  .object({ id: z.string(), created: time, expires: time, used: time.nullable(), usedBy: z.string().nullable() })
  .meta({ id: 'Invite' })

const username = z.string().regex(USERNAME_PATTERN, 'must be 2 to 32 letters, digits, dots, dashes or underscores')
const email = z.email('must be an email address').max(254, 'must be at most 254 characters long')
const newPassword = z
  .string()
  .min(PASSWORD_LENGTH.min, `must be at least ${PASSWORD_LENGTH.min} characters long`)
  .max(PASSWORD_LENGTH.max, `must be at most ${PASSWORD_LENGTH.max} characters long`)
/** A password to be checked: any text that is not absurdly long, since what was once allowed must stay usable. */
const password = z.string().max(1_024)

const read = { ...plain, method: 'GET', limit: 'read', status: 200, access: 'member' } as const
const write = { ...plain, limit: 'write', access: 'member' } as const
const signIn = { ...plain, method: 'POST', limit: 'authentication' } as const

/** Signing up, signing in, and one's own account. */
export const accountApi = {
  register: defineEndpoint({
    ...signIn,
    path: '/api/auth/register',
    summary: 'Open an account and sign in',
    access: 'anyone',
    body: z.object({ username, email, password: newPassword, invite: z.string().max(200).optional() }),
    status: 201,
    answer: ownUser,
    errors: ['FORBIDDEN', 'CONFLICT'],
  }),
  login: defineEndpoint({
    ...signIn,
    path: '/api/auth/login',
    summary: 'Sign in: sets the cookie `session`',
    access: 'anyone',
    body: z.object({ username: z.string().max(254), password }),
    status: 200,
    answer: ownUser,
    errors: ['UNAUTHORIZED', 'FORBIDDEN'],
  }),
  logout: defineEndpoint({
    ...write,
    method: 'POST',
    path: '/api/auth/logout',
    summary: 'End this session',
    status: 204,
  }),
  listSessions: defineEndpoint({
    ...read,
    path: '/api/auth/sessions',
    summary: 'Where you are signed in, newest first',
    answer: z.object({ items: z.array(session) }),
  }),
  endSessions: defineEndpoint({
    ...write,
    method: 'DELETE',
    path: '/api/auth/sessions',
    summary: 'Sign out everywhere, here too',
    status: 204,
  }),
  endSession: defineEndpoint({
    ...write,
    method: 'DELETE',
    path: '/api/auth/sessions/:id',
    summary: 'End one session',
    params: idParams,
    status: 204,
    errors: ['NOT_FOUND'],
  }),
  me: defineEndpoint({ ...read, path: '/api/user/me', summary: 'Your own account', answer: ownUser }),
  changeMe: defineEndpoint({
    ...write,
    method: 'PATCH',
    path: '/api/user/me',
    summary: 'Choose whether other members see your uploaded, downloaded and ratio',
    body: z.object({ statsPublic: z.boolean() }),
    status: 200,
    answer: ownUser,
  }),
  changePassword: defineEndpoint({
    ...signIn,
    access: 'member',
    path: '/api/user/password',
    summary: 'Change your password; every session ends and this one starts anew',
    body: z.object({ currentPassword: password, newPassword }),
    status: 204,
  }),
  resetPasskey: defineEndpoint({
    ...write,
    method: 'POST',
    path: '/api/user/passkey',
    summary: 'Get a new passkey; every .torrent must be downloaded again',
    status: 200,
    answer: ownUser,
  }),
  stats: defineEndpoint({
    ...read,
    path: '/api/user/:id/stats',
    summary: 'Statistics of a user, as far as you may see them',
    params: idParams,
    answer: stats,
    errors: ['NOT_FOUND'],
  }),
  listInvites: defineEndpoint({
    ...read,
    path: '/api/user/invites',
    summary: 'Your last hundred invites, newest first',
    answer: z.object({ items: z.array(invite) }),
  }),
  createInvite: defineEndpoint({
    ...write,
    method: 'POST',
    path: '/api/user/invites',
    summary: 'Make an invite; the code is shown only now and is valid for seven days',
    status: 201,
    answer: invite.extend({ code: z.string() }),
    errors: ['FORBIDDEN'],
  }),
}

/** The public part of an account. */
export function presentUser(account: Account): z.input<typeof publicUser> {
  const { id, username, role, state } = account
  return { id, username, role, state, created: account.createdAt.toISOString() }
}

/** One's own account, with what only its owner sees. */
export function presentOwnUser(account: Account, announceUrl: string): z.input<typeof ownUser> {
  const { email, passkey, canDownload, statsPublic, invitesLeft } = account
  return { ...presentUser(account), email, passkey, announceUrl, canDownload, statsPublic, invitesLeft }
}
