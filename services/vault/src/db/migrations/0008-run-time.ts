import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // The latest time of a request that was dated ahead, in milliseconds. No lost nonce is of a later request.
  'alter table nonce_memory add column ahead_until bigint not null default 0',
  `create trigger nonce_memory_ahead_grows before update of ahead_until on nonce_memory
    for each row execute function require_growth('ahead_until')`,
  // The projects in an administrator's list of names. A row outlives its project: a new one of that name is not
  // included.
  `create table administrator_projects (
    administrator_id uuid not null references administrators on delete cascade,
    name text collate "C" not null,
    project_uid uuid not null,
    code bytea not null,
    primary key (administrator_id, name)
  )`,
]

/** State that replicas share and that must survive a restart. */
export const runTime: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
