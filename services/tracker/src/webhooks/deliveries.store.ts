import { sql } from 'kysely'
import { isActiveUser } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { notify } from '../notices/notices.store.ts'
import type { DeliveryStore } from './deliveries.ts'
import { WEBHOOK_COLUMNS } from './webhooks.store.ts'
import { shownUrl } from './webhooks.ts'

/** Deliveries in Postgres. */
export function createDeliveryStore(db: Db): DeliveryStore {
  return {
    claim: ({ now, leasedUntil, lease, failing, limit }) =>
      db
        .with('due', (eb) =>
          eb
            .selectFrom('webhooks')
            .leftJoin('users', 'users.id', 'webhooks.user_id')
            .select('webhooks.id')
            .where('enabled', '=', true)
            .where('failures', failing ? '>' : '=', 0)
            .where((each) => each.or([each('retry_at', 'is', null), each('retry_at', '<=', now)]))
            .where((each) => each.or([each('leased_until', 'is', null), each('leased_until', '<=', now)]))
            .where(sql<boolean>`webhooks.position < (select max(id) from events)`)
            .where((each) => each.or([each('webhooks.user_id', 'is', null), isActiveUser]))
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

    advance: async (lease, id, position, leasedUntil, attempt) => {
      const { numUpdatedRows } = await db
        .updateTable('webhooks')
        .set({ position, leased_until: leasedUntil })
        .$if(attempt !== undefined, (query) =>
          query
            .set({ failures: 0, failing_since: null, retry_at: null })
            .set({ attempted_at: attempt?.at ?? null, result: attempt?.result ?? null }),
        )
        .where('id', '=', id)
        .where('lease', '=', lease)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    fail: (lease, id, { at, result }, retryAt) =>
      db.transaction().execute(async (trx) => {
        const failed = await trx
          .updateTable('webhooks')
          .set((eb) => ({
            ...{ attempted_at: at, result, retry_at: retryAt ?? null, enabled: retryAt !== undefined },
            ...{ lease: null, leased_until: null, failures: eb('failures', '+', 1) },
            failing_since: eb.fn.coalesce('failing_since', eb.val(at)),
          }))
          .where('id', '=', id)
          .where('lease', '=', lease)
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
          owners.map((owner) => ({ to: owner.id, kind: 'webhook', topic: id, details })),
        )
      }),

    release: async (lease, id) => {
      await db
        .updateTable('webhooks')
        .set({ lease: null, leased_until: null })
        .where('id', '=', id)
        .where('lease', '=', lease)
        .execute()
    },

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
