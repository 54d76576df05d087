import { sql } from 'kysely'
import { onPage, readPage, userIdOf } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { type AddressStore, MAX_PER_USER, MAX_USERS_COUNTED } from './addresses.ts'

/** Addresses of users in Postgres. Rows are locked in the order of their keys, which rules out deadlocks. */
export function createAddressStore(db: Db): AddressStore {
  return {
    async add(seen) {
      const { rows } = await sql<{ userId: string; isNew: boolean }>`
        insert into user_addresses as stored (user_id, address, kind, requests, first_at, last_at)
        select * from unnest(
          ${seen.map((each) => each.userId)}::uuid[], ${seen.map((each) => each.address)}::text[],
          ${seen.map((each) => each.kind)}::text[], ${seen.map((each) => each.requests)}::bigint[],
          ${seen.map((each) => each.firstAt)}::timestamptz[], ${seen.map((each) => each.lastAt)}::timestamptz[]
        ) as t (user_id, address, kind, requests, first_at, last_at)
        order by user_id, address collate "C", kind collate "C"
        on conflict (user_id, address, kind) do update set
          requests = stored.requests + excluded.requests,
          first_at = least(stored.first_at, excluded.first_at),
          last_at = greatest(stored.last_at, excluded.last_at)
        returning user_id as "userId", xmax = 0 as "isNew"`.execute(db)
      const grown = [...new Set(rows.filter(({ isNew }) => isNew).map(({ userId }) => userId))]
      if (grown.length > 0) await deleteExcess(db, grown)
    },

    async prune({ before, rows }) {
      await db.deleteFrom('user_addresses').where('last_at', '<', before).execute()
      await sql`
        delete from user_addresses where ctid = any(array(
          select ctid from user_addresses order by last_at
          limit greatest(0, (select count(*) from user_addresses) - ${rows})
        ))`.execute(db)
    },

    async list(query) {
      const { user, address } = query
      const found = db
        .selectFrom('user_addresses')
        .$if(user !== undefined, (all) => all.where('user_id', '=', userIdOf(user ?? '')))
        .$if(address !== undefined, (all) => all.where('address', '=', address ?? ''))
      const page = found
        .selectAll()
        .orderBy('last_at', 'desc')
        .orderBy('user_id')
        .orderBy('kind')
        .$call(onPage(query))
        .as('found')
      // Names and other users are read only for the page.
      const rows = db
        .selectFrom(page)
        .innerJoin('users', 'users.id', 'found.user_id')
        .select(['address', 'kind', 'requests', 'first_at as firstAt', 'last_at as lastAt'])
        .select(['users.id as userId', 'username'])
        .select(
          sql<number>`(
            select count(*) from (
              select distinct user_id from user_addresses as other where other.address = found.address
              limit ${MAX_USERS_COUNTED}
            ) as users
          )`.as('users'),
        )
        .orderBy('last_at', 'desc')
        .orderBy('users.id')
        .orderBy('kind')
      const { items, ...rest } = await readPage(db, query, rows, found.select('user_id'))
      return { ...rest, items: items.map(({ userId: id, username, ...row }) => ({ ...row, user: { id, username } })) }
    },
  }
}

/** Not in the transaction that adds rows, which has locked others in their order. */
async function deleteExcess(db: Db, userIds: readonly string[]): Promise<void> {
  await sql`
    with ranked as (
      select user_id, address, kind,
        row_number() over (partition by user_id order by last_at desc, address, kind) as place
      from user_addresses where user_id = any(${userIds}::uuid[])
    ), excess as materialized (
      select stored.user_id, stored.address, stored.kind from user_addresses as stored
        join ranked using (user_id, address, kind)
      where place > ${MAX_PER_USER} order by user_id, address, kind for update of stored
    )
    delete from user_addresses as stored using excess
    where stored.user_id = excess.user_id and stored.address = excess.address and stored.kind = excess.kind`.execute(db)
}
