import { z } from 'zod'
import { type Grant, ROLES, requireAccess, visibleTo } from '../access/administrator.ts'
import { PROJECT_NAME } from '../access/names.ts'
import type { AuditLog } from '../audit/audit.ts'
import { time } from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import type { RecentVerification } from '../integrity/verification.ts'
import { type Activity, RANGES, type Range } from './activity.ts'
import type { Overview } from './overview.ts'

const count = z.int().min(0)

/** The most capable role first. */
const CAPABILITIES = ['holder', ...ROLES] as const

const visibleProjects = z.array(z.string()).nullable().meta({ description: 'null for all projects.' })

function namesOf({ projects, unbound }: Omit<Grant, 'role'>): string[] | null {
  return projects === null ? null : [...projects.map(({ name }) => name), ...unbound]
}

const sealState = z
  .strictObject({
    last: z.strictObject({ sealNo: z.int(), at: time }).nullable(),
    unsealed: count.meta({ description: 'Entries without a seal, counted up to 10,000.' }),
    waitingSince: time.nullable().meta({ description: 'When the oldest entry without a seal was requested.' }),
  })
  .meta({ id: 'SealState' })

const overview = z
  .strictObject({
    projects: count,
    projectsWithoutKey: count,
    secrets: count,
    endingKeys: count.meta({ description: 'Active keys that were replaced, or expire within seven days.' }),
    seal: sealState,
  })
  .meta({ id: 'Overview', description: 'Counts of the projects the administrator has access to.' })

const hourCount = count.nullable().meta({ description: 'null for an hour before the counted entries.' })

const verification = z
  .union([
    z.strictObject({
      intact: z.literal(true),
      rows: count.meta({ description: 'How many entries were checked.' }),
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

/** The signed-in administrator, and the state of the vault. */
export const overviewEndpoints = [
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/me',
    operationId: 'describeAdministrator',
    summary: 'Identify the administrator of the token or the session',
    answer: z
      .strictObject({
        actor: z
          .string()
          .meta({ description: 'As in the audit log: administrator, administrator:<id> or oidc:<subject>.' }),
        role: z.enum(CAPABILITIES).meta({ description: 'holder for ADMIN_TOKEN, otherwise the most capable role.' }),
        projects: visibleProjects,
        grants: z
          .array(z.strictObject({ role: z.enum(CAPABILITIES), projects: visibleProjects }))
          .meta({ description: 'The roles. Someone who signed in may have several.' }),
        session: z
          .strictObject({ name: z.string(), expiresAt: time })
          .nullable()
          .meta({ description: 'The session of the cookie; null with a token.' }),
      })
      .meta({ id: 'SignedInAdministrator' }),
    handle: ({ caller: { actor, grants, session, ...all } }) =>
      Promise.resolve({
        actor,
        role: CAPABILITIES.find((each) => grants.some(({ role }) => role === each)) ?? 'auditor',
        projects: namesOf(all),
        grants: grants.map((grant) => ({ role: grant.role, projects: namesOf(grant) })),
        session: session === undefined ? null : { name: session.name, expiresAt: session.expiresAt.toISOString() },
      }),
  }),
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/overview',
    operationId: 'readOverview',
    summary: 'Count projects, secrets and expiring keys, and show how far the audit log is sealed',
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
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/activity',
    operationId: 'readActivity',
    summary: 'Count requests per hour, for all projects or one',
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
        description: 'Hours, oldest first, based on the newest 250,000 audit entries.',
      }),
    handle: async ({ caller, query: { projectId, range } }, { activity, audit }) => {
      if (projectId !== undefined) requireAccess(caller, projectId)
      const hours = await activity.of(range, visibleTo(caller, projectId))
      await audit.noteRead(caller, { what: 'activity', projectId })
      return { items: hours.map(({ start, ...counts }) => ({ start: start.toISOString(), ...counts })) }
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/audit/verification',
    operationId: 'verifyNewestEntries',
    summary: 'Verify the newest 10,000 audit entries',
    answer: verification,
    handle: async ({ caller }, { recentVerification, audit }) => {
      const verdict = await recentVerification.verify()
      await audit.noteRead(caller, { what: 'verification' })
      if (!verdict.intact) return verdict
      return { ...verdict, since: verdict.since?.toISOString() ?? null }
    },
  }),
]
