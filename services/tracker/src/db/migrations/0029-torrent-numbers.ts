import { type Kysely, type Migration, sql } from 'kysely'

// Numbers have a table of their own, because a new column would rewrite the torrents and all their indexes. The trigger
// numbers the uploads of the previous release too.
const STATEMENTS = [
  `create table torrent_numbers (
    number bigint generated always as identity primary key,
    torrent_id uuid not null unique references torrents on delete cascade
  )`,
  `create function number_torrents() returns trigger language plpgsql as $$
  begin
    insert into torrent_numbers (torrent_id) select id from added;
    return null;
  end $$`,
  `create trigger number_torrents after insert on torrents referencing new table as added
    for each statement execute function number_torrents()`,
  'insert into torrent_numbers (torrent_id) select id from torrents order by created_at, id',
]

/** Whole numbers of torrents, for tools that expect these as ids. */
export const torrentNumbers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
