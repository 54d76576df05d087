import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import type { ActedBy, AdminAction } from '../admin-log/admin-log.ts'
import { hasSavedSearch, lockUser } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { newestEvent } from '../events/events.store.ts'
import { shownUrl, type Webhook, type WebhookStore } from './webhooks.ts'

export const WEBHOOK_COLUMNS = [
  ...(['webhooks.id', 'webhooks.user_id as userId', 'webhooks.url', 'webhooks.format'] as const),
  ...(['webhooks.saved_search_id as savedSearch', 'webhooks.enabled', 'webhooks.created_at as created'] as const),
  ...(['webhooks.failures', 'webhooks.retry_at as retryAt'] as const),
  ...(['webhooks.attempted_at as attempted', 'webhooks.result'] as const),
] as const

/** Webhooks in Postgres. */
export function createWebhookStore(db: Db): WebhookStore {
  const ownedBy = (from: Db, userId: string | null) =>
    from
      .selectFrom('webhooks')
      .select(WEBHOOK_COLUMNS)
      .where('user_id', userId === null ? 'is' : '=', userId)

  return {
    add: (webhook, most, by) =>
      db.transaction().execute(async (trx) => {
        // Of the site, the administrator who adds one.
        await lockUser(trx, webhook.userId ?? by?.actorId ?? '')
        if ((await ownedBy(trx, webhook.userId).execute()).length >= most) return 'full'
        if (!(await hasSavedSearch(trx, webhook.userId, webhook.savedSearch))) return 'unknown saved search'
        await trx
          .insertInto('webhooks')
          .values({
            ...{ id: webhook.id, user_id: webhook.userId, url: webhook.url, format: webhook.format },
            ...{ saved_search_id: webhook.savedSearch, enabled: true, created_at: webhook.created },
            position: await newestEvent(trx),
          })
          .execute()
        await record(trx, by, 'webhook.add', webhook)
        return 'done'
      }),

    listBy: (userId) => ownedBy(db, userId).orderBy('id').execute(),

    find: (id, userId) => ownedBy(db, userId).where('id', '=', id).executeTakeFirst(),

    change: (id, userId, changes, by) =>
      db.transaction().execute(async (trx) => {
        const before = await ownedBy(trx, userId).where('id', '=', id).forUpdate().executeTakeFirst()
        if (before === undefined) return 'unknown'
        if (!(await hasSavedSearch(trx, userId, changes.savedSearch ?? null))) return 'unknown saved search'
        const { url = before.url, format = before.format, enabled = before.enabled } = changes
        const savedSearch = changes.savedSearch === undefined ? before.savedSearch : changes.savedSearch
        const isMoved = url !== before.url || format !== before.format
        // The lease stays, so that an attempt under way is not repeated.
        await trx
          .updateTable('webhooks')
          .set({ url, format, enabled, saved_search_id: savedSearch })
          .set(isMoved ? { failures: 0, failing_since: null, retry_at: null, response_ms: null } : {})
          .set(enabled && !before.enabled ? { position: await newestEvent(trx), failing_since: null } : {})
          .where('id', '=', id)
          .execute()
        await record(trx, by, 'webhook.change', { id, url })
        return 'done'
      }),

    remove: (id, userId, by) =>
      db.transaction().execute(async (trx) => {
        const removed = await trx
          .deleteFrom('webhooks')
          .where('id', '=', id)
          .where('user_id', userId === null ? 'is' : '=', userId)
          .returning(['id', 'url'])
          .executeTakeFirst()
        if (removed !== undefined) await record(trx, by, 'webhook.remove', removed)
        return removed !== undefined
      }),
  }
}

/** Records that an administrator changed a webhook of the site. */
async function record(
  trx: Db,
  by: ActedBy | undefined,
  action: AdminAction,
  { id, url }: Pick<Webhook, 'id' | 'url'>,
): Promise<void> {
  if (by) await recordAdminAction(trx, by, { action, target: { type: 'webhook', id, name: shownUrl(url) } })
}
