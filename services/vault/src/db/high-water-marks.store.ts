import { type Expression, sql } from 'kysely'

/** The subjects of marks; that of an environment is `env:` and its name. See the migration `0007-tampering`. */
export type Subject = Expression<string> | 'project' | 'administrator'

/** The highest number that a row has had, in one lookup by primary key. Null without a mark: no number is at least null. */
export function markOf(id: string, subject: Subject) {
  return sql<
    number | null
  >`(select m.number from high_water_marks m where m.id = ${sql.ref(id)} and m.subject = ${subject})`
}

/** The code of a row; that of an older state, which was put back, is no code. */
export function codeUnlessOlder(columns: { id: string; number: Expression<number>; code: string }, subject: Subject) {
  const { id, number, code } = columns
  return sql<Buffer>`case when ${number} >= ${markOf(id, subject)} then ${sql.ref(code)} else ''::bytea end`
}
