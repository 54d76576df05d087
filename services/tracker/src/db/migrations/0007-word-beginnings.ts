import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // A thousand words and more begin with the same two or three letters. The index has such a beginning as a lexeme of its
  // own, which is one list of torrents instead of a thousand. Nothing is stored in the table, so that neither torrents
  // nor what the previous release writes have to be changed.
  `create function word_beginnings(words tsvector) returns tsvector language sql immutable parallel safe as $$
    select array_to_tsvector(array(
      select distinct left(word, letters) from unnest(tsvector_to_array(words)) as word, generate_series(2, 3) as letters
      where char_length(word) >= letters
    ))
  $$`,
  // Built alongside the old one, so that searches continue meanwhile. Uploads wait: half a minute for a million torrents.
  `create index torrents_search_new on torrents using gin (search, facets, word_beginnings(search))
    with (fastupdate = off) where deleted_at is null and state = 'approved'`,
  'analyze torrents',
  'drop index torrents_search',
  'alter index torrents_search_new rename to torrents_search',
]

/** What searches by the first two or three letters of a word need. */
export const wordBeginnings: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
