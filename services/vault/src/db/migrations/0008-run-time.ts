import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Up to which time requests were dated ahead, in milliseconds: nothing that Redis has lost was dated later.
  'alter table nonce_memory add column ahead_until bigint not null default 0',
  `create trigger nonce_memory_ahead_grows before update of ahead_until on nonce_memory
    for each row execute function require_growth('ahead_until')`,
  // Which projects an administrator was given by name. A row outlives its project: another one of the name is not theirs.
  `create table administrator_projects (
    administrator_id uuid not null references administrators on delete cascade,
    name text collate "C" not null,
    project_uid uuid not null,
    code bytea not null,
    primary key (administrator_id, name)
  )`,
]

/** What replicas have to agree on while they run, and may not forget. */
export const runTime: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
