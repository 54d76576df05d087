import { type Kysely, type Migration, sql } from 'kysely'

/**
 * The owner of the database could insert a record of a dropped month and so hide deleted rows. A record now has a code
 * made with a key of the audit chain, which also covers the count of rows.
 */
export const sealedPrunings: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table audit_prunings
      add column rows bigint,
      add column key_no integer references audit_keys,
      add column mac bytea`.execute(db)
  },
}
