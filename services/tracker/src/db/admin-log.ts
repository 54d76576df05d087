import { newId } from '@vault-and-tracker/service-kit/ids'
import type { AdminDeed } from '../admin-log/admin-log.ts'
import type { Db } from './schema.ts'

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
      before: deed.before && JSON.stringify(deed.before),
      after: deed.after && JSON.stringify(deed.after),
    })
    .execute()
}
