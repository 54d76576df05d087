import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Their requests are refused like those of unknown keys, but counted separately. Nothing is decided by these rows.
  `create table ended_exchanged_keys (
    project_uid uuid not null references projects on delete cascade,
    public_key bytea not null,
    name text collate "C" not null,
    subject text not null,
    access text not null,
    envs text[] collate "C",
    created_at timestamptz not null,
    last_used_at timestamptz,
    ended_at timestamptz not null,
    revoked boolean not null,
    primary key (project_uid, public_key)
  )`,
  'create index ended_exchanged_keys_ended_at on ended_exchanged_keys (project_uid, ended_at)',
  'create index exchanged_keys_expires_at on exchanged_keys (project_uid, expires_at)',
]

/** Remembers keys that were admitted for ID tokens and have ended. */
export const endedExchangedKeys: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
