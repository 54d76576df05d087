import { z } from 'zod'
import { ACCOUNT_STATES, ROLES } from '../accounts/accounts.ts'
import { ERRORS } from '../errors.ts'
import { idParams, namedUser, pageOf, pageQuery, text, time } from '../http/fields.ts'
import { version } from '../http/torrent-fields.ts'
import { endpoints } from '../surface.ts'
import { MAX_DECISIONS, type Reviews } from './reviews.ts'
import type { Warnings } from './warnings.ts'

const written = { id: z.string(), text: z.string(), created: time, author: namedUser }
const note = z.object(written).meta({ id: 'StaffNote' })
const warning = z.object(written).meta({ id: 'Warning' })
const newText = z.object({ text: text({ min: 1, max: 1_000, lines: true }) })

const record = z
  .object({
    id: z.string(),
    username: z.string(),
    created: time,
    approved: z.int().meta({ description: 'torrents' }),
    pending: z.int(),
    rejected: z.int(),
    deleted: z.int().meta({ description: 'in the last 30 days' }),
    warnings: z.int(),
  })
  .meta({ id: 'UploaderRecord' })

const codes = Object.keys(ERRORS)
const endpoint = endpoints<{ reviews: Reviews; warnings: Warnings }>()
const moderator = { tag: 'moderation', access: 'moderator', limit: 'write' } as const
const user = { tag: 'users', access: 'moderator', limit: 'write' } as const

/** What staff need to decide about torrents and users. */
export const reviewEndpoints = [
  endpoint({
    ...moderator,
    method: 'POST',
    path: '/api/admin/torrents/decisions',
    operationId: 'decideTorrents',
    summary: 'Approve several torrents, or reject them for one reason; each has its own result',
    body: z.object({
      ids: z.array(z.string()).min(1).max(MAX_DECISIONS, `must be at most ${MAX_DECISIONS} ids`),
      reason: text({ min: 1, max: 500 }).optional().meta({ description: 'rejects the torrents' }),
      versions: z
        .record(z.string(), version)
        .default({})
        .meta({ description: 'those that you saw, by id; CONFLICT for each torrent that has changed' }),
    }),
    status: 200,
    answer: z.object({
      items: z.array(
        z.object({
          id: z.string(),
          error: z.enum(codes).nullable().meta({ description: 'why nothing was decided about this torrent' }),
        }),
      ),
    }),
    handle: async ({ body, caller }, { reviews }) => ({
      items: [
        ...(await reviews.decideAll(
          body.ids,
          body.reason ?? null,
          caller.session.account,
          new Map(Object.entries(body.versions)),
        )),
      ],
    }),
  }),
  endpoint({
    ...moderator,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/torrents/:id/uploader',
    operationId: 'getUploaderRecord',
    summary: 'Get the record of the uploader of a torrent',
    params: idParams,
    answer: record,
    errors: ['NOT_FOUND'],
    handle: ({ params, caller }, { reviews }) => reviews.uploaderOf(params.id, caller.session.account),
  }),
  endpoint({
    ...moderator,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/torrents/:id/notes',
    operationId: 'listTorrentNotes',
    summary: 'List the notes of staff on a torrent, newest first',
    params: idParams,
    answer: z.object({ items: z.array(note) }),
    errors: ['NOT_FOUND'],
    handle: async ({ params, caller }, { reviews }) => ({
      items: [...(await reviews.notes(params.id, caller.session.account))],
    }),
  }),
  endpoint({
    ...moderator,
    method: 'POST',
    path: '/api/admin/torrents/:id/notes',
    operationId: 'addTorrentNote',
    summary: 'Add a note on a torrent for staff',
    params: idParams,
    body: newText,
    status: 201,
    answer: note,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: ({ params, body, caller }, { reviews }) => reviews.addNote(params.id, body.text, caller.session.account),
  }),
  endpoint({
    ...user,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/users/:id/record',
    operationId: 'getUserRecord',
    summary: 'Get the state of a user and the record of their uploads; moderators, of members only',
    params: idParams,
    answer: record
      .extend({
        role: z.enum(ROLES),
        state: z.enum(ACCOUNT_STATES),
        suspendedUntil: time.nullable(),
        stateReason: z.string().nullable(),
      })
      .meta({ id: 'UserRecord' }),
    errors: ['NOT_FOUND'],
    handle: async ({ params, caller }, { reviews }) => {
      const { account, record } = await reviews.userRecord(params.id, caller.session.account)
      const { role, state, suspendedUntil, stateReason } = account
      return { ...record, role, state, suspendedUntil, stateReason }
    },
  }),
  endpoint({
    ...user,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/users/:id/notes',
    operationId: 'listUserNotes',
    summary: 'List the notes of staff on a user, newest first; moderators, on members only',
    params: idParams,
    answer: z.object({ items: z.array(note) }),
    errors: ['NOT_FOUND'],
    handle: async ({ params, caller }, { reviews }) => ({
      items: [...(await reviews.userNotes(params.id, caller.session.account))],
    }),
  }),
  endpoint({
    ...user,
    method: 'POST',
    path: '/api/admin/users/:id/notes',
    operationId: 'addUserNote',
    summary: 'Add a note on a user for staff',
    params: idParams,
    body: newText,
    status: 201,
    answer: note,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: ({ params, body, caller }, { reviews }) =>
      reviews.addUserNote(params.id, body.text, caller.session.account),
  }),
  endpoint({
    ...user,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/users/:id/warnings',
    operationId: 'listUserWarnings',
    summary: 'List the warnings to a user, newest first; moderators, to members only',
    params: idParams,
    query: pageQuery,
    answer: pageOf(warning),
    errors: ['NOT_FOUND'],
    handle: ({ params, query, caller }, { warnings }) => warnings.list(params.id, query, caller.session.account),
  }),
  endpoint({
    ...user,
    method: 'POST',
    path: '/api/admin/users/:id/warnings',
    operationId: 'warnUser',
    summary: 'Warn a user, who receives the text as a notice',
    params: idParams,
    body: newText,
    status: 201,
    answer: warning,
    errors: ['NOT_FOUND'],
    handle: ({ params, body, caller }, { warnings }) => warnings.warn(params.id, body.text, caller.session.account),
  }),
]
