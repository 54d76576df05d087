import { type ExpressionBuilder, sql } from 'kysely'
import pg from 'pg'
import { DEFAULT_KEY } from '../access/names.ts'
import { anyUuid, type Db, type Schema } from '../database.ts'
import {
  ACTIONS,
  type Action,
  type AuditQuery,
  type AuditStore,
  type Detail,
  type EntryOfProject,
  type NewEntry,
  readActor,
} from './audit.ts'

/** The log in Postgres, with one partition for each month. */
export function createAuditStore(db: Db): AuditStore {
  return {
    list: async ({ projectIds, projectUids, actions, filters, before, limit }) => {
      const rows = await db
        .selectFrom('audit')
        .select(['id', 'project_id', 'action', 'env', 'requested_at', 'actor', 'detail'])
        .select(sql<string>`host(ip)`.as('address'))
        .where((eb) => eb.and(conditionsOf(eb, filters)))
        .where('action', 'in', actions)
        // Unlike `in`, `any` accepts an empty list, which an administrator without a project has.
        .$if(projectIds !== undefined, (query) =>
          query.where('project_id', '=', sql<string>`any(${[...(projectIds ?? [])]}::text[])`),
        )
        .$if(projectUids !== undefined, (query) =>
          query.where((eb) =>
            eb.or([eb('project_uid', 'is', null), eb('project_uid', '=', anyUuid(projectUids ?? []))]),
          ),
        )
        // Postgres assigns the number. A forged entry could have an id that stays the newest forever.
        .$if(before !== undefined, (query) =>
          query.where('seq', '<', (eb) =>
            eb
              .selectFrom('audit as b')
              .select('b.seq')
              .where('b.id', '=', before ?? ''),
          ),
        )
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      return rows.map((row) => {
        const action = toAction(row.action)
        return {
          id: row.id,
          projectId: row.project_id,
          action,
          env: row.env,
          requestedAt: row.requested_at,
          address: row.address,
          ...readActor(row.actor),
          ...(action === 'fetch' ? {} : { detail: row.detail as Detail | null }),
        }
      })
    },

    append: (entries) => insertAuditEntries(db, entries),

    ensurePartitions: async () => {
      await sql`select audit_ensure_partitions()`.execute(db)
    },
  }
}

/** Inserts an entry in the transaction of the change it records. */
export async function insertAuditEntry(trx: Db, entry: NewEntry, project: EntryOfProject['project']): Promise<void> {
  await insertAuditEntries(trx, [{ entry, project }])
}

/** Postgres limits the number of parameters of a statement. */
const MAX_PER_STATEMENT = 1_000

/** Inserts entries, in as few statements as possible. */
export async function insertAuditEntries(trx: Db, entries: readonly EntryOfProject[]): Promise<void> {
  const rows = entries.map(({ entry, project }) => ({
    id: entry.id,
    project_uid: project.uid,
    project_id: project.name,
    action: entry.action,
    env: entry.env,
    requested_at: entry.requestedAt,
    ip: entry.address,
    actor: entry.actor,
    detail: entry.detail === null ? null : JSON.stringify(entry.detail),
  }))
  for (let start = 0; start < rows.length; start += MAX_PER_STATEMENT)
    await trx
      .insertInto('audit')
      .values(rows.slice(start, start + MAX_PER_STATEMENT))
      .execute()
}

/** Without the name of a key. Only keys have one: the subject of an OIDC provider may contain a slash. */
const ACTOR = sql<string>`case when actor like 'key:%' then split_part(actor, '/', 1) else actor end`

/** The lowest id of a day before or after excludes other partitions; an id has the time of the process, an entry that of its request. */
function conditionsOf(eb: ExpressionBuilder<Schema, 'audit'>, filters: AuditQuery['filters']) {
  const { actor, keyName, env, key, since, until } = filters
  return [
    ...(actor === undefined ? [] : [eb(ACTOR, '=', actor)]),
    ...(keyName === undefined
      ? []
      : [eb('actor', 'like', 'key:%'), eb(sql<string>`split_part(actor, '/', 2)`, '=', storedName(keyName))]),
    ...(env === undefined ? [] : [eb('env', '=', env)]),
    ...(key === undefined ? [] : [eb(sql<string>`detail->>'key'`, '=', key)]),
    ...(since === undefined
      ? []
      : [eb('requested_at', '>=', since), eb('id', '>=', lowestId(since.getTime() - DAY_MS))]),
    ...(until === undefined ? [] : [eb('requested_at', '<', until), eb('id', '<', lowestId(until.getTime() + DAY_MS))]),
  ]
}

/** Actors do not contain the name `default`. */
const storedName = (keyName: string): string => (keyName === DEFAULT_KEY ? '' : keyName)

const DAY_MS = 86_400_000

/** The lowest UUIDv7 of a time (RFC 9562 section 5.7). */
export function lowestId(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

function toAction(text: string): Action {
  const action = ACTIONS.find((known) => known === text)
  if (action === undefined) throw new Error(`the audit log contains the unknown action ${text}`)
  return action
}

/**
 * Whether Postgres refused a value of a statement, such as a NUL, an invalid address, or a text too long for an index
 * (SQLSTATE classes 22, 23 and 54). The same statement fails every time.
 */
export function isRefusedValue(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(22|23|54)/.test(error.code ?? '')
}
