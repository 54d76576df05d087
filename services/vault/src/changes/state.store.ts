import type { Pool } from 'pg'
import { forKeysOfCallers } from '../integrity/exchange-rows.store.ts'
import type { Stale } from '../secrets/secrets.ts'
import type { StateStore, StoredState } from './changes.ts'

/**
 * Reads the states of the environments of several callers. It is like the statement of fetches, without values and audit
 * entries: a caller whose key or project is no longer valid gets no row, and of callers with the same environment, only the
 * first one gets its rows. Names of secrets are only read if the code of the environment is not the known one.
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
    ), seal as materialized (
      select c.n, c.reads, c.env, c.known, e.revision, case when e.revision >= (
          select m.number from high_water_marks m where m.id = e.project_uid and m.subject = 'env:' || e.env
        ) then e.code else ''::bytea end as code
      from caller c
      left join environments e on e.project_uid = c.reads and e.env = c.env
    )
    select n::integer, null, revision, code, reads is not null and (known is null or code is distinct from known)
    from seal
    union all
    select e.n::integer, s.key, s.version, null, null
    from seal e
    join secrets s on s.project_uid = e.reads and s.env = e.env
    where e.known is null or e.code is distinct from e.known`,
}))

type ReadStatesRow =
  | [n: number, key: string, version: number, code: null, isNew: null]
  | [n: number, key: null, revision: number | null, code: Buffer | null, isNew: boolean]

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
        questions.map(({ knownCode }) => knownCode),
      ]
      const callers = questions.map(({ caller }) => caller)
      const { rows } = await pool.query<ReadStatesRow>(readStatement(callers, values))
      type State = { -readonly [Name in keyof StoredState]: StoredState[Name] } & {
        readonly keys: { key: string; version: number }[]
      }
      const byPlace = new Map<string, State>()
      const found = questions.map(({ caller, env }): State => {
        const place = `${caller.projectUid}/${env}`
        const state = byPlace.get(place) ?? { keys: [], current: undefined, stored: undefined }
        byPlace.set(place, state)
        return state
      })
      const states = questions.map((): StoredState | Stale => 'stale')
      for (const row of rows) {
        const [n, key, number, code, isNew] = row
        const state = found[n - 1]
        if (state === undefined) continue
        if (key !== null) {
          state.keys.push({ key, version: number })
          continue
        }
        states[n - 1] = state
        if (number !== null && code !== null) state.stored = { revision: number, code }
        if (isNew) state.current = state.keys
      }
      return states
    },
  }
}
