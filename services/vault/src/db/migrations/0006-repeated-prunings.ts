import { type Kysely, type Migration, sql } from 'kysely'

/** The month that still runs can be dropped more than once; each time is a record of its own. */
export const repeatedPrunings: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table audit_prunings
      drop constraint audit_prunings_pkey,
      add primary key (month, pruned_at)`.execute(db)
  },
}
