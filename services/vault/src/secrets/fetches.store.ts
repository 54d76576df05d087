import type { Pool } from 'pg'
import {
  collectLevels,
  forKeysOfCallers,
  IS_LEVEL,
  LEVEL_CODE,
  LEVELS,
  type LevelRow,
} from '../integrity/rows.store.ts'
import type { Fetch, FetchStore } from './fetches.ts'
import type { Stale } from './secrets.ts'
import { type StoredValue, type StoredValues, storedValue } from './values.ts'

/**
 * Reads the values and writes the audit entries of several callers in one statement, which is its own transaction: when
 * its rows arrive, the entries are durable. It is named, so that each connection plans it once.
 *
 * A caller whose key or project is no longer valid, was changed or was rolled back gets no row. Every other caller gets a
 * row without a key for the environment and each of its ancestors: the revision and code, or a code that does not verify
 * if it was rolled back. Of callers with the same environment, the first one also gets the values and the ancestors; the
 * row of the others has nulls.
 */
const readStatement = forKeysOfCallers(10, (keys) => ({
  name: `read-all${keys.suffix}`,
  rowMode: 'array' as const,
  text: `with caller as materialized (
      select asked.*, p.name,
        case when row_number() over (partition by asked.uid, asked.env order by asked.n) = 1 then asked.uid end as reads
      from unnest($1::uuid[], $2::bytea[], $3::timestamptz[], $4::uuid[], $5::text[], $6::text[], $7::inet[], $8::bigint[],
        $9::text[]${keys.parameters})
        with ordinality as asked (uid, public_key, now, entry_id, action, env, ip, generation, actor${keys.columns}, n)
      join projects p on p.uid = asked.uid and p.generation = asked.generation
        and p.generation >= (select m.number from high_water_marks m where m.id = p.uid and m.subject = 'project')
      ${keys.join}
    ), entry as (
      insert into audit (id, project_uid, project_id, action, env, requested_at, ip, actor)
      select entry_id, uid, name, action, env, now, ip, actor from caller
    ), level as materialized (
      select c.n::integer as n, c.reads, l.* from caller c ${LEVELS} where c.reads is not null and ${IS_LEVEL}
    )
    select l.n, l.depth, l.env, l.parent, null, l.revision, ${LEVEL_CODE}
    from level l
    union all
    select n::integer, 0, null, null, null, null, null from caller where reads is null
    union all
    select l.n, l.depth, null, null, s.key, s.version, v.blob
    from level l
    join secrets s on s.project_uid = l.reads and s.env = l.env
    left join secret_versions v on v.secret_id = s.id and v.version = s.version`,
}))

type ReadAllRow = [n: number, ...LevelRow]

/** The values that are fetched, in Postgres. */
export function createFetchStore(pool: Pool): FetchStore {
  return {
    readAll: async (fetches) => {
      const values = [
        fetches.map(({ caller }) => caller.projectUid),
        fetches.map(({ caller }) => caller.publicKey),
        fetches.map(({ now }) => now),
        fetches.map(({ entry }) => entry.id),
        fetches.map(({ entry }) => entry.action),
        fetches.map(({ env }) => env),
        fetches.map(({ entry }) => entry.address),
        fetches.map(({ caller }) => caller.generation),
        fetches.map(({ entry }) => entry.actor),
      ]
      const callers = fetches.map(({ caller }) => caller)
      const { rows } = await pool.query<ReadAllRow>(readStatement(callers, values))
      return answersOf(fetches, rows)
    },
  }
}

function answersOf(fetches: readonly Fetch[], rows: readonly ReadAllRow[]): readonly (StoredValues | Stale)[] {
  type Answer = StoredValues & Pick<ReturnType<typeof collectLevels<StoredValue>>, 'add'>
  const byPlace = new Map<string, Answer>()
  // Looked up once per fetch, because there may be thousands of rows.
  const found = fetches.map(({ caller: { projectUid }, env }): Answer => {
    const place = `${projectUid}/${env}`
    const answer = byPlace.get(place) ?? collectLevels(projectUid, env, storedValue)
    byPlace.set(place, answer)
    return answer
  })
  const answers = fetches.map((): Answer | Stale => 'stale')
  for (const [n, depth, env, parent, key, number, bytes] of rows) {
    const answer = found[n - 1]
    if (answer === undefined) continue
    answers[n - 1] = answer
    answer.add(depth, env, parent, key, number, bytes)
  }
  return answers
}
