import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { sql } from 'kysely'
import type { Db } from '../database.ts'
import type { AuthenticRows } from '../integrity/rows.ts'
import { payloadOf, type WebhookEvent } from './events.ts'
import type { NewDelivery } from './webhooks.ts'

/** How many deliveries of a webhook are kept, those that wait included. The oldest are dropped. */
const MAX_DELIVERIES = 1_000

/** Inserts an event for every active webhook of a project, in the transaction of the change. */
export async function insertEvent(
  trx: Db,
  rows: Pick<AuthenticRows, 'deliveries'>,
  projectUid: string,
  event: WebhookEvent,
  now: Date,
): Promise<void> {
  const receivers = await trx
    .selectFrom('webhooks')
    .select('id')
    .where('project_uid', '=', projectUid)
    .where('enabled', '=', true)
    .execute()
  for (const { id: webhookId } of receivers) {
    const id = newId()
    const payload = payloadOf(id, event)
    await insertDelivery(trx, rows.deliveries.seal({ id, webhookId, event: event.event, payload, createdAt: now }))
  }
}

/** Inserts a delivery, which is due at once. */
export async function insertDelivery(trx: Db, delivery: NewDelivery): Promise<void> {
  const { id, webhookId, event, payload, createdAt, code } = delivery
  const row = { id, webhook_id: webhookId, event, payload, created_at: createdAt, next_at: createdAt, code }
  await trx.insertInto('webhook_deliveries').values(row).execute()
  await sql`delete from webhook_deliveries where webhook_id = ${webhookId} and id <= (
      select id from webhook_deliveries where webhook_id = ${webhookId} order by id desc offset ${MAX_DELIVERIES} limit 1
    )`.execute(trx)
}
