import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Updated at most once an hour, mostly without changes to an index; pages have free space for new row versions.
  `create table user_addresses (
    user_id uuid not null references users (id) on delete cascade,
    address text collate "C" not null,
    kind text collate "C" not null check (kind in ('web', 'api', 'announce')),
    requests bigint not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    primary key (user_id, address, kind)
  ) with (fillfactor = 80)`,
  'create index user_addresses_address on user_addresses (address, user_id)',

  // Null in entries of earlier releases, and if no addresses are recorded.
  'alter table torznab_requests add address text collate "C"',
  'create index torznab_requests_address on torznab_requests (address, at, id) where address is not null',

  `create table user_notes (
    id uuid primary key,
    user_id uuid not null references users (id),
    author_id uuid not null references users (id),
    text text not null check (length(text) between 1 and 1000),
    created_at timestamptz not null
  )`,
  'create index user_notes_user on user_notes (user_id, created_at desc, id desc)',
]

/** Where users were seen, and notes by staff on users. */
export const userAddresses: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
