import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  `create table administrator_sessions (
    id uuid primary key,
    token_hash bytea not null,
    subject text collate "C" not null,
    name text not null,
    roles text[] collate "C" not null,
    settings text collate "C" not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    code bytea not null,
    constraint administrator_sessions_token_hash_key unique (token_hash)
  )`,
  // A session that ended early cannot be put back. One that has expired needs no mark, because its code covers the end.
  `create trigger administrator_sessions_deleted before delete on administrator_sessions
    for each row when (old.expires_at > now() - interval '5 minutes') execute function close_marks('id', 'session')`,
  `create function refuse_ended_session() returns trigger
    language plpgsql security definer set search_path = public, pg_temp
    as $$
    begin
      if exists (select from high_water_marks where id = new.id and subject = 'session') then
        raise exception 'a session that has ended cannot be put back';
      end if;
      return new;
    end
    $$`,
  `create trigger administrator_sessions_inserted before insert on administrator_sessions
    for each row execute function refuse_ended_session()`,
  'revoke all on function refuse_ended_session() from public',
]

/** Sessions of administrators who signed in with OIDC. */
export const administratorSessions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
