import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { isId } from '@vault-and-tracker/service-kit/core/ids'
import { type Expression, type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import { type Listed, MAX_EXACT_TOTAL, type Page, totalOf } from '../pagination.ts'
import type { Db, UsersTable } from './schema.ts'

/** Restricts a query to a page. */
export function onPage({ page, limit }: Page) {
  return <Tables, Table extends keyof Tables, Row>(query: SelectQueryBuilder<Tables, Table, Row>) =>
    query.limit(limit).offset((page - 1) * limit)
}

/**
 * Reads a page and counts all rows.
 *
 * @param rows the rows of the page
 * @param all any column of all rows
 */
export async function readPage<Row>(
  db: Db,
  { page, limit }: Page,
  rows: { execute(): Promise<Row[]> },
  all: { limit(rows: number): Expression<unknown> },
): Promise<Listed<Row>> {
  const counting = sql<{ counted: number }>`
    select count(*) as counted from ${all.limit(MAX_EXACT_TOTAL + 1)} as found`
  const [items, { rows: counts }] = await Promise.all([rows.execute(), counting.execute(db)])
  return { items, page, limit, ...totalOf(counts[0]?.counted ?? 0) }
}

/** Lets transactions of a user that count their rows before adding one run in turn. */
export async function lockUser(trx: Db, userId: string): Promise<void> {
  await trx.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
}

/** Whether a saved search is the user's, and then keeps it until the end of the transaction. Null is no saved search. */
export async function hasSavedSearch(trx: Db, userId: string | null, id: string | null): Promise<boolean> {
  if (id === null) return true
  const found = await trx
    .selectFrom('saved_searches')
    .select('id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .forKeyShare()
    .executeTakeFirst()
  return found !== undefined
}

/** The id of a user given by id or name; null for an unknown name. */
export function userIdOf(idOrName: string): RawBuilder<string> {
  return isId(idOrName)
    ? sql<string>`${idOrName}::uuid`
    : sql<string>`(select id from users where lower(username) = ${idOrName.toLowerCase()})`
}

/** The state of an account at a time in milliseconds: a suspension ends by itself. */
export function stateAt(
  { state, suspended_until: until }: Pick<Selectable<UsersTable>, 'state' | 'suspended_until'>,
  now: number,
): Selectable<UsersTable>['state'] {
  return state === 'suspended' && until !== null && until.getTime() <= now ? 'active' : state
}

/** Whether a row of `users` is active: suspensions end by themselves. */
export const isActiveUser = sql<boolean>`(
  users.state = 'active' or (users.state = 'suspended' and users.suspended_until <= now())
)`

/** Escapes `%`, `_` and `\` for a LIKE pattern. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

/** Whether an error is a foreign key violation (SQLSTATE 23503): the referenced row is missing, or still referenced. */
export function isForeignKeyViolation(error: unknown): boolean {
  return errorCode(error) === '23503'
}
