import { MAX_ANCESTORS, type StoredEnvironment } from './rows.ts'

const depths = Array.from({ length: MAX_ANCESTORS + 1 }, (_, depth) => depth)

/**
 * The levels of an environment, the nearest first, in statements of their own: joins that follow the row `c` with the
 * columns `reads` and `env`, and give a row `l` (`depth`, `env`, `revision`, `parent`, `code`) for the environment itself,
 * which may have no seal, and one for each ancestor. A fixed number of joins by primary key is as fast as none, unlike a
 * recursive query.
 */
export const LEVELS = `${depths
  .map((depth) =>
    depth === 0
      ? 'left join environments e0 on e0.project_uid = c.reads and e0.env = c.env'
      : `left join environments e${depth} on e${depth}.project_uid = c.reads and e${depth}.env = e${depth - 1}.parent`,
  )
  .join('\n')}
  cross join lateral (values ${depths
    .map(
      (depth) =>
        `(${depth}, ${depth === 0 ? 'c.env' : `e${depth}.env`}, e${depth}.revision, e${depth}.parent, e${depth}.code)`,
    )
    .join(', ')}) as l (depth, env, revision, parent, code)`

/** The condition of the rows of `LEVELS`. */
export const IS_LEVEL = '(l.depth = 0 or l.revision is not null)'

/** The code of a level `l` of the project `reads`, or no bytes if it is older than its mark. */
export const LEVEL_CODE = `case when l.revision >= (
    select m.number from high_water_marks m where m.id = l.reads and m.subject = 'env:' || l.env
  ) then l.code else ''::bytea end`

type Collected<Row> = { -readonly [Name in keyof StoredEnvironment]: StoredEnvironment[Name] } & {
  readonly current: Row[]
}

/** Collects the rows of an environment and its ancestors, which come in any order. */
export function collectLevels<Row extends StoredEnvironment['current'][number]>(projectUid: string, env: string) {
  const newLevel = (name: string): Collected<Row> => ({ projectUid, env: name, current: [], stored: undefined })
  const own = newLevel(env)
  const levels = [own]
  return {
    levels,
    /** The level of a row; its name is null if another row has it. */
    level: (depth: number, name: string | null): Collected<Row> => {
      const level = (levels[depth] ??= newLevel(''))
      if (name !== null) level.env = name
      return level
    },
  }
}
