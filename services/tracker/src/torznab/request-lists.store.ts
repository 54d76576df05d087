import { type Expression, type SelectQueryBuilder, sql } from 'kysely'
import { countForTotal, escapeLike } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { totalOf } from '../pagination.ts'
import type { Listed, Page, RequestLists, RequestQuery } from './request-lists.ts'

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
      // Names are read only for the page.
      const page = found.selectAll().orderBy('at', 'desc').orderBy('id', 'desc').$call(pageOf(query)).as('found')
      const rows = db
        .selectFrom(page)
        .innerJoin('users', 'users.id', 'found.user_id')
        .select(['found.id', 'at', 'function', 'query', 'results', 'error', 'client', 'users.id as userId', 'username'])
        .select(sql<number>`round(duration_ms::numeric, 2)::double precision`.as('durationMs'))
        .orderBy('at', 'desc')
        .orderBy('found.id', 'desc')
      return withUsers(await listed(db, found.select('at'), rows))
    },

    addresses: (query) => {
      const all = db.selectFrom('torznab_addresses')
      const rows = all
        .select(['hour', 'address', 'requests', 'wrong_keys as wrongKeys', 'over_limits as overLimits'])
        .orderBy('hour', 'desc')
        .orderBy('requests', 'desc')
        .orderBy('address')
      return listed(db, all.select('hour'), rows.$call(pageOf(query)))
    },

    users: async ({ search, blocked, ...query }) => {
      const found = db
        .selectFrom('users')
        .leftJoin('torznab_users', 'user_id', 'users.id')
        .where((eb) => eb.or([eb('user_id', 'is not', null), eb('api_blocked', '=', true)]))
        .$if(blocked !== undefined, (users) => users.where('api_blocked', '=', blocked ?? false))
        .$if(search !== undefined, (users) =>
          users.where(sql`lower(username)`, 'like', `%${escapeLike((search ?? '').toLowerCase())}%`),
        )
      const count = (name: 'requests' | 'downloads' | 'errors' | 'violations') =>
        sql<number>`coalesce(${sql.ref(name)}, 0)`.as(name)
      const rows = found
        .select(['users.id as userId', 'username', 'api_blocked as blocked', 'last_at as lastRequest'])
        .select([count('requests'), count('downloads'), count('errors'), count('violations')])
        .orderBy('torznab_users.requests', (order) => order.desc().nullsLast())
        .orderBy('users.id', 'desc')
      return withUsers(await listed(db, found.select('users.id'), rows.$call(pageOf(query))))
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

function pageOf({ page, limit }: Page) {
  return <Tables, Table extends keyof Tables, Row>(query: SelectQueryBuilder<Tables, Table, Row>) =>
    query.limit(limit).offset((page - 1) * limit)
}

async function listed<Row>(
  db: Db,
  all: { limit(rows: number): Expression<unknown> },
  page: { execute(): Promise<Row[]> },
): Promise<Listed<Row>> {
  const [counted, items] = await Promise.all([countForTotal(db, all), page.execute()])
  return { items, ...totalOf(counted) }
}

function withUsers<Row extends { userId: string; username: string }>({ items, ...total }: Listed<Row>) {
  return { ...total, items: items.map(({ userId: id, username, ...row }) => ({ ...row, user: { id, username } })) }
}
