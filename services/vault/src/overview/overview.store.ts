import { sql } from 'kysely'
import { anyUuid, type Db } from '../database.ts'
import type { OverviewStore } from './overview.ts'

/** The reads of the overview in Postgres. */
export function createOverviewStore(db: Db): OverviewStore {
  return {
    countSecrets: async (projectUids) => {
      const { count } = await db
        .selectFrom('secrets')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .$if(projectUids !== undefined, (query) => query.where('project_uid', '=', anyUuid(projectUids ?? [])))
        .executeTakeFirstOrThrow()
      return count
    },

    sealState: async (max) => {
      const last = await db
        .selectFrom('audit_seals')
        .select(['seal_no', 'sealed_at', 'position'])
        .orderBy('seal_no', 'desc')
        .limit(1)
        .executeTakeFirst()
      const { rows } = await sql<{ unsealed: number; since: Date | null }>`
        select count(*) as unsealed, min(requested_at) as since
        from (
          select requested_at from audit where seq > ${last?.position ?? 0} order by seq limit ${max}
        ) as waiting`.execute(db)
      return {
        last: last === undefined ? null : { sealNo: last.seal_no, at: last.sealed_at },
        unsealed: rows[0]?.unsealed ?? 0,
        waitingSince: rows[0]?.since ?? null,
      }
    },
  }
}
