import type { Db } from '../db/schema.ts'
import type { SeedingDutyStore } from './seeding-duties.ts'

/** Seeding duties from a user's accounting rows, found by the primary key. */
export function createSeedingDutyStore(db: Db): SeedingDutyStore {
  return {
    ofUser: async ({ userId, requiredSeconds, activeSince, limit }) => {
      const rows = await db
        .selectFrom('user_torrents as ut')
        .innerJoin('torrents', 'torrents.id', 'ut.torrent_id')
        .select(['torrents.id', 'name', 'size', 'seed_seconds', 'last_seen_at', 'uploaded_actual', 'downloaded_actual'])
        .select((eb) => [
          eb.ref('completed_at').$notNull().as('completed_at'),
          eb.and([eb('last_state', '=', 'seeder'), eb('last_seen_at', '>', activeSince)]).as('seeding'),
        ])
        .where('user_id', '=', userId)
        .where('completed_at', 'is not', null)
        .where('seed_seconds', '<', requiredSeconds)
        .whereRef('uploaded_actual', '<', 'downloaded_actual')
        .where('deleted_at', 'is', null)
        .orderBy('seeding')
        .orderBy('completed_at', 'desc')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        torrent: { id: row.id, name: row.name, size: row.size },
        seeding: Boolean(row.seeding),
        completed: row.completed_at,
        lastSeen: row.last_seen_at,
        seedSeconds: row.seed_seconds,
        uploaded: row.uploaded_actual,
        downloaded: row.downloaded_actual,
      }))
    },
  }
}
