import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Stays true, so that a site which lost its administrators cannot be set up by someone else.
  'alter table site_settings add had_administrator boolean not null default false',
  `create function remember_administrator() returns trigger language plpgsql as $$
  begin
    update site_settings set had_administrator = true where not had_administrator;
    return null;
  end $$`,
  // A trigger also sees the administrators of the previous release and of the command line.
  `create trigger remember_administrator after insert or update of role on users
    for each row when (new.role = 'admin') execute function remember_administrator()`,
  // Only an administrator appoints the moderators who act.
  `update site_settings set had_administrator =
    exists (select from users where role = 'admin') or exists (select from admin_log)`,

  // The codes are credentials, so only their SHA-256 is stored.
  `create table setup_codes (
    code_hash bytea primary key check (octet_length(code_hash) = 32),
    created_at timestamptz not null default now()
  )`,
]

/** Codes in the log, with which the first administrator is created in the browser. */
export const firstAdministrator: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
