import { type RawBuilder, sql } from 'kysely'
import { isActiveUser } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { notify } from '../notices/notices.store.ts'
import { type ClaimedWebhook, type DeliveryStore, type Pace, SLOW_MS } from './deliveries.ts'
import { WEBHOOK_COLUMNS } from './webhooks.store.ts'
import { shownUrl } from './webhooks.ts'

/** The condition of each pace. */
const PACES: Readonly<Record<Pace, RawBuilder<boolean>>> = {
  quick: sql`failures = 0 and response_ms < ${SLOW_MS}`,
  new: sql`failures = 0 and response_ms is null`,
  slow: sql`(failures > 0 or response_ms >= ${SLOW_MS})`,
}

/** Deliveries in Postgres. */
export function createDeliveryStore(db: Db): DeliveryStore {
  const claimed = ({ id, lease }: ClaimedWebhook) =>
    db.updateTable('webhooks').where('id', '=', id).where('lease', '=', lease)
  const unchanged = (webhook: ClaimedWebhook) =>
    claimed(webhook).where('url', '=', webhook.url).where('format', '=', webhook.format)

  const release = async (webhook: ClaimedWebhook, position: number): Promise<void> => {
    await claimed(webhook)
      .set({ position: atLeast(position), lease: null, leased_until: null })
      .execute()
  }

  return {
    claim: ({ now, leasedUntil, lease, pace, perMember, limit }) =>
      db
        // The turn of a webhook is its place among those of its owner; those under way come first.
        .with('ranked', (eb) =>
          eb
            .selectFrom('webhooks')
            .select('id')
            .select(
              sql<number>`row_number() over (
                partition by coalesce(user_id, id) order by (leased_until > ${now}) is true desc, attempted_at nulls first
              )`.as('turn'),
            )
            .where('enabled', '=', true)
            .where(PACES[pace])
            .where((each) => each.or([each('retry_at', 'is', null), each('retry_at', '<=', now)]))
            .where(sql<boolean>`(leased_until > ${now} or position < (select max(id) from events))`),
        )
        .with('due', (eb) =>
          eb
            .selectFrom('webhooks')
            .innerJoin('ranked', 'ranked.id', 'webhooks.id')
            .leftJoin('users', 'users.id', 'webhooks.user_id')
            .select('webhooks.id')
            .where('ranked.turn', '<=', perMember)
            .where((each) => each.or([each('leased_until', 'is', null), each('leased_until', '<=', now)]))
            .where((each) => each.or([each('webhooks.user_id', 'is', null), isActiveUser]))
            .orderBy('ranked.turn')
            .orderBy(sql`webhooks.attempted_at nulls first`)
            .limit(limit)
            .forUpdate('webhooks')
            .skipLocked(),
        )
        .updateTable('webhooks')
        .from('due')
        .set({ lease, leased_until: leasedUntil })
        .whereRef('webhooks.id', '=', 'due.id')
        .returning(WEBHOOK_COLUMNS)
        .returning(['webhooks.position', 'webhooks.failing_since as failingSince'])
        .execute()
        .then((rows) => rows.map((row) => ({ ...row, lease }))),

    advance: async (webhook, position, leasedUntil, attempt) => {
      const found = await unchanged(webhook)
        .set({ position: atLeast(position), leased_until: leasedUntil })
        .$if(attempt !== undefined, (query) =>
          query
            .set({ failures: 0, failing_since: null, retry_at: null, response_ms: paceAfter(attempt?.responseMs ?? 0) })
            .set({ attempted_at: attempt?.at ?? null, result: attempt?.result ?? null }),
        )
        .returning(['enabled', 'saved_search_id as savedSearch'])
        .executeTakeFirst()
      if (found?.enabled === true && found.savedSearch === webhook.savedSearch) return true
      await release(webhook, position)
      return false
    },

    fail: async (webhook, { at, result, responseMs }, retryAt) => {
      await db.transaction().execute(async (trx) => {
        const failed = await trx
          .updateTable('webhooks')
          .set((eb) => ({
            ...{ attempted_at: at, result, retry_at: retryAt ?? null, response_ms: paceAfter(responseMs) },
            ...{ lease: null, leased_until: null, failures: eb('failures', '+', 1) },
            ...(retryAt === undefined && { enabled: false }),
            failing_since: eb.fn.coalesce('failing_since', eb.val(at)),
          }))
          .where('id', '=', webhook.id)
          .where('lease', '=', webhook.lease)
          .where('url', '=', webhook.url)
          .where('format', '=', webhook.format)
          .returning(['user_id as userId', 'url'])
          .executeTakeFirst()
        if (failed === undefined || retryAt !== undefined) return
        const owners = await trx
          .selectFrom('users')
          .select('id')
          .where((eb) => (failed.userId === null ? eb('role', '=', 'admin') : eb('id', '=', failed.userId)))
          .execute()
        const details = { name: shownUrl(failed.url) }
        await notify(
          trx,
          { actorId: '', at },
          owners.map((owner) => ({ to: owner.id, kind: 'webhook', topic: webhook.id, details })),
        )
      })
      await release(webhook, webhook.position)
    },

    skip: async (webhook, position, { at, result, responseMs }) => {
      // The next event has as many attempts. `failing_since` stays: a receiver that accepts nothing is disabled after a day.
      await unchanged(webhook)
        .set({ position: atLeast(position), failures: 0, retry_at: null, response_ms: paceAfter(responseMs) })
        .set({ attempted_at: at, result, lease: null, leased_until: null })
        .execute()
      await release(webhook, webhook.position)
    },

    release,

    seed: async (initial) => {
      await db
        .insertInto('webhook_keys')
        .values({ id: 1, seed: initial })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      return (await db.selectFrom('webhook_keys').select('seed').executeTakeFirstOrThrow()).seed
    },
  }
}

/** A webhook that was enabled again has skipped events, which its lease must not bring back. */
function atLeast(position: number): RawBuilder<number> {
  return sql`greatest(position, ${position})`
}

/** The slowest response of late: after one of ten seconds, it takes five quick ones until the receiver counts as quick. */
function paceAfter(responseMs: number): RawBuilder<number> {
  return sql`greatest(${responseMs}::integer, response_ms * 7 / 10)`
}
