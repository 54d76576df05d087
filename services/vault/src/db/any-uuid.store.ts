import { type RawBuilder, sql } from 'kysely'

/** Compares with any of some ids. Unlike `in`, it takes an empty list, which no id is in. */
export function anyUuid(ids: readonly string[]): RawBuilder<string> {
  return sql<string>`any(${[...ids]}::uuid[])`
}
