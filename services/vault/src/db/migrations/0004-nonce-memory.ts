import { type Kysely, type Migration, sql } from 'kysely'

/**
 * The epoch of the nonces in Redis, in the only row; without one, no vault was ever started on this database. Nonces of
 * earlier releases have other names in Redis, so they count as lost if projects exist.
 */
export const nonceMemory: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table nonce_memory (
      is_only boolean primary key default true check (is_only),
      epoch uuid not null
    )`.execute(db)
    await sql`insert into nonce_memory (epoch) select gen_random_uuid() where exists (select from projects)`.execute(db)
  },
}
