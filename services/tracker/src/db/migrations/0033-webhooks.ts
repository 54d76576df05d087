import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Without a user, a webhook is of the site. `position` is the last event that it has received or skipped, and `retry_at`
  // follows a failed attempt. A process that delivers holds the lease.
  `create table webhooks (
    id uuid primary key,
    user_id uuid references users on delete cascade,
    url text not null check (length(url) <= 2000),
    format text not null check (format in ('json', 'discord', 'slack', 'ntfy')),
    saved_search_id uuid references saved_searches on delete cascade,
    enabled boolean not null,
    created_at timestamptz not null,
    position bigint not null,
    failures integer not null default 0,
    failing_since timestamptz,
    retry_at timestamptz,
    lease uuid,
    leased_until timestamptz,
    attempted_at timestamptz,
    result text,
    check (saved_search_id is null or user_id is not null)
  )`,
  'create index webhooks_user_id on webhooks (user_id)',
  'create index webhooks_saved_search_id on webhooks (saved_search_id)',
  // The seed of the Ed25519 key that signs the requests of webhooks.
  'create table webhook_keys (id smallint primary key check (id = 1), seed bytea not null check (octet_length(seed) = 32))',
]

/** Webhooks that receive new torrents. */
export const webhooks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
