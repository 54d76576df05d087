import { z } from 'zod'
import { presentUser, publicUser } from '../accounts/account-api.routes.ts'
import { ACCOUNT_STATES, type Account, type Accounts, ROLES } from '../accounts/accounts.ts'
import { type BoundEndpoint, bind, defineEndpoint, plain, sessionOf } from '../rest/endpoint.routes.ts'
import { idParams, pageOf, pageQuery, text, time } from '../rest/fields.routes.ts'
import {
  downloadPercent,
  listedTorrent,
  presentTorrent,
  torrentAnswer,
  uploadPercent,
} from '../torrents/torrent-api.routes.ts'
import { TORRENT_STATES, type Torrents } from '../torrents/torrents.ts'
import type { Site } from './site.ts'

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

const settings = z.object({ downloadPercent: z.int(), uploadPercent: z.int() }).meta({ id: 'SiteSettings' })

const admin = { ...plain, access: 'admin', limit: 'write', status: 200 } as const
const moderator = { ...plain, access: 'moderator', limit: 'write', status: 200 } as const

/** What staff do beyond what members do. */
export const adminApi = {
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
  listTorrents: defineEndpoint({
    ...moderator,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/torrents',
    summary: 'Torrents of a state, the oldest first',
    query: z.object({
      ...pageQuery,
      state: z.enum(TORRENT_STATES, `must be one of ${TORRENT_STATES.join(', ')}`).default('pending'),
    }),
    answer: pageOf(listedTorrent),
  }),
  approve: defineEndpoint({
    ...moderator,
    method: 'POST',
    path: '/api/admin/torrents/:id/approve',
    summary: 'Approve a torrent',
    params: idParams,
    answer: torrentAnswer,
    errors: ['NOT_FOUND'],
  }),
  reject: defineEndpoint({
    ...moderator,
    method: 'POST',
    path: '/api/admin/torrents/:id/reject',
    summary: 'Reject a torrent; its uploader sees the reason',
    params: idParams,
    body: z.object({
      reason: text({ min: 1, max: 500 }),
    }),
    answer: torrentAnswer,
    errors: ['NOT_FOUND'],
  }),
  readSite: defineEndpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/site',
    summary: 'What holds for the whole site',
    answer: settings,
  }),
  changeSite: defineEndpoint({
    ...admin,
    method: 'PATCH',
    path: '/api/admin/site',
    summary: 'Set how much of downloads is charged and of uploads credited, everywhere; 0 and 100 is freeleech',
    body: z.object({ downloadPercent, uploadPercent }).partial(),
    answer: settings,
  }),
}

/** The endpoints of staff; those of categories are with the categories. */
export function adminRoutes(deps: { accounts: Accounts; torrents: Torrents; site: Site }): readonly BoundEndpoint[] {
  const { accounts, torrents, site } = deps
  return [
    bind(adminApi.listUsers, async ({ query: { search, page, limit } }) => {
      const { items, total } = await accounts.list({ search, page, limit })
      return { items: items.map(presentManaged), page, limit, total }
    }),
    bind(adminApi.changeUser, async ({ params, body, caller }) =>
      presentManaged(await accounts.change(params.id, body, sessionOf(caller).account)),
    ),
    bind(adminApi.resetPasskey, async ({ params }) => presentManaged(await accounts.resetPasskey(params.id))),
    bind(adminApi.listTorrents, async ({ query: { page, limit, state } }) => {
      const { items, total } = await torrents.list({
        page,
        limit,
        state,
        sort: 'created',
        order: 'asc',
        category: undefined,
        search: undefined,
      })
      return { items: items.map((torrent) => presentTorrent(torrent)), page, limit, total }
    }),
    bind(adminApi.approve, async ({ params }) => presentTorrent(await torrents.moderate(params.id, 'approved', null))),
    bind(adminApi.reject, async ({ params, body }) =>
      presentTorrent(await torrents.moderate(params.id, 'rejected', body.reason)),
    ),
    bind(adminApi.readSite, () => site.read()),
    bind(adminApi.changeSite, ({ body }) => site.change(body)),
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
