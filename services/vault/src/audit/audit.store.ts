import { type ExpressionBuilder, sql } from 'kysely'
import { anyUuid } from '../db/any-uuid.store.ts'
import { insertAuditEntries } from '../db/audit-entries.store.ts'
import type { Db, Schema } from '../db/schema.ts'
import { ACTIONS, type Action, type AuditFilters, type AuditStore, type Detail, LISTED_ACTIONS } from './audit.ts'

/** The log in Postgres, with one partition for each month. */
export function createAuditStore(db: Db): AuditStore {
  return {
    list: async ({ projectIds, projectUids, actions, filters, before, limit }) => {
      const rows = await db
        .selectFrom('audit')
        .select([
          'id',
          'project_id',
          'action',
          'env',
          'requested_at',
          'actor',
          'detail',
          sql<string>`host(ip)`.as('address'),
        ])
        .where((eb) => eb.and(conditionsOf(eb, filters)))
        .where('action', 'in', actions)
        // An administrator may have no project at all, and `in ()` is no SQL.
        .$if(projectIds !== undefined, (query) =>
          query.where('project_id', '=', sql<string>`any(${[...(projectIds ?? [])]}::text[])`),
        )
        .$if(projectUids !== undefined, (query) =>
          query.where((eb) =>
            eb.or([eb('project_uid', 'is', null), eb('project_uid', '=', anyUuid(projectUids ?? []))]),
          ),
        )
        // The number is the database's: whoever may add entries could choose an id that stays the newest for ever.
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
          actor: row.actor,
          ...(LISTED_ACTIONS.includes(action) ? {} : { detail: row.detail as Detail | null }),
        }
      })
    },

    append: (entries) =>
      insertAuditEntries(
        db,
        entries.map(({ entry, projectId }) => ({ entry, project: { uid: null, name: projectId } })),
      ),

    ensurePartitions: async () => {
      await sql`select audit_ensure_partitions()`.execute(db)
    },
  }
}

/** The first id of a day earlier spares older partitions: an id has the time of its process, an entry that of its request. */
function conditionsOf(eb: ExpressionBuilder<Schema, 'audit'>, { actor, env, key, since }: AuditFilters) {
  return [
    ...(actor === undefined ? [] : [eb('actor', '=', actor)]),
    ...(env === undefined ? [] : [eb('env', '=', env)]),
    ...(key === undefined ? [] : [eb(sql<string>`detail->>'key'`, '=', key)]),
    ...(since === undefined
      ? []
      : [eb('requested_at', '>=', since), eb('id', '>=', firstIdOf(since.getTime() - DAY_MS))]),
  ]
}

const DAY_MS = 86_400_000

/** A UUIDv7 begins with its time. */
function firstIdOf(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

function toAction(text: string): Action {
  const action = ACTIONS.find((known) => known === text)
  if (action === undefined) throw new Error(`the audit log holds the unknown action ${text}`)
  return action
}
