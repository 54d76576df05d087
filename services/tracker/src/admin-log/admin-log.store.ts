import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { countForTotal } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { totalOf } from '../pagination.ts'
import { cutText } from '../releases/search-tokens.ts'
import type {
  ActedBy,
  AdminAction,
  AdminActionEntry,
  AdminLogEntry,
  AdminLogStore,
  Fields,
  StoredAdminLogQuery,
  TargetType,
} from './admin-log.ts'

/** The admin log in Postgres. */
export function createAdminLogStore(db: Db): AdminLogStore {
  return {
    record: ({ actorId, at, ...entry }) => recordAdminAction(db, { actorId, at }, entry),

    list: async (query) => {
      const [counted, items] = await Promise.all([
        countForTotal(db, matching(db, query).select('admin_log.id')),
        pageOf(db, query),
      ])
      return { items, ...totalOf(counted) }
    },
  }
}

function matching(db: Db, { action, target, from, to, actorId }: StoredAdminLogQuery) {
  return db
    .selectFrom('admin_log')
    .where((eb) =>
      eb.and([
        ...(actorId === undefined ? [] : [eb('admin_log.actor_id', '=', actorId)]),
        ...(action === undefined ? [] : [eb('admin_log.action', '=', action)]),
        ...(target === undefined ? [] : [eb('admin_log.target_id', '=', target)]),
        ...(from === undefined ? [] : [eb('admin_log.at', '>=', from)]),
        ...(to === undefined ? [] : [eb('admin_log.at', '<', to)]),
      ]),
    )
}

async function pageOf(db: Db, query: StoredAdminLogQuery): Promise<AdminLogEntry[]> {
  const rows = await matching(db, query)
    .innerJoin('users', 'users.id', 'admin_log.actor_id')
    .selectAll('admin_log')
    .select('users.username')
    .orderBy('admin_log.at', 'desc')
    .orderBy('admin_log.id', 'desc')
    .limit(query.limit)
    .offset((query.page - 1) * query.limit)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    at: row.at,
    actor: { id: row.actor_id, username: row.username },
    action: row.action as AdminAction,
    target: { type: row.target_type as TargetType, id: row.target_id, name: row.target_name },
    before: row.before as Fields | null,
    after: row.after as Fields | null,
  }))
}

/** Longer text, such as a description, is cut. */
const MAX_TEXT = 500

/**
 * Records an action of staff; does nothing without an actor. Stores call it in the transaction of the change, so that both are
 * committed together.
 */
export async function recordAdminAction(
  trx: Db,
  by: ActedBy | undefined,
  { action, target, before = null, after = null }: AdminActionEntry,
): Promise<void> {
  if (by === undefined) return
  await trx
    .insertInto('admin_log')
    .values({
      id: newId(),
      at: by.at,
      actor_id: by.actorId,
      action,
      target_type: target.type,
      target_id: target.id,
      target_name: target.name,
      before: before && JSON.stringify(bounded(before)),
      after: after && JSON.stringify(bounded(after)),
    })
    .execute()
}

function bounded(fields: Fields): Fields {
  const entries = Object.entries(fields).map(([name, value]) => [name, cut(value)] as const)
  return Object.fromEntries(entries)
}

function cut(value: Fields[string]): Fields[string] {
  return typeof value === 'string' && value.length > MAX_TEXT ? `${cutText(value, MAX_TEXT)}…` : (value ?? null)
}
