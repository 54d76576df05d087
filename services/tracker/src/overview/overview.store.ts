import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { OverviewStore, SiteCounts } from './overview.ts'

const NOTHING: SiteCounts = { pending: 0, torrents: 0, members: 0, activeMembers: 0, blockedMembers: 0 }

/** Counts in Postgres; torrents are counted by an index alone. */
export function createOverviewStore(db: Db): OverviewStore {
  return {
    counts: async (activeSince) => {
      const { rows } = await sql<SiteCounts>`
          select
            (select count(*) from torrents where state = 'pending' and deleted_at is null) as pending,
            (select count(*) from torrents where state = 'approved' and deleted_at is null) as torrents,
            members, "activeMembers", "blockedMembers"
          from (
            select count(*) as members, count(*) filter (where last_seen_at > ${activeSince}) as "activeMembers",
              count(*) filter (where api_blocked) as "blockedMembers"
            from users
          ) as accounts`.execute(db)
      return rows[0] ?? NOTHING
    },
  }
}
