import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { ActivityStore } from './activity.ts'

/** The transfers of users as written by the accounting, in Postgres. */
export function createActivityStore(db: Db): ActivityStore {
  return {
    async countForUser(userId, activeSince) {
      const [taken, uploads] = await Promise.all([
        db
          .selectFrom('user_torrents')
          .select((eb) => {
            const active = (state: 'seeder' | 'leecher') =>
              eb.and([eb('last_state', '=', state), eb('last_seen_at', '>', activeSince)])
            return [
              eb.fn.countAll<number>().filterWhere(active('seeder')).as('seeding'),
              eb.fn.countAll<number>().filterWhere(active('leecher')).as('leeching'),
              eb.fn.count<number>('completed_at').as('completed'),
              sql<number>`coalesce(sum(seed_seconds), 0)::bigint`.as('seedSeconds'),
            ]
          })
          .where('user_id', '=', userId)
          .executeTakeFirstOrThrow(),
        db
          .selectFrom('torrents')
          .select((eb) => eb.fn.countAll<number>().as('torrents'))
          .where('uploader_id', '=', userId)
          .where('deleted_at', 'is', null)
          .executeTakeFirstOrThrow(),
      ])
      return { ...taken, ...uploads }
    },

    transfersSince: (userId, day) =>
      db
        .selectFrom('user_days')
        .select(['uploaded', 'downloaded', 'uploaded_actual as uploadedActual'])
        .select(['downloaded_actual as downloadedActual', sql<string>`day::text`.as('day')])
        .where('user_id', '=', userId)
        .where('day', '>=', day)
        .orderBy('day')
        .execute(),
  }
}
