import { type Kysely, type Migration, sql } from 'kysely'

/** How much each user has uploaded on the last day on which they did. */
export const uploadQuotas: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(`create table upload_quotas (
        user_id uuid primary key references users (id),
        day date not null,
        bytes bigint not null check (bytes >= 0)
      )`)
      .execute(db)
  },
}
