import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  "alter table tokens add column announce_key text check (announce_key ~ '^[0-9a-f]{40}$')",
  'create unique index tokens_announce_key on tokens (announce_key) where announce_key is not null',
]

/** The keys in the announce URLs of the .torrent files that are downloaded with tokens. */
export const announceKeys: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
