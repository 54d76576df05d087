import type { Pool } from 'pg'
import { anyUuid, type Db } from '../database.ts'
import { referenceRules } from '../integrity/reference-rows.store.ts'
import {
  collectLevels,
  IS_LEVEL,
  LEVEL_CODE,
  LEVELS,
  type LevelRow,
  readProjectsWithoutKeys,
} from '../integrity/rows.store.ts'
import { type ReferencedStore, ROW_COST } from './resolution.ts'
import { storedValue } from './values.ts'

/**
 * All names of the environments and their ancestors, which their seals cover, but only the wanted values. If they exceed a
 * limit, there is one row instead, which says which.
 */
const READ_WANTED = {
  name: 'read-wanted',
  rowMode: 'array' as const,
  text: `with place as materialized (
      select n::integer, uid as reads, env from unnest($1::uuid[], $2::text[]) with ordinality as asked (uid, env, n)
    ), level as materialized (
      select c.n, c.reads, l.* from place c ${LEVELS} where ${IS_LEVEL}
    ), found as materialized (
      select l.n, l.depth, s.id, s.key, s.version, octet_length(v.blob) as bytes
      from level l
      join secrets s on s.project_uid = l.reads and s.env = l.env
      left join unnest($3::integer[], $4::text[]) as wanted (n, key) on wanted.n = l.n and wanted.key = s.key
      left join secret_versions v on v.secret_id = s.id and v.version = s.version and wanted.n is not null
    ), problem as materialized (
      select case
        when sum(bytes) > $5::bigint then 'too large'
        when count(*) * ${ROW_COST} + coalesce(sum(bytes), 0) > $6::bigint then 'costly' end as problem
      from found
    )
    select 0, 0, problem, null, null, null, null from problem where problem is not null
    union all
    select l.n, l.depth, l.env, l.parent, null, l.revision, ${LEVEL_CODE}
    from level l where (select problem from problem) is null
    union all
    select f.n, f.depth, null, null, f.key, f.version, v.blob
    from found f left join secret_versions v on v.secret_id = f.id and v.version = f.version and f.bytes is not null
    where (select problem from problem) is null`,
}

/** The first number is 0 in the row of a problem, which is in the place of an environment. */
type Row = [n: number, ...LevelRow]

/** Values that others refer to, in Postgres. */
export function createReferencedStore(db: Db, pool: Pool): ReferencedStore {
  return {
    findProjects: (names) => readProjectsWithoutKeys(db, names),

    rulesBetween: (projectUids, readerUids) =>
      referenceRules(db)
        .where('r.project_uid', '=', anyUuid(projectUids))
        .where('r.reader_uid', '=', anyUuid(readerUids))
        .execute(),

    readWanted: async (wanted, { maxBytes, maxCost }) => {
      const pairs = wanted.flatMap(({ keys }, i) => keys.map((key) => [i + 1, key] as const))
      const values = [
        wanted.map(({ projectUid }) => projectUid),
        wanted.map(({ env }) => env),
        pairs.map(([n]) => n),
        pairs.map(([, key]) => key),
        maxBytes,
        maxCost,
      ]
      const { rows } = await pool.query<Row>({ ...READ_WANTED, values })
      const found = wanted.map(({ projectUid, env }) => collectLevels(projectUid, env, storedValue))
      for (const [n, depth, env, parent, key, number, bytes] of rows) {
        if (n === 0) return env === 'costly' ? 'costly' : 'too large'
        found[n - 1]?.add(depth, env, parent, key, number, bytes)
      }
      return found
    },
  }
}
