import { sql } from 'kysely'
import { lowestId } from '../audit/audit.store.ts'
import type { Db } from '../database.ts'
import type { ActivityStore, CountedHour } from './activity.ts'

/**
 * Entries by hour in Postgres. Ids start with the time, so an index finds the newest entries. Forged entries may have any
 * id and detail.
 */
export function createActivityStore(db: Db): ActivityStore {
  return {
    countHours: async ({ since, until, projects, max }) => {
      const { projectIds, projectUids } = projects
      const ofNames = projectIds === undefined ? sql`` : sql`and project_id = any(${[...projectIds]}::text[])`
      const ofUids =
        projectUids === undefined ? sql`` : sql`and coalesce(project_uid = any(${[...projectUids]}::uuid[]), true)`
      // The detail of refused requests has their number by code, and the time of the first one.
      const { rows } = await sql<CountedHour>`
        select (floor(extract(epoch from requested_at) / 3600) * 3600000)::bigint as start,
          count(*) as entries,
          count(*) filter (where action = 'fetch') as fetches,
          count(*) filter (where action in ('put', 'delete') and actor like 'key:%') as writes,
          coalesce(sum(
            (select sum(value::bigint) from jsonb_each_text(detail) where key <> 'since' and value ~ '^[0-9]{1,9}$')
          ) filter (where action = 'refused'), 0)::bigint as refused
        from (
          select requested_at, action, actor, case when action = 'refused' then detail end as detail
          from audit
          where id >= ${lowestId(since.getTime())} and id < ${lowestId(until.getTime())} ${ofNames} ${ofUids}
          order by id desc
          limit ${max}
        ) as newest
        group by 1`.execute(db)
      return rows
    },
  }
}
