import { newId } from '@vault-and-tracker/service-kit/ids'
import type { AdminDeed, Fields } from '../admin-log/admin-log.ts'
import type { Db } from './schema.ts'

/** Longer text, such as a description, is cut: the log tells that it changed and how it begins. */
const MAX_TEXT = 500

/**
 * Records what an administrator or moderator did. Stores call it in the transaction of the change, so that neither is
 * there without the other.
 */
export async function recordDeed(trx: Db, deed: AdminDeed): Promise<void> {
  await trx
    .insertInto('admin_log')
    .values({
      id: newId(),
      at: deed.at,
      actor_id: deed.actorId,
      action: deed.action,
      target_type: deed.target.type,
      target_id: deed.target.id,
      target_name: deed.target.name,
      before: deed.before && JSON.stringify(bounded(deed.before)),
      after: deed.after && JSON.stringify(bounded(deed.after)),
    })
    .execute()
}

function bounded(fields: Fields): Fields {
  const entries = Object.entries(fields).map(([name, value]) => [name, cut(value)] as const)
  return Object.fromEntries(entries)
}

function cut(value: Fields[string]): Fields[string] {
  return typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : (value ?? null)
}
