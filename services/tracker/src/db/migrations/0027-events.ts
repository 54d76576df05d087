import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // A transaction takes the next id only while it holds a lock, so ids are in the order of the commits, and a reader that
  // has seen an id has seen all earlier ones.
  `create table events (
    id bigint generated always as identity primary key,
    torrent_id uuid not null references torrents on delete cascade,
    created_at timestamptz not null
  )`,
  'create index events_torrent_id on events (torrent_id)',
]

/** Torrents in the order in which members first saw them. */
export const events: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
