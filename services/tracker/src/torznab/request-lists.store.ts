import { type SelectQueryBuilder, sql } from 'kysely'
import { countForTotal, escapeLike } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { totalOf } from '../pagination.ts'
import type { Listed, Page, RequestLists, RequestQuery, UserUsage } from './request-lists.ts'

const USER = sql<UserUsage['user']>`
  (select json_build_object('id', id, 'username', username) from users where id = user_id)`.as('user')

/**
 * The request log and the users of the API, listed from Postgres.
 *
 * @param findUserId finds a user by id or name
 */
export function createRequestLists(
  db: Db,
  findUserId: (idOrName: string) => Promise<string | undefined>,
): RequestLists {
  return {
    requests: async (query) => {
      const userId = query.user === undefined ? undefined : await findUserId(query.user)
      if (query.user !== undefined && userId === undefined) return { items: [], ...totalOf(0) }
      const found = requests(db, query, userId)
        .select(['id', 'at', USER, 'function', 'query', 'results', 'error', 'client'])
        .select(sql<number>`round(duration_ms::numeric, 2)::double precision`.as('durationMs'))
        .orderBy('at', 'desc')
        .orderBy('id', 'desc')
      return page(db, found, query)
    },

    addresses: (query) => {
      const found = db
        .selectFrom('torznab_addresses')
        .select(['hour', 'address', 'requests', 'wrong_keys as wrongKeys', 'over_limits as overLimits'])
        .orderBy('hour', 'desc')
        .orderBy('requests', 'desc')
        .orderBy('address')
      return page(db, found, query)
    },

    users: ({ search = '', blocked, ...query }) => {
      const found = db
        .selectFrom('users')
        .leftJoin('torznab_users', 'user_id', 'users.id')
        .where((eb) => eb.or([eb('user_id', 'is not', null), eb('api_blocked', '=', true)]))
        .where(sql`lower(username)`, 'like', `%${escapeLike(search.toLowerCase())}%`)
        .$if(blocked !== undefined, (users) => users.where('api_blocked', '=', blocked ?? false))
        .select((eb) => [
          sql<UserUsage['user']>`json_build_object('id', users.id, 'username', username)`.as('user'),
          ...(['requests', 'downloads', 'errors', 'violations'] as const).map((name) =>
            eb.fn.coalesce(name, sql<number>`0`).as(name),
          ),
        ])
        .select(['last_at as lastRequest', 'api_blocked as blocked'])
        .orderBy('torznab_users.requests', (order) => order.desc().nullsLast())
        .orderBy('users.id', 'desc')
      return page(db, found, query)
    },
  }
}

function requests(db: Db, { function: name, error, from, to }: RequestQuery, userId: string | undefined) {
  return db
    .selectFrom('torznab_requests')
    .where((eb) =>
      eb.and([
        ...(userId === undefined ? [] : [eb('user_id', '=', userId)]),
        ...(name === undefined ? [] : [eb('function', '=', name)]),
        ...(error === true ? [eb('error', 'is not', null)] : []),
        ...(error === false ? [eb('error', 'is', null)] : []),
        ...(typeof error === 'number' ? [eb('error', '=', error)] : []),
        ...(from === undefined ? [] : [eb('at', '>=', from)]),
        ...(to === undefined ? [] : [eb('at', '<', to)]),
      ]),
    )
}

/** A page of a query's rows, and the number of all of them. */
async function page<Tables, Table extends keyof Tables, Row>(
  db: Db,
  query: SelectQueryBuilder<Tables, Table, Row>,
  { page: number, limit }: Page,
): Promise<Listed<Row>> {
  const [counted, items] = await Promise.all([
    countForTotal(db, query.clearOrderBy()),
    query
      .limit(limit)
      .offset((number - 1) * limit)
      .execute(),
  ])
  return { items, ...totalOf(counted) }
}
