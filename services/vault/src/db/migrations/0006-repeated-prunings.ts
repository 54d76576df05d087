import { type Kysely, type Migration, sql } from 'kysely'

/** The current month can be dropped more than once; each time has a separate record. */
export const repeatedPrunings: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table audit_prunings
      drop constraint audit_prunings_pkey,
      add primary key (month, pruned_at)`.execute(db)
  },
}
