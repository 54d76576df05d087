import { type Kysely, type Migration, sql } from 'kysely'

/**
 * Authenticates the rows that control access. `code` is an HMAC under a key that only the keyring can decrypt; a row
 * with a missing or wrong code grants no access. `generation` and `revision` only grow, so that an old row with its old
 * code is recognised.
 */
const COLUMNS = [
  'alter table projects add column generation bigint not null default 0, add column code bytea',
  `alter table project_keys
    add column access text not null default 'read-write' check (access in ('read-write', 'read', 'write')),
    add column envs text[] collate "C",
    add column last_used_at timestamptz,
    add column code bytea`,
  // The code covers the names and current versions of all secrets of the environment.
  `create table environments (
    project_uid uuid not null references projects on delete cascade,
    env text collate "C" not null,
    revision integer not null check (revision > 0),
    code bytea not null,
    primary key (project_uid, env)
  )`,
  `create table administrators (
    id uuid primary key,
    name text not null,
    token_hash bytea not null constraint administrators_token_hash_key unique,
    role text not null check (role in ('administrator', 'auditor')),
    projects text[] collate "C",
    created_at timestamptz not null,
    expires_at timestamptz,
    code bytea not null
  )`,
  // Who acted: `key:` and a fingerprint, or `administrator:` and an id.
  'alter table audit add column actor text',
  // The run-time role has no right on it.
  'create table deleted_rows (id uuid primary key, deleted_at timestamptz not null)',
]

/** The triggers belong to the owner of the tables: the run-time role cannot switch them off. */
const TRIGGERS = [
  `create function require_growth() returns trigger
    language plpgsql set search_path = public, pg_temp
    as $$
    begin
      if (to_jsonb(new) ->> tg_argv[0])::bigint <= (to_jsonb(old) ->> tg_argv[0])::bigint then
        raise exception '% of % only grows', tg_argv[0], tg_table_name;
      end if;
      return new;
    end
    $$`,
  `create trigger projects_generation_grows before update on projects
    for each row execute function require_growth('generation')`,
  `create trigger environments_revision_grows before update on environments
    for each row execute function require_growth('revision')`,
  `create function remember_deleted() returns trigger
    language plpgsql security definer set search_path = public, pg_temp
    as $$
    begin
      insert into deleted_rows values ((to_jsonb(old) ->> tg_argv[0])::uuid, now()) on conflict do nothing;
      return null;
    end
    $$`,
  `create function refuse_deleted() returns trigger
    language plpgsql security definer set search_path = public, pg_temp
    as $$
    begin
      if exists (select 1 from deleted_rows where id = (to_jsonb(new) ->> tg_argv[0])::uuid) then
        raise exception 'a row of % that was deleted is not put back', tg_table_name;
      end if;
      return new;
    end
    $$`,
  ...[
    ['projects', 'uid'],
    ['administrators', 'id'],
  ].flatMap(([table, id]) => [
    `create trigger ${String(table)}_deleted after delete on ${String(table)}
      for each row execute function remember_deleted('${String(id)}')`,
    `create trigger ${String(table)}_inserted before insert on ${String(table)}
      for each row execute function refuse_deleted('${String(id)}')`,
  ]),
]

/** Authenticates keys, projects, the current versions of secrets and administrators. */
export const authenticatedRows: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...COLUMNS, ...TRIGGERS]) await sql.raw(statement).execute(db)
    await sql`revoke all on function remember_deleted(), refuse_deleted(), require_growth() from public`.execute(db)
  },
}
