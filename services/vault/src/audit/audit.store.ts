import { sql } from 'kysely'
import { insertAuditEntries } from '../db/audit-entries.store.ts'
import type { Db } from '../db/schema.ts'
import { ACTIONS, type Action, type AuditStore, type Detail, LISTED_ACTIONS } from './audit.ts'

/** The log in Postgres, with one partition for each month. */
export function createAuditStore(db: Db): AuditStore {
  return {
    list: async ({ projectIds, projectUids, actions, before, limit }) => {
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
        .where('action', 'in', actions)
        .$if(projectIds !== undefined, (query) => query.where('project_id', 'in', projectIds ?? []))
        .$if(projectUids !== undefined, (query) =>
          query.where((eb) => eb.or([eb('project_uid', 'is', null), eb('project_uid', 'in', projectUids ?? [])])),
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

function toAction(text: string): Action {
  const action = ACTIONS.find((known) => known === text)
  if (action === undefined) throw new Error(`the audit log holds the unknown action ${text}`)
  return action
}
