import { isId } from '@vault-and-tracker/service-kit/ids'
import { type ExpressionBuilder, sql } from 'kysely'
import { recordAdminAction } from '../db/admin-log.ts'
import type { Db, Schema } from '../db/schema.ts'
import { MAX_EXACT_TOTAL, totalOf } from '../lists/total.ts'
import type { AdminLog, AdminLogEntry, AdminLogQuery } from './admin-log.ts'

/** The admin log in Postgres. */
export function createAdminLog(db: Db): AdminLog {
  return {
    record: (entry) => recordAdminAction(db, entry),

    list: async (query) => {
      const actorId = query.actor === undefined ? undefined : await findActor(db, query.actor)
      if (query.actor !== undefined && actorId === undefined) return { items: [], ...totalOf(0) }
      const [counted, items] = await Promise.all([count(db, query, actorId), pageOf(db, query, actorId)])
      return { items, ...totalOf(counted) }
    },
  }
}

async function findActor(db: Db, actor: string): Promise<string | undefined> {
  if (isId(actor)) return actor
  const row = await db
    .selectFrom('users')
    .select('id')
    .where(sql<string>`lower(username)`, '=', actor.toLowerCase())
    .executeTakeFirst()
  return row?.id
}

function matches(
  eb: ExpressionBuilder<Schema, 'admin_log'>,
  { action, target, from, to }: AdminLogQuery,
  actorId: string | undefined,
) {
  return eb.and([
    ...(actorId === undefined ? [] : [eb('admin_log.actor_id', '=', actorId)]),
    ...(action === undefined ? [] : [eb('admin_log.action', '=', action)]),
    ...(target === undefined ? [] : [eb('admin_log.target_id', '=', target)]),
    ...(from === undefined ? [] : [eb('admin_log.at', '>=', from)]),
    ...(to === undefined ? [] : [eb('admin_log.at', '<', to)]),
  ])
}

async function count(db: Db, query: AdminLogQuery, actorId: string | undefined): Promise<number> {
  const { counted } = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('admin_log')
        .select('admin_log.id')
        .where((each) => matches(each, query, actorId))
        .limit(MAX_EXACT_TOTAL + 1)
        .as('found'),
    )
    .select((eb) => eb.fn.countAll<number>().as('counted'))
    .executeTakeFirstOrThrow()
  return counted
}

async function pageOf(db: Db, query: AdminLogQuery, actorId: string | undefined): Promise<AdminLogEntry[]> {
  const rows = await db
    .selectFrom('admin_log')
    .innerJoin('users', 'users.id', 'admin_log.actor_id')
    .selectAll('admin_log')
    .select('users.username')
    .where((eb) => matches(eb, query, actorId))
    .orderBy('admin_log.at', 'desc')
    .orderBy('admin_log.id', 'desc')
    .limit(query.limit)
    .offset((query.page - 1) * query.limit)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    at: row.at,
    actor: { id: row.actor_id, username: row.username },
    action: row.action,
    target: { type: row.target_type, id: row.target_id, name: row.target_name },
    before: row.before,
    after: row.after,
  }))
}
