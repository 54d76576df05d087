import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  `alter table tokens
    drop constraint tokens_purpose_check,
    add column name text check (length(name) between 1 and 60),
    add column scopes text[] check (cardinality(scopes) >= 1),
    add column expires_at timestamptz,
    add column addresses text[] not null default '{}',
    add column last_used_address text,
    add constraint tokens_purpose check (purpose in ('feed', 'api')),
    add constraint tokens_api check ((purpose = 'api') = (name is not null and scopes is not null))`,
  "create unique index tokens_name on tokens (user_id, lower(name)) where purpose = 'api'",
  'alter table users add column passkey_opens_torznab boolean not null default true',
]

/** Tokens with a name and scopes for the APIs, and whether a passkey opens the Torznab API too. */
export const apiTokens: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
