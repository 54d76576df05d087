import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Null leaves the configuration of the server in force.
  `alter table site_settings
    add name text check (length(name) between 1 and 64),
    add accent text check (accent ~ '^#[0-9a-f]{6}$'),
    add logo text,
    add registration text check (registration in ('open', 'invite', 'closed')),
    add upload_approval text check (upload_approval in ('automatic', 'manual')),
    add edit_approval text check (edit_approval in ('automatic', 'manual')),
    add seed_hours integer check (seed_hours between 0 and 10000),
    add checklist_dismissed boolean not null default false`,
  `create table site_logos (
    digest text primary key,
    png bytea not null check (length(png) <= 65536)
  )`,
  `create table rules (
    version integer primary key check (version > 0),
    text text not null check (length(text) between 1 and 20000),
    published_by uuid not null references users (id),
    published_at timestamptz not null
  )`,
  `create table rule_acceptances (
    user_id uuid not null references users (id),
    version integer not null references rules (version),
    accepted_at timestamptz not null,
    primary key (user_id, version)
  )`,
  'create index rule_acceptances_version on rule_acceptances (version)',
]

/** What administrators set in the panel: the look of the site, registration and approval, and the rules. */
export const siteLookAndRules: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
