import { sql } from 'kysely'
import { escapeLike } from '../db/like.ts'
import type { Db } from '../db/schema.ts'
import { countForTotal } from '../db/totals.store.ts'
import { totalOf } from '../lists/total.ts'
import type { ListedRequest, RequestListStore, StoredRequestQuery, UsageQuery, UserUsage } from './request-log-lists.ts'

/** The lists of the request log and of the users of the API, from Postgres. */
export function createRequestListStore(db: Db): RequestListStore {
  return {
    requests: async (query) => {
      const [counted, items] = await Promise.all([
        countForTotal(db, requests(db, query).select('torznab_requests.at')),
        pageOfRequests(db, query),
      ])
      return { items, ...totalOf(counted) }
    },

    addresses: async ({ page, limit }) => {
      const all = db.selectFrom('torznab_addresses')
      const [counted, rows] = await Promise.all([
        countForTotal(db, all.select('hour')),
        all
          .selectAll()
          .orderBy('hour', 'desc')
          .orderBy('requests', 'desc')
          .orderBy('address')
          .limit(limit)
          .offset((page - 1) * limit)
          .execute(),
      ])
      const items = rows.map(({ wrong_keys: wrongKeys, over_limits: overLimits, ...row }) => ({
        ...row,
        wrongKeys,
        overLimits,
      }))
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

function requests(db: Db, { function: name, error, from, to, userId }: StoredRequestQuery) {
  return db.selectFrom('torznab_requests').where((eb) =>
    eb.and([
      // The previous release logged requests without a user too.
      eb('torznab_requests.user_id', 'is not', null),
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

async function pageOfRequests(db: Db, query: StoredRequestQuery): Promise<ListedRequest[]> {
  const rows = await db
    .selectFrom(
      requests(db, query)
        .selectAll()
        .orderBy('at', 'desc')
        .orderBy('id', 'desc')
        .limit(query.limit)
        .offset((query.page - 1) * query.limit)
        .as('found'),
    )
    .innerJoin('users', 'users.id', 'found.user_id')
    .selectAll('found')
    .select(['users.id as userId', 'users.username'])
    .orderBy('found.at', 'desc')
    .orderBy('found.id', 'desc')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    at: row.at,
    user: { id: row.userId, username: row.username },
    function: row.function,
    query: row.query,
    results: row.results,
    durationMs: row.duration_ms,
    error: row.error,
    client: row.client,
  }))
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
    .select(['users.id', 'users.username', 'users.api_blocked'])
    .select(['torznab_users.requests', 'torznab_users.downloads', 'torznab_users.errors'])
    .select(['torznab_users.violations', 'torznab_users.last_at'])
    .orderBy('torznab_users.requests', (order) => order.desc().nullsLast())
    .orderBy('users.id', 'desc')
    .limit(query.limit)
    .offset((query.page - 1) * query.limit)
    .execute()
  return rows.map((row) => ({
    user: { id: row.id, username: row.username },
    requests: row.requests ?? 0,
    downloads: row.downloads ?? 0,
    errors: row.errors ?? 0,
    violations: row.violations ?? 0,
    lastAt: row.last_at,
    blocked: row.api_blocked,
  }))
}
