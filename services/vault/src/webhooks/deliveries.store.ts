import { sql } from 'kysely'
import { lowestId } from '../audit/audit.store.ts'
import type { Db } from '../database.ts'
import { webhooks } from '../integrity/feature-rows.store.ts'
import type { ClaimedDelivery, DeliveryStore } from './deliveries.ts'

type ClaimedRow = Omit<ClaimedDelivery, 'webhook' | 'failures'>

/** Deliveries in Postgres. */
export function createDeliveryStore(db: Db): DeliveryStore {
  return {
    claim: (claim) =>
      db.transaction().execute(async (trx) => {
        const { now, leasedUntil, failing, perWebhook, limit, busy } = claim
        const { rows } = await sql<ClaimedRow>`
          with due as (
            select d.webhook_id, min(d.next_at) as next_at from webhook_deliveries d
            where d.next_at <= ${now} and (d.leased_until is null or d.leased_until <= ${now})
            group by d.webhook_id
          ), chosen as (
            select one.id
            from due
            join webhooks w on w.id = due.webhook_id and (w.failures > 0) = ${failing}
              and (w.retry_at is null or w.retry_at <= ${now})
            cross join lateral (
              select d.id from webhook_deliveries d
              where d.webhook_id = w.id and d.next_at <= ${now} and (d.leased_until is null or d.leased_until <= ${now})
                and (w.enabled or d.event = 'webhook.test')
              order by d.next_at, d.id limit ${perWebhook} for update skip locked
            ) as one
            where not w.id = any(${[...busy]}::uuid[])
            order by due.next_at limit ${limit}
          )
          update webhook_deliveries d set leased_until = ${leasedUntil}, attempts = d.attempts + 1
          from chosen where d.id = chosen.id
          returning d.id, d.webhook_id as "webhookId", d.event, d.payload, d.created_at as "createdAt", d.attempts, d.code`.execute(
          trx,
        )
        if (rows.length === 0) return []
        const ids = [...new Set(rows.map(({ webhookId }) => webhookId))]
        const known = await webhooks(trx).select('w.failures').where('w.id', 'in', ids).execute()
        const byId = new Map(known.map(({ failures, ...webhook }) => [webhook.id, { webhook, failures }]))
        return rows.flatMap((row) => {
          const found = byId.get(row.webhookId)
          return found === undefined ? [] : [{ ...row, ...found }]
        })
      }),

    settle: (delivery, attempt, outcome, now) =>
      db.transaction().execute(async (trx) => {
        const isDelivered = outcome.kind === 'delivered'
        const settled = await trx
          .updateTable('webhook_deliveries')
          .set({
            next_at: isDelivered ? null : (outcome.nextAt ?? null),
            leased_until: null,
            delivered_at: isDelivered ? now : null,
            http_status: 'status' in attempt ? attempt.status : null,
            problem: 'problem' in attempt ? attempt.problem : null,
          })
          .where('id', '=', delivery.id)
          // A process that was stopped for longer than its lease leaves the result to the one that claimed it later.
          .where('attempts', '=', delivery.attempts)
          .executeTakeFirst()
        if (settled.numUpdatedRows === 0n) return
        if (isDelivered && delivery.failures > 0) await recover(trx, delivery.webhookId, now)
        if (!isDelivered && outcome.isReceiverDown)
          await trx
            .updateTable('webhooks')
            .set({ failures: sql`failures + 1`, retry_at: outcome.nextAt ?? now })
            .where('id', '=', delivery.webhookId)
            // Attempts that fail at the same time count as one failure.
            .where('failures', '=', delivery.failures)
            .execute()
      }),

    release: async ({ id, attempts }) => {
      await db
        .updateTable('webhook_deliveries')
        .set({ leased_until: null, attempts: sql`attempts - 1` })
        .where('id', '=', id)
        .where('attempts', '=', attempts)
        .execute()
    },

    expire: async ({ waitingSince, loggedSince }) => {
      await db
        .updateTable('webhook_deliveries')
        .set({ next_at: null, leased_until: null })
        .where('next_at', 'is not', null)
        .where('created_at', '<', waitingSince)
        .execute()
      await db.deleteFrom('webhook_deliveries').where('id', '<', lowestId(loggedSince.getTime())).execute()
    },
  }
}

/** The receiver responds again, so its waiting deliveries are due now. */
async function recover(trx: Db, webhookId: string, now: Date): Promise<void> {
  await trx.updateTable('webhooks').set({ failures: 0, retry_at: null }).where('id', '=', webhookId).execute()
  await trx
    .updateTable('webhook_deliveries')
    .set({ next_at: now })
    .where('webhook_id', '=', webhookId)
    .where('next_at', '>', now)
    .execute()
}
