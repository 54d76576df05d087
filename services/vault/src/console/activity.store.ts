import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { ActivityStore, CountedHour } from './activity.ts'

/**
 * Entries by hour in Postgres. Their ids begin with their time, so an index finds the newest of a time. Forged ones may
 * have any id, and any detail of a name and a value.
 */
export function createActivityStore(db: Db): ActivityStore {
  return {
    countHours: async ({ since, until, projects, most }) => {
      const { projectIds, projectUids } = projects
      const ofNames = projectIds === undefined ? sql`` : sql`and project_id = any(${[...projectIds]}::text[])`
      const ofUids =
        projectUids === undefined ? sql`` : sql`and coalesce(project_uid = any(${[...projectUids]}::uuid[]), true)`
      // The detail of refused requests is their number by code, and the time of the first.
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
          where id >= ${lowestIdOf(since)} and id < ${lowestIdOf(until)} ${ofNames} ${ofUids}
          order by id desc
          limit ${most}
        ) as newest
        group by 1`.execute(db)
      return rows
    },
  }
}

/** The smallest UUIDv7 of a time (RFC 9562 section 5.7). */
function lowestIdOf(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
