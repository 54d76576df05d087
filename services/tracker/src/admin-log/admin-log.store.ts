import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { type Selectable, sql } from 'kysely'
import { onPage, readPage, userIdOf } from '../db/queries.store.ts'
import type { AdminLogTable, Db } from '../db/schema.ts'
import { cutText } from '../releases/search-words.ts'
import type {
  ActedBy,
  AdminAction,
  AdminActionEntry,
  AdminLog,
  AdminLogEntry,
  AdminLogFilters,
  Fields,
  TargetType,
} from './admin-log.ts'

/** The admin log in Postgres. */
export function createAdminLog(db: Db): AdminLog {
  const matching = ({ actor, action, target, from, to }: AdminLogFilters) =>
    db
      .selectFrom('admin_log')
      .where((eb) =>
        eb.and([
          ...(actor === undefined ? [] : [eb('actor_id', '=', userIdOf(actor))]),
          ...(action === undefined ? [] : [eb('action', '=', action)]),
          ...(target === undefined ? [] : [eb('target_id', '=', target)]),
          ...(from === undefined ? [] : [eb('at', '>=', from)]),
          ...(to === undefined ? [] : [eb('at', '<', to)]),
        ]),
      )

  const rows = (found: ReturnType<typeof matching>) =>
    found
      .innerJoin('users', 'users.id', 'admin_log.actor_id')
      .selectAll('admin_log')
      .select('users.username')
      .orderBy('admin_log.at', 'desc')
      .orderBy('admin_log.id', 'desc')

  return {
    record: ({ actorId, at, ...entry }) => recordAdminAction(db, { actorId, at }, entry),

    list: async (query) => {
      const found = matching(query)
      const { items, ...rest } = await readPage(
        db,
        query,
        rows(found).$call(onPage(query)),
        found.select('admin_log.id'),
      )
      return { ...rest, items: items.map(toEntry) }
    },

    newest: async (filters, limit, before) => {
      const found = await rows(matching(filters))
        .$if(before !== undefined, (query) =>
          query.where(
            sql<boolean>`(admin_log.at, admin_log.id) < (select at, id from admin_log where id = ${before}::uuid)`,
          ),
        )
        .limit(limit)
        .execute()
      return found.map(toEntry)
    },
  }
}

function toEntry(row: Selectable<AdminLogTable> & { readonly username: string }): AdminLogEntry {
  return {
    id: row.id,
    at: row.at,
    actor: { id: row.actor_id, username: row.username },
    action: row.action as AdminAction,
    target: { type: row.target_type as TargetType, id: row.target_id, name: row.target_name },
    before: row.before as Fields | null,
    after: row.after as Fields | null,
  }
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
