import { z } from 'zod'
import { ROLES, requireProject, visibleTo } from '../admin/permissions.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { time } from '../http/fields.ts'
import { endpoints } from '../http/surface.ts'
import { PROJECT_NAME } from '../projects/projects.ts'
import { type Activity, RANGES, type Range } from './activity.ts'
import type { Overview } from './overview.ts'
import type { RecentVerification } from './recent-verification.ts'

const count = z.int().min(0)

const sealState = z
  .strictObject({
    last: z.strictObject({ sealNo: z.int(), at: time }).nullable(),
    unsealed: count.meta({ description: 'entries that wait for a seal, counted up to 10,000' }),
    waitingSince: time.nullable().meta({ description: 'the request of the entry that has waited longest' }),
  })
  .meta({ id: 'SealState' })

const overview = z
  .strictObject({
    projects: count,
    projectsWithoutKey: count,
    secrets: count,
    endingKeys: count.meta({ description: 'valid keys that were replaced and end within ten minutes' }),
    seal: sealState,
  })
  .meta({ id: 'Overview', description: 'Numbers of the projects that the administrator may touch' })

const hourCount = count.nullable().meta({ description: 'null for an hour before the newest entries that are counted' })

const verification = z
  .union([
    z.strictObject({
      intact: z.literal(true),
      rows: count.meta({ description: 'how many entries were checked' }),
      sealNo: count,
      since: time.nullable(),
    }),
    z.strictObject({
      intact: z.literal(false),
      problem: z.string(),
      seq: z.int().optional(),
      id: z.string().optional(),
    }),
  ])
  .meta({ id: 'RecentVerification' })

type UseCases = {
  audit: AuditLog
  overview: Overview
  activity: Activity
  recentVerification: RecentVerification
}

const endpoint = endpoints<UseCases>()
const admin = { tag: 'administration', access: 'admin', limit: 'none' } as const

/** What the console shows besides: who is signed in, and the state of the vault in numbers. Nothing here changes anything. */
export const consoleEndpoints = [
  endpoint({
    ...admin,
    method: 'GET',
    path: '/v1/admin/me',
    operationId: 'describeAdministrator',
    summary: 'Whose admin token this is',
    answer: z
      .strictObject({
        actor: z.string().meta({ description: 'as in the audit log: administrator, or administrator:<id>' }),
        role: z
          .enum(['holder', ...ROLES])
          .meta({ description: 'holder of ADMIN_TOKEN, or that of a named administrator' }),
        projects: z.array(z.string()).nullable().meta({ description: 'null for all' }),
      })
      .meta({ id: 'SignedInAdministrator' }),
    handle: ({ caller: { actor, role, projects, unbound } }) =>
      Promise.resolve({
        ...{ actor, role },
        projects: projects === null ? null : [...projects.map(({ name }) => name), ...unbound],
      }),
  }),
  endpoint({
    ...admin,
    method: 'GET',
    path: '/v1/admin/overview',
    operationId: 'readOverview',
    summary: 'Counts of projects, secrets and keys that end, and how far the audit log is sealed',
    answer: overview,
    handle: async ({ caller }, { overview, audit }) => {
      const { seal, ...counts } = await overview.of(caller)
      await audit.noteRead(caller, { what: 'overview' })
      return {
        ...counts,
        seal: {
          last: seal.last && { sealNo: seal.last.sealNo, at: seal.last.at.toISOString() },
          unsealed: seal.unsealed,
          waitingSince: seal.waitingSince?.toISOString() ?? null,
        },
      }
    },
  }),
  endpoint({
    ...admin,
    method: 'GET',
    path: '/v1/admin/activity',
    operationId: 'readActivity',
    summary: 'Requests by hour, of all projects or of one',
    query: z.object({
      projectId: z.string().regex(PROJECT_NAME, 'must be the name of a project').optional(),
      range: z.enum(Object.keys(RANGES) as [Range, ...Range[]], 'must be 24h or 7d').default('24h'),
    }),
    answer: z
      .strictObject({
        items: z.array(z.strictObject({ start: time, fetches: hourCount, writes: hourCount, refused: hourCount })),
      })
      .meta({
        id: 'Activity',
        description: 'Whole hours, oldest first; of the newest 250,000 entries of the audit log',
      }),
    handle: async ({ caller, query: { projectId, range } }, { activity, audit }) => {
      if (projectId !== undefined) requireProject(caller, projectId)
      const hours = await activity.of(range, visibleTo(caller, projectId))
      await audit.noteRead(caller, { what: 'activity', ...(projectId !== undefined && { projectId }) })
      return { items: hours.map(({ start, ...counts }) => ({ start: start.toISOString(), ...counts })) }
    },
  }),
  endpoint({
    ...admin,
    method: 'GET',
    path: '/v1/admin/audit/verification',
    operationId: 'verifyNewestEntries',
    summary: 'Check the newest 10,000 entries of the audit log against its chain',
    answer: verification,
    handle: async ({ caller }, { recentVerification, audit }) => {
      const verdict = await recentVerification.verify()
      await audit.noteRead(caller, { what: 'verification' })
      if (!verdict.intact) return verdict
      return { ...verdict, since: verdict.since?.toISOString() ?? null }
    },
  }),
]
