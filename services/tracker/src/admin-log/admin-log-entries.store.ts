import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Db } from '../db/schema.ts'
import { cutText } from '../releases/search-tokens.ts'
import type { Fields, NewAdminLogEntry } from './admin-log.ts'

/** Longer text, such as a description, is cut. */
const MAX_TEXT = 500

/**
 * Records an action of an administrator or moderator. Stores call it in the transaction of the change, so that both are
 * committed together.
 */
export async function recordAdminAction(trx: Db, entry: NewAdminLogEntry): Promise<void> {
  await trx
    .insertInto('admin_log')
    .values({
      id: newId(),
      at: entry.at,
      actor_id: entry.actorId,
      action: entry.action,
      target_type: entry.target.type,
      target_id: entry.target.id,
      target_name: entry.target.name,
      before: entry.before && JSON.stringify(bounded(entry.before)),
      after: entry.after && JSON.stringify(bounded(entry.after)),
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
