import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  `create table second_factors (
    id uuid primary key,
    user_id uuid not null references users (id) on delete cascade,
    kind text not null check (kind in ('totp', 'security-key')),
    name text not null check (length(name) between 1 and 60),
    created_at timestamptz not null,
    last_used_at timestamptz,
    secret bytea,
    last_step integer,
    credential_id bytea,
    public_key bytea,
    counter bigint,
    transports text[],
    check ((kind = 'totp') = (secret is not null)),
    check ((kind = 'security-key') = (num_nulls(credential_id, public_key, counter, transports) = 0))
  )`,
  'create index second_factors_user on second_factors (user_id)',
  `create unique index second_factors_totp on second_factors (user_id) where kind = 'totp'`,
  'create unique index second_factors_credential on second_factors (credential_id)',

  // The codes are credentials, so only their SHA-256 is stored. A used one is deleted.
  `create table recovery_codes (
    user_id uuid not null references users (id) on delete cascade,
    code_hash bytea not null check (octet_length(code_hash) = 32),
    primary key (user_id, code_hash)
  )`,

  // Links that were sent by email, one per user and kind. They end with the session epoch in which they were requested.
  `create table mail_links (
    user_id uuid not null references users (id) on delete cascade,
    kind text not null check (kind in ('password', 'email')),
    token_hash bytea not null check (octet_length(token_hash) = 32),
    email text not null check (length(email) between 3 and 254),
    session_epoch integer not null,
    created_at timestamptz not null,
    primary key (user_id, kind)
  )`,
  'create unique index mail_links_token on mail_links (token_hash)',

  // Null leaves the configuration of the server in force.
  'alter table site_settings add staff_second_factor boolean',

  `alter table users add mailed_notices text[] not null default '{}', add notices_mailed_at timestamptz`,
  `create index users_mailed on users (notices_mailed_at) where mailed_notices <> '{}'`,
]

/** Second factors with recovery codes, links sent by email, and notices by email. */
export const secondFactors: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
