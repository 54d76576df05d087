import { type Kysely, type Migration, sql } from 'kysely'

/**
 * Who owns the database could note a month that nobody dropped, and so hide rows he removed. A pruning is now sealed with a key
 * of the chain, together with how many rows went.
 */
export const sealedPrunings: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table audit_prunings
      add column rows bigint,
      add column key_no integer references audit_keys,
      add column mac bytea`.execute(db)
  },
}
