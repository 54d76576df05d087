import { sql } from 'kysely'
import { countForTotal, escapeLike } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { totalOf } from '../pagination.ts'
import type { ListedRequest, RequestLists, RequestQuery, UsageQuery, UserUsage } from './request-lists.ts'

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
      const [counted, items] = await Promise.all([
        countForTotal(db, requests(db, query, userId).select('torznab_requests.at')),
        pageOfRequests(db, query, userId),
      ])
      return { items, ...totalOf(counted) }
    },

    addresses: async ({ page, limit }) => {
      const all = db.selectFrom('torznab_addresses')
      const [counted, items] = await Promise.all([
        countForTotal(db, all.select('hour')),
        all
          .select(['hour', 'address', 'requests', 'wrong_keys as wrongKeys', 'over_limits as overLimits'])
          .orderBy('hour', 'desc')
          .orderBy('requests', 'desc')
          .orderBy('address')
          .limit(limit)
          .offset((page - 1) * limit)
          .execute(),
      ])
      return { items, ...totalOf(counted) }
    },

    users: async (query) => {
      const [counted, items] = await Promise.all([
        countForTotal(db, usage(db, query).select('users.id')),
        pageOfUsage(db, query),
      ])
      return { items, ...totalOf(counted) }
    },
  }
}

function requests(db: Db, { function: name, error, from, to }: RequestQuery, userId: string | undefined) {
  return db
    .selectFrom('torznab_requests')
    .where((eb) =>
      eb.and([
        ...(userId === undefined ? [] : [eb('torznab_requests.user_id', '=', userId)]),
        ...(name === undefined ? [] : [eb('torznab_requests.function', '=', name)]),
        ...(error === true ? [eb('torznab_requests.error', 'is not', null)] : []),
        ...(error === false ? [eb('torznab_requests.error', 'is', null)] : []),
        ...(typeof error === 'number' ? [eb('torznab_requests.error', '=', error)] : []),
        ...(from === undefined ? [] : [eb('torznab_requests.at', '>=', from)]),
        ...(to === undefined ? [] : [eb('torznab_requests.at', '<', to)]),
      ]),
    )
}

async function pageOfRequests(db: Db, query: RequestQuery, userId: string | undefined): Promise<ListedRequest[]> {
  const rows = await db
    .selectFrom(
      requests(db, query, userId)
        .selectAll()
        .orderBy('at', 'desc')
        .orderBy('id', 'desc')
        .limit(query.limit)
        .offset((query.page - 1) * query.limit)
        .as('found'),
    )
    .innerJoin('users', 'users.id', 'found.user_id')
    .select(['found.id', 'at', 'function', 'query', 'results', 'duration_ms as durationMs', 'error', 'client'])
    .select(['users.id as userId', 'username'])
    .orderBy('at', 'desc')
    .orderBy('found.id', 'desc')
    .execute()
  return rows.map(({ userId: id, username, ...row }) => ({ ...row, user: { id, username } }))
}

function usage(db: Db, { search, blocked }: UsageQuery) {
  return db
    .selectFrom('users')
    .leftJoin('torznab_users', 'torznab_users.user_id', 'users.id')
    .where((eb) => eb.or([eb('torznab_users.user_id', 'is not', null), eb('users.api_blocked', '=', true)]))
    .$if(blocked !== undefined, (query) => query.where('users.api_blocked', '=', blocked ?? false))
    .$if(search !== undefined, (query) =>
      query.where(sql<string>`lower(users.username)`, 'like', `%${escapeLike((search ?? '').toLowerCase())}%`),
    )
}

async function pageOfUsage(db: Db, query: UsageQuery): Promise<UserUsage[]> {
  const rows = await usage(db, query)
    .select(['users.id', 'username', 'api_blocked as blocked', 'last_at as lastAt'])
    .select(['requests', 'downloads', 'errors', 'violations'])
    .orderBy('torznab_users.requests', (order) => order.desc().nullsLast())
    .orderBy('users.id', 'desc')
    .limit(query.limit)
    .offset((query.page - 1) * query.limit)
    .execute()
  return rows.map(({ id, username, blocked, lastAt, requests, downloads, errors, violations }) => ({
    ...{ user: { id, username }, blocked, lastAt },
    ...{ requests: requests ?? 0, downloads: downloads ?? 0, errors: errors ?? 0, violations: violations ?? 0 },
  }))
}
