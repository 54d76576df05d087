import { sql } from 'kysely'
import { anyUuid, type Db } from '../database.ts'
import { hasReferences } from '../secrets/secrets.store.ts'
import type { ExpiryCounts, ExpiryStore } from './expiry.ts'

/** The expiry of secrets in Postgres, found by a partial index. */
export function createExpiryStore(db: Db): ExpiryStore {
  return {
    listUntil: async (until, projects, limit) => {
      const rows = await db
        .selectFrom('secrets as s')
        .innerJoin('projects as p', 'p.uid', 's.project_uid')
        .select(['s.id', 'p.name as project', 's.env', 's.key', 's.note', 's.owner', 's.expires_at as expiresAt'])
        .select(hasReferences('s').as('references'))
        .where('s.expires_at', '<=', until)
        .$if(projects !== null, (query) => query.where('p.uid', '=', anyUuid((projects ?? []).map(({ uid }) => uid))))
        .orderBy('s.expires_at')
        .orderBy('s.id')
        .limit(limit)
        .$narrowType<{ expiresAt: Date }>()
        .execute()
      return rows.map(({ note, owner, references, ...row }) => ({
        ...{ ...row, ...(references && { references: true as const }) },
        ...(note !== null && { note }),
        ...(owner !== null && { owner }),
      }))
    },

    count: async ({ now, within7Days, within30Days }, max) => {
      const { rows } = await sql<ExpiryCounts>`
        select count(*) filter (where expires_at <= ${now}) as overdue,
          count(*) filter (where expires_at > ${now} and expires_at <= ${within7Days}) as "7d",
          count(*) filter (where expires_at > ${now}) as "30d"
        from (
          select expires_at from secrets where expires_at <= ${within30Days} order by expires_at limit ${max}
        ) as earliest`.execute(db)
      return rows[0] ?? { overdue: 0, '7d': 0, '30d': 0 }
    },
  }
}
