import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // A suspension without a time has no end. After it, the account is active although its state is still suspended.
  'alter table users add suspended_until timestamptz, add state_reason text',
  // Not validated, because all existing rows are null, and checking them would block announces meanwhile.
  'alter table users add constraint users_state_reason check (length(state_reason) <= 500) not valid',

  `create table warnings (
    id uuid primary key,
    user_id uuid not null references users (id),
    author_id uuid not null references users (id),
    text text not null check (length(text) between 1 and 1000),
    created_at timestamptz not null
  )`,
  'create index warnings_user on warnings (user_id, created_at desc, id desc)',

  `create table torrent_notes (
    id uuid primary key,
    torrent_id uuid not null references torrents (id) on delete cascade,
    author_id uuid not null references users (id),
    text text not null check (length(text) between 1 and 1000),
    created_at timestamptz not null
  )`,
  'create index torrent_notes_torrent on torrent_notes (torrent_id, created_at desc, id desc)',
  // For the record of an uploader. Only rows of the last 30 days, as deleted torrents are purged.
  'create index torrents_deleted_uploads on torrents (uploader_id) where deleted_at is not null',
]

/** Suspensions with an end and a reason, warnings to members, and notes by staff on torrents. */
export const moderation: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
