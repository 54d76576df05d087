import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // All words of names, including numbers and short ones: the last word of a search is looked up here by its beginning.
  // In the order of bytes, so that the primary key finds beginnings.
  'drop index search_words_trigrams',
  'alter table search_words alter word type text collate "C"',
  `create or replace function add_search_words() returns trigger language plpgsql as $$
    begin
      insert into search_words (word) select lexeme from unnest(new.search) order by lexeme on conflict do nothing;
      return null;
    end
  $$`,
  `insert into search_words (word) select word from ts_stat('select search from torrents') on conflict do nothing`,
  // Similar words are looked for among these only; see search/similar-words.ts.
  `create index search_words_trigrams on search_words using gin (word gin_trgm_ops) with (fastupdate = off)
    where word ~ '^[^0-9]{4,40}$'`,

  // Torrents whose download is free, and the others, for the tag "freeleech". Nearly all entries are equal, so it is small.
  `create index torrents_charge on torrents (download_percent) where deleted_at is null and state = 'approved'`,
]

/** What searches by the beginning of a word and by the tag "freeleech" need. */
export const searchWords: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
