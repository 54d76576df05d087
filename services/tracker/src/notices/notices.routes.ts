import { z } from 'zod'
import { givenTime, idParams, pageOf, pageQuery, queryFlag, time } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { MAX_NOTICES, MAX_UNREAD, NOTICE_KINDS, type Notices } from './notices.ts'
import type { Reseeds } from './reseeds.ts'

const notice = z
  .object({
    id: z.string(),
    kind: z.enum(NOTICE_KINDS),
    created: time,
    isRead: z.boolean(),
    torrent: z.object({ id: z.string(), name: z.string() }).nullable(),
    times: z.int().meta({ description: 'how often it happened since you read the last notice of this kind and topic' }),
    details: z
      .object({
        reason: z.string(),
        name: z.string().meta({ description: 'name of a deleted torrent or a revoked API token' }),
        fields: z.array(z.string()).meta({ description: 'fields that staff edited' }),
        downloadPercent: z.int(),
        uploadPercent: z.int(),
        scope: z.enum(['site', 'account']).meta({ description: 'what the rates apply to, unless it is the torrent' }),
        username: z.string().meta({ description: 'name of the user who registered with your invite' }),
        search: z.object({ id: z.string(), name: z.string() }).meta({ description: 'the saved search that matches' }),
      })
      .partial(),
  })
  .meta({ id: 'Notice' })

const kinds = z.array(z.enum(NOTICE_KINDS)).max(NOTICE_KINDS.length)
const chosen = {
  muted: kinds.meta({ description: 'kinds that you do not receive' }),
  mailed: kinds.meta({ description: 'kinds that you receive by email too, if the site sends email' }),
}
const settings = z.object(chosen).meta({ id: 'NoticeSettings' })

const endpoint = endpoints<{ notices: Notices; reseeds: Reseeds }>()
const read = { tag: 'notices', method: 'GET', limit: 'read', access: 'member' } as const
/** Members who follow one notice after the other would soon exceed the limit of writes. */
const mark = { tag: 'notices', method: 'POST', limit: 'read', access: 'member', status: 204 } as const

/** The notices of a member. */
export const noticeEndpoints = [
  endpoint({
    ...read,
    path: '/api/notices',
    operationId: 'listNotices',
    summary: `List your notices, newest first; the last ${MAX_NOTICES} are kept`,
    query: pageQuery.safeExtend({ unread: queryFlag.optional() }),
    answer: pageOf(notice),
    handle: ({ query: { unread = false, ...page }, caller }, { notices }) =>
      notices.list(caller.session.account.id, page, unread),
  }),
  endpoint({
    ...read,
    path: '/api/notices/unread',
    operationId: 'countUnreadNotices',
    summary: `Count your unread notices, up to ${MAX_UNREAD}`,
    answer: z.object({ total: z.int(), totalIsExact: z.boolean() }),
    handle: ({ caller }, { notices }) => notices.countUnread(caller.session.account.id),
  }),
  endpoint({
    ...mark,
    path: '/api/notices/read',
    operationId: 'markAllNoticesRead',
    summary: 'Mark all your notices as read, or those up to a time',
    body: z.object({ until: givenTime.optional() }),
    handle: ({ body, caller }, { notices }) => notices.markAllRead(caller.session.account.id, body.until),
  }),
  endpoint({
    ...read,
    path: '/api/notices/settings',
    operationId: 'getNoticeSettings',
    summary: 'List the kinds of notices that you do not receive, or receive by email too',
    answer: settings,
    handle: ({ caller }, { notices }) => notices.settings(caller.session.account.id),
  }),
  endpoint({
    ...read,
    method: 'PATCH',
    limit: 'write',
    path: '/api/notices/settings',
    operationId: 'updateNoticeSettings',
    summary: 'Choose the kinds of notices that you do not receive, or receive by email too',
    body: z.object(chosen).partial(),
    answer: settings,
    handle: ({ body, caller }, { notices }) => notices.change(caller.session.account.id, body),
  }),
  endpoint({
    ...mark,
    path: '/api/notices/:id/read',
    operationId: 'markNoticeRead',
    summary: 'Mark a notice as read',
    params: idParams,
    errors: ['NOT_FOUND'],
    handle: ({ params, caller }, { notices }) => notices.markRead(caller.session.account.id, params.id),
  }),
  endpoint({
    tag: 'torrents',
    method: 'POST',
    limit: 'write',
    access: 'member',
    path: '/api/torrents/:id/reseed',
    operationId: 'requestReseed',
    summary: 'Ask the members who completed a torrent without seeders to seed it',
    params: idParams,
    answer: z.object({ members: z.int().meta({ description: 'number of members who were asked' }) }),
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ params, caller }, { reseeds }) => ({
      members: await reseeds.request(params.id, caller.session.account.id),
    }),
  }),
]
