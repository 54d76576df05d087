import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { EventStore } from './events.ts'

/** Events in Postgres. */
export function createEventStore(db: Db): EventStore {
  return {
    newest: () => newestEvent(db),

    after: (id, limit) =>
      db
        .selectFrom('events')
        .select(['id', 'torrent_id as torrentId'])
        .where('id', '>', id)
        .orderBy('id')
        .limit(limit)
        .execute(),

    hasExpired: async (id) => {
      const row = await db
        .selectFrom('events')
        .select((eb) => eb.fn.min('id').as('oldest'))
        .executeTakeFirst()
      // Ids that were never used look the same.
      return row?.oldest == null || row.oldest > id + 1
    },

    expire: async (before, most) => {
      await db
        .deleteFrom('events')
        .where((eb) =>
          eb.or([
            eb('created_at', '<', before),
            eb('id', '<=', sql<number>`(select id from events order by id desc offset ${most} limit 1)`),
          ]),
        )
        .execute()
    },
  }
}

/** The id of the newest event; 0 if there is none. */
export async function newestEvent(db: Db): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('id').as('id'))
    .executeTakeFirst()
  return row?.id ?? 0
}

/**
 * Inserts the event of a first approval. It has to be the last statement of its transaction: until the commit, others that
 * insert one wait.
 */
export async function insertEvent(trx: Db, torrentId: string, at: Date): Promise<void> {
  // Released after the commit is visible.
  await sql`select pg_advisory_xact_lock(hashtext('events'))`.execute(trx)
  await trx.insertInto('events').values({ torrent_id: torrentId, created_at: at }).execute()
}
