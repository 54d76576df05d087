import { z } from 'zod'
import { idParams, namedUser, pageOf, pageQuery, text, time } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { REPORT_STATES, type Reports } from './reports.ts'

const report = z
  .object({
    id: z.string(),
    torrent: z.object({ id: z.string(), name: z.string(), isDeleted: z.boolean() }),
    reporter: namedUser,
    reason: z.string(),
    created: time,
    resolved: time.nullable().meta({ description: 'null while it is open' }),
    resolvedBy: namedUser.nullable(),
    note: z.string().nullable(),
  })
  .meta({ id: 'Report' })

const endpoint = endpoints<{ reports: Reports }>()
const moderator = { tag: 'moderation', access: 'moderator' } as const

/** Reports of torrents. */
export const reportEndpoints = [
  endpoint({
    tag: 'torrents',
    access: 'member',
    limit: 'write',
    method: 'POST',
    path: '/api/torrents/:id/reports',
    operationId: 'reportTorrent',
    summary: 'Report a torrent to staff; you can have ten open reports',
    params: idParams,
    body: z.object({ reason: text({ min: 1, max: 1_000, lines: true }) }),
    status: 204,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: ({ params, body, caller }, { reports }) => reports.report(params.id, caller.session.account, body.reason),
  }),
  endpoint({
    ...moderator,
    limit: 'read',
    method: 'GET',
    path: '/api/admin/reports',
    operationId: 'listReports',
    summary: 'List open reports, oldest first, or resolved ones, newest first',
    query: pageQuery.safeExtend({
      state: z.enum(REPORT_STATES, `must be one of ${REPORT_STATES.join(', ')}`).default('open'),
    }),
    answer: pageOf(report),
    handle: ({ query }, { reports }) => reports.list(query),
  }),
  endpoint({
    ...moderator,
    limit: 'write',
    method: 'POST',
    path: '/api/admin/reports/:id/resolve',
    operationId: 'resolveReport',
    summary: 'Resolve a report with a note for staff',
    params: idParams,
    body: z.object({ note: text({ min: 0, max: 1_000, lines: true }).default('') }),
    answer: report,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: ({ params, body, caller }, { reports }) => reports.resolve(params.id, body.note, caller.session.account),
  }),
]
