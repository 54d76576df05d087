import { type Kysely, type Migration, sql } from 'kysely'
import { ENSURE_PARTITIONS } from './0001-init.ts'

/**
 * A fetch locks the log before the projects, a write the other way round, so every order of locks can cause a deadlock.
 * Therefore the wait is short, and all locks are released before the next attempt.
 */
const LOCK = `do $$
  begin
    for attempt in 1..200 loop
      begin
        set local lock_timeout = '200ms';
        lock table projects, audit, project_deks, environments, secrets, administrators, audit_seals
          in access exclusive mode;
        set local lock_timeout to default;
        return;
      exception when lock_not_available or deadlock_detected then
        perform pg_sleep(random() * 0.1);
      end;
    end loop;
    raise exception 'another session keeps the tables locked, for example a dump; migrate again when it has ended';
  end
  $$`

/** The old triggers saw a deletion too late. */
const BEFORE = [
  LOCK,
  'drop trigger projects_generation_grows on projects',
  'drop trigger environments_revision_grows on environments',
  ...['projects', 'administrators'].flatMap((table) => [
    `drop trigger ${table}_deleted on ${table}`,
    `drop trigger ${table}_inserted on ${table}`,
  ]),
  'drop function remember_deleted(), refuse_deleted()',
]

/**
 * The highest number that a row has had: the generation of a project, the revision of an environment, the version of the
 * newest data key. Only triggers write marks, as the owner, so the run-time role cannot lower one, and readers refuse a
 * row below its mark. A mark outlives its row; a deleted project or administrator has one above every number. With room in
 * its pages an update stays in its page, and the planner prefers the index also for few rows: every fetch reads two.
 */
const MARKS = [
  `create table high_water_marks (
    id uuid not null,
    subject text collate "C" not null,
    number bigint not null,
    primary key (id, subject)
  ) with (fillfactor = 25)`,
  `insert into high_water_marks
    select uid, 'project', generation from projects
    union all select project_uid, 'env:' || env, revision from environments
    union all select project_uid, 'data-key', max(dek_v) from project_deks group by 1
    union all select id, 'administrator', 1 from administrators
    union all select id, subject, 9223372036854775807
      from deleted_rows, (values ('project'), ('administrator')) as subjects (subject)`,
  'drop table deleted_rows',
  // The arguments: the column with the id, the subject, the column with the number. Without such a column it is 1.
  `create function raise_mark() returns trigger
    language plpgsql security definer set search_path = public, pg_temp
    as $$
    declare
      written jsonb := to_jsonb(new);
    begin
      insert into high_water_marks as mark values (
          (written ->> tg_argv[0])::uuid,
          tg_argv[1] || coalesce(':' || (written ->> 'env'), ''),
          coalesce((written ->> tg_argv[2])::bigint, 1))
        on conflict (id, subject) do update set number = excluded.number where mark.number < excluded.number;
      if not found then
        raise exception 'the number of a row of % only grows, also after a deletion', tg_table_name;
      end if;
      return null;
    end
    $$`,
  `create function close_marks() returns trigger
    language plpgsql security definer set search_path = public, pg_temp
    as $$
    declare
      deleted uuid := (to_jsonb(old) ->> tg_argv[0])::uuid;
    begin
      delete from high_water_marks where id = deleted;
      insert into high_water_marks values (deleted, tg_argv[1], 9223372036854775807);
      return old;
    end
    $$`,
  // After the row was written: an insert that gives way to an update has written nothing.
  ...[
    ['projects', 'insert or update', "'uid', 'project', 'generation'"],
    ['environments', 'insert or update', "'project_uid', 'env', 'revision'"],
    ['project_deks', 'insert', "'project_uid', 'data-key', 'dek_v'"],
    ['administrators', 'insert', "'id', 'administrator', ''"],
  ].map(
    ([table, events, place]) => `create trigger ${String(table)}_mark after ${String(events)} on ${String(table)}
      for each row execute function raise_mark(${String(place)})`,
  ),
  // Before the row is deleted: the rest of the same statement finds the mark.
  ...[
    ['projects', "'uid', 'project'"],
    ['administrators', "'id', 'administrator'"],
  ].map(
    ([table, place]) => `create trigger ${String(table)}_deleted before delete on ${String(table)}
      for each row execute function close_marks(${String(place)})`,
  ),
]

/**
 * The last versions of deleted secrets, so that a key that is stored again continues its count: an old ciphertext, which
 * is bound to its version, never decrypts again. Of more than 1,000 in an environment, the half with the lowest versions
 * becomes one row with an empty key: the lowest count of all keys without a separate row.
 */
const VERSIONS = [
  `create table removed_secrets (
    project_uid uuid not null references projects on delete cascade,
    env text collate "C" not null,
    key text collate "C" not null,
    version integer not null,
    primary key (project_uid, env, key)
  )`,
  `create function remember_versions() returns trigger
    language plpgsql security definer set search_path = public, pg_temp
    as $$
    declare
      place record;
      lowest integer;
    begin
      -- A secret that is deleted with its project needs no count.
      insert into removed_secrets as known
        select g.project_uid, g.env, g.key, g.version from gone g join projects p on p.uid = g.project_uid
        on conflict (project_uid, env, key) do update set version = greatest(known.version, excluded.version);
      for place in
        select r.project_uid, r.env from removed_secrets r
        where (r.project_uid, r.env) in (select g.project_uid, g.env from gone g)
        group by 1, 2 having count(*) > 1000
      loop
        select percentile_disc(0.5) within group (order by r.version) into lowest from removed_secrets r
          where r.project_uid = place.project_uid and r.env = place.env;
        insert into removed_secrets as known values (place.project_uid, place.env, '', lowest)
          on conflict (project_uid, env, key) do update set version = greatest(known.version, excluded.version);
        delete from removed_secrets r
          where r.project_uid = place.project_uid and r.env = place.env and r.key <> '' and r.version <= lowest;
      end loop;
      return null;
    end
    $$`,
  `create trigger secrets_deleted after delete on secrets referencing old table as gone
    for each statement execute function remember_versions()`,
]

/**
 * Entries of the log are listed by `seq`, which the run-time role cannot choose, unlike their ids; and each can be shown.
 * A seal is authenticated, even when its rows are dropped. One of an earlier release, which is not, cannot follow.
 */
const LOG = [
  'drop index audit_project_id_id, audit_action_id',
  'create index audit_project_id_seq on audit (project_id, seq)',
  "create index audit_action_seq on audit (action, seq) where action <> 'fetch'",
  `alter table audit add constraint audit_can_be_shown check (
    requested_at > '-infinity' and requested_at < '10000-01-01T00:00Z'
    and (detail is null or jsonb_typeof(detail) = 'object')) not valid`,
  'alter table audit_seals add column mac bytea',
  `create function require_next_seal() returns trigger
    language plpgsql security definer set search_path = public, pg_temp
    as $$
    declare
      last audit_seals%rowtype;
    begin
      select * into last from audit_seals order by seal_no desc limit 1;
      if new.seal_no <> coalesce(last.seal_no, 0) + 1 or cardinality(new.seqs) > 1000
        or octet_length(new.gaps::text) > 1000000
        or new.position > (select last_value from audit_seq) or (new.mac is null and last.mac is not null) then
        raise exception 'a seal follows the last one, has a code, and ends where the log does';
      end if;
      return new;
    end
    $$`,
  `create trigger audit_seals_inserted before insert on audit_seals
    for each row execute function require_next_seal()`,
  // A new partition has the constraint of the log from the start.
  ENSURE_PARTITIONS.replace('create function', 'create or replace function').replace(
    'including defaults',
    'including defaults including constraints',
  ),
]

/** Stores high-water marks that the run-time role cannot change. */
export const tampering: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...BEFORE, ...MARKS, ...VERSIONS, ...LOG]) await sql.raw(statement).execute(db)
    await sql`revoke all on function raise_mark(), close_marks(), remember_versions(), require_next_seal() from public`.execute(
      db,
    )
  },
}
