import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  `create table rejections (
    info_hash bytea primary key check (length(info_hash) = 20),
    reason text not null,
    rejected_at timestamptz not null
  )`,
  // When they were rejected was not stored.
  `insert into rejections (info_hash, reason, rejected_at)
    select distinct on (hash) hash, coalesce(state_reason, ''), now()
    from torrents, unnest(array[info_hash, info_hash_v2]) as hash
    where state = 'rejected' and hash is not null
    order by hash, created_at desc`,
]

/** What was rejected stays known when its torrent is deleted. */
export const rejections: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
