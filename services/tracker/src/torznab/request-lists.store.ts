import { sql } from 'kysely'
import { escapeLike, onPage, readPage, userIdOf } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import type { Listed } from '../pagination.ts'
import type { RequestLists } from './request-lists.ts'

/** The request log and the users of the API, listed from Postgres. */
export function createRequestLists(db: Db): RequestLists {
  return {
    requests: async (query) => {
      const { user, address, function: name, error, from, to } = query
      const found = db
        .selectFrom('torznab_requests')
        .where((eb) =>
          eb.and([
            ...(user === undefined ? [] : [eb('user_id', '=', userIdOf(user))]),
            ...(address === undefined ? [] : [eb('address', '=', address)]),
            ...(name === undefined ? [] : [eb('function', '=', name)]),
            ...(error === true ? [eb('error', 'is not', null)] : []),
            ...(error === false ? [eb('error', 'is', null)] : []),
            ...(typeof error === 'number' ? [eb('error', '=', error)] : []),
            ...(from === undefined ? [] : [eb('at', '>=', from)]),
            ...(to === undefined ? [] : [eb('at', '<', to)]),
          ]),
        )
      // Names are read only for the page.
      const page = found.selectAll().orderBy('at', 'desc').orderBy('id', 'desc').$call(onPage(query)).as('found')
      const rows = db
        .selectFrom(page)
        .innerJoin('users', 'users.id', 'found.user_id')
        .select(['found.id', 'at', 'function', 'query', 'results', 'error', 'client', 'address'])
        .select(['users.id as userId', 'username'])
        .select(sql<number>`round(duration_ms::numeric, 2)::double precision`.as('durationMs'))
        .orderBy('at', 'desc')
        .orderBy('found.id', 'desc')
      return withUsers(await readPage(db, query, rows, found.select('at')))
    },

    addresses: (page) => {
      const all = db.selectFrom('torznab_addresses')
      const rows = all
        .select(['hour', 'address', 'requests', 'wrong_keys as wrongKeys', 'over_limits as overLimits'])
        .orderBy('hour', 'desc')
        .orderBy('requests', 'desc')
        .orderBy('address')
        .$call(onPage(page))
      return readPage(db, page, rows, all.select('hour'))
    },

    users: async (query) => {
      const { search, blocked } = query
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
        .$call(onPage(query))
      return withUsers(await readPage(db, query, rows, found.select('users.id')))
    },
  }
}

function withUsers<Row extends { userId: string; username: string }>({ items, ...rest }: Listed<Row>) {
  return { ...rest, items: items.map(({ userId: id, username, ...row }) => ({ ...row, user: { id, username } })) }
}
