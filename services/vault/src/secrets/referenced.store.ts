import { CompiledQuery, sql } from 'kysely'
import type { Pool } from 'pg'
import { anyUuid, type Db } from '../database.ts'
import { referenceRules } from '../integrity/feature-rows.store.ts'
import {
  collectLevels,
  IS_LEVEL,
  LEVEL_CODE,
  LEVELS,
  type LevelRow,
  readProjectsWithoutKeys,
} from '../integrity/rows.store.ts'
import type { CheckedStore } from './reference-checks.ts'
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
      select n::integer, uid as reads, env, is_all
      from unnest($1::uuid[], $2::text[], $3::boolean[]) with ordinality as asked (uid, env, is_all, n)
    ), level as materialized (
      select c.n, c.reads, c.is_all, l.* from place c ${LEVELS} where ${IS_LEVEL}
    ), found as materialized (
      select l.n, l.depth, s.id, s.key, s.version, octet_length(v.blob) as bytes
      from level l
      join secrets s on s.project_uid = l.reads and s.env = l.env
      left join unnest($4::integer[], $5::text[]) as wanted (n, key) on wanted.n = l.n and wanted.key = s.key
      left join secret_versions v on v.secret_id = s.id and v.version = s.version
        and (l.is_all or wanted.n is not null)
    ), problem as materialized (
      select case
        when sum(bytes) > $6::bigint then 'too large'
        when count(*) * ${ROW_COST} + coalesce(sum(bytes), 0) > $7::bigint then 'costly' end as problem
      from found
    )
    select 0 as n, 0 as depth, problem as env, null as parent, null as key, null as number, null as bytes
    from problem where problem is not null
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

/** Runs the statement with its parameters. */
type RunStatement = (values: unknown[]) => Promise<readonly Row[]>

/** Values that others refer to, in Postgres. @param pool runs the statement of fetches */
export function createReferencedStore(db: Db, pool: Pool): ReferencedStore {
  return referencedStore(db, async (values) => (await pool.query<Row>({ ...READ_WANTED, values })).rows)
}

/** The same within a transaction. */
export function referencedStoreOf(trx: Db): CheckedStore {
  return referencedStore(trx, async (values) => {
    const { rows } = await trx.executeQuery<object>(CompiledQuery.raw(READ_WANTED.text, values))
    return rows.map((row) => Object.values(row) as Row)
  })
}

function referencedStore(db: Db, run: RunStatement): CheckedStore {
  return {
    findProjects: (names) => readProjectsWithoutKeys(db, names),

    rulesBetween: (projectUids, readerUids) =>
      referenceRules(db)
        .where('r.project_uid', '=', anyUuid(projectUids))
        .where('r.reader_uid', '=', anyUuid(readerUids))
        .execute(),

    readWanted: async (wanted, { maxBytes, maxCost }) => {
      const pairs = wanted.flatMap(({ keys }, i) => (keys === 'all' ? [] : keys.map((key) => [i + 1, key] as const)))
      const values = [
        wanted.map(({ projectUid }) => projectUid),
        wanted.map(({ env }) => env),
        wanted.map(({ keys }) => keys === 'all'),
        pairs.map(([n]) => n),
        pairs.map(([, key]) => key),
        maxBytes,
        maxCost,
      ]
      const rows = await run(values)
      const found = wanted.map(({ projectUid, env }) => collectLevels(projectUid, env, storedValue))
      for (const [n, depth, env, parent, key, number, bytes] of rows) {
        if (n === 0) return env === 'costly' ? 'costly' : 'too large'
        found[n - 1]?.add(depth, env, parent, key, number, bytes)
      }
      return found
    },

    readersOf: async ({ project: { uid, name }, env }) => {
      const { rows } = await sql<{ env: string }>`
        with recursive reader (env) as (
          select ${env}::text collate "C" where exists (select from secret_references where project_uid = ${uid})
          union
          select next.env from reader r cross join lateral (
            select e.env from environments e where e.project_uid = ${uid} and e.parent = r.env
            union all
            select h.source from secret_references h
            join secrets s on s.id = h.secret_id and s.version = h.version
            where h.project_uid = ${uid} and h.project = ${name} and h.project <> '' and h.env = r.env
          ) as next
        ), level (reader, env) as (
          select env, env from reader
          union
          select l.reader, e.parent from level l
            join environments e on e.project_uid = ${uid} and e.env = l.env and e.parent is not null
        )
        select r.env from reader r
        where exists (
          select from level l
          join secret_references h on h.project_uid = ${uid} and h.source = l.env
          join secrets s on s.id = h.secret_id and s.version = h.version
          where l.reader = r.env
        )
        order by r.env <> ${env}, r.env`.execute(db)
      return rows.map((row) => row.env)
    },
  }
}
