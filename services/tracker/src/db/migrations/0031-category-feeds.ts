import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  `alter table tokens
    add column category_id uuid references categories on delete cascade,
    add constraint tokens_list check (saved_search_id is null or category_id is null)`,
  'create index tokens_category_id on tokens (category_id) where category_id is not null',
]

/** Feeds of categories. */
export const categoryFeeds: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
