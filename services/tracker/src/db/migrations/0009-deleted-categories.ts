import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  'alter table categories add deleted_at timestamptz',
  // Only existing categories occupy a slug.
  'drop index categories_slug_unique',
  'create unique index categories_slug_unique on categories (slug) where deleted_at is null',
  // What the staff did with one user, torrent or category.
  `create index admin_log_target on admin_log (target_id, at desc, id desc) where target_id is not null`,
]

/** Categories that were deleted all at once stay for their torrents; the admin log is read by target. */
export const deletedCategories: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
