import type { Pool } from 'pg'
import {
  collectLevels,
  forKeysOfCallers,
  IS_LEVEL,
  LEVEL_CODE,
  LEVELS,
  type LevelRow,
} from '../integrity/rows.store.ts'
import type { StoredEnvironment } from '../integrity/rows.ts'
import type { Stale } from '../secrets/secrets.ts'
import type { StateStore, StoredState } from './changes.ts'
import type { ReferredPlace } from './history.ts'

/**
 * Reads the states of the environments of several callers. It is like the statement of fetches, without values and audit
 * entries: a caller whose key or project is no longer valid gets no row, and of callers with the same environment, only the
 * first one gets its rows. Names of secrets are only read if the codes of the environment and its ancestors are not the
 * known ones.
 */
const readStatement = forKeysOfCallers(7, (keys) => ({
  name: `read-states${keys.suffix}`,
  rowMode: 'array' as const,
  text: `with caller as materialized (
      select asked.*,
        case when row_number() over (partition by asked.uid, asked.env order by asked.n) = 1 then asked.uid end as reads
      from unnest($1::uuid[], $2::bytea[], $3::timestamptz[], $4::text[], $5::bigint[], $6::bytea[]
        ${keys.parameters})
        with ordinality as asked (uid, public_key, now, env, generation, known${keys.columns}, n)
      join projects p on p.uid = asked.uid and p.generation = asked.generation
        and p.generation >= (select m.number from high_water_marks m where m.id = p.uid and m.subject = 'project')
      ${keys.join}
    ), level as materialized (
      select l.n, l.reads, l.depth, l.env, l.parent, l.revision, ${LEVEL_CODE} as code, l.known
      from (select c.n::integer as n, c.reads, c.known, l.* from caller c ${LEVELS} where ${IS_LEVEL}) as l
    ), state as materialized (
      select n, known is not distinct from string_agg(code, ''::bytea order by depth) and known is not null as is_known
      from level group by n, known
    )
    select l.n, l.reads is null or s.is_known,
      exists (select from secret_references r where r.project_uid = l.reads and r.source = l.env),
      l.depth, l.env, l.parent, null, l.revision, l.code
    from level l join state s on s.n = l.n
    union all
    select l.n, null, null, l.depth, null, null, s.key, s.version, null
    from level l
    join state on state.n = l.n and not state.is_known
    join secrets s on s.project_uid = l.reads and s.env = l.env`,
}))

/** The rows of secrets have nulls. */
type ReadStatesRow = [n: number, isKnown: boolean | null, refers: boolean | null, ...LevelRow]

type StoredVersion = StoredEnvironment['current'][number]

const storedVersion = (key: string, version: number): StoredVersion => ({ key, version })

/**
 * The environments that environments read in any way, with their codes: those they inherit from, those their values refer
 * to, and so on. Of those they inherit from, and of their own, it also returns the keys of values with references.
 */
const READ_REFERENCES = {
  name: 'read-references',
  rowMode: 'array' as const,
  text: `with recursive read (n, uid, env, is_level) as (
      select n::integer, uid, env, true from unnest($1::uuid[], $2::text[] collate "C") with ordinality as asked (uid, env, n)
      union
      select d.n, t.uid, t.env, t.is_level from read d cross join lateral (
        select e.project_uid as uid, e.parent as env, d.is_level from environments e
        where e.project_uid = d.uid and e.env = d.env and e.parent is not null
        union all
        select p.uid, r.env, false from (
          select distinct r.project, r.env from secret_references r
          join secrets s on s.id = r.secret_id and s.version = r.version
          where r.project_uid = d.uid and r.source = d.env
        ) as r
        join projects p on p.name = r.project
      ) as t
    )
    select d.n, d.uid, d.env, null, e.code
    from (select distinct n, uid, env from read) as d
    left join environments e on e.project_uid = d.uid and e.env = d.env
    union all
    select d.n, d.uid, d.env, s.key, null
    from read d
    join secrets s on s.project_uid = d.uid and s.env = d.env
    where d.is_level
      and exists (select from secret_references r where r.secret_id = s.id and r.version = s.version)`,
}

type ReadReferencesRow =
  | [n: number, projectUid: string, env: string, key: string, code: null]
  | [n: number, projectUid: string, env: string, key: null, code: Buffer | null]

/** States of environments in Postgres. */
export function createStateStore(pool: Pool): StateStore {
  return {
    readStates: async (questions) => {
      const values = [
        questions.map(({ caller }) => caller.projectUid),
        questions.map(({ caller }) => caller.publicKey),
        questions.map(({ now }) => now),
        questions.map(({ env }) => env),
        questions.map(({ caller }) => caller.generation),
        questions.map(({ knownCodes }) => knownCodes),
      ]
      const callers = questions.map(({ caller }) => caller)
      const { rows } = await pool.query<ReadStatesRow>(readStatement(callers, values))
      type State = ReturnType<typeof collectLevels<StoredVersion>> & { isKnown: boolean; refers: boolean }
      const byPlace = new Map<string, State>()
      const found = questions.map(({ caller: { projectUid }, env }): State => {
        const place = `${projectUid}/${env}`
        const state = byPlace.get(place) ?? {
          ...collectLevels(projectUid, env, storedVersion),
          isKnown: true,
          refers: false,
        }
        byPlace.set(place, state)
        return state
      })
      const states = questions.map((): StoredState | Stale => 'stale')
      for (const [n, isKnown, refers, depth, env, parent, key, number, code] of rows) {
        const state = found[n - 1]
        if (state === undefined) continue
        states[n - 1] = state
        state.add(depth, env, parent, key, number, code)
        if (isKnown === false) state.isKnown = false
        if (refers === true) state.refers = true
      }
      return states
    },

    readReferences: async (places) => {
      const values = [places.map(({ projectUid }) => projectUid), places.map(({ env }) => env)]
      const { rows } = await pool.query<ReadReferencesRow>({ ...READ_REFERENCES, values })
      const found = places.map((): { places: ReferredPlace[]; keys: { env: string; key: string }[] } => {
        return { places: [], keys: [] }
      })
      for (const [n, projectUid, env, key, code] of rows) {
        const references = found[n - 1]
        if (key === null) references?.places.push({ projectUid, env, code })
        else references?.keys.push({ env, key })
      }
      return found
    },
  }
}
