import { type Kysely, type Migration, sql } from 'kysely'

const TABLES = [
  // The API identifies a project by its name, ciphertexts by its uid: a project that is created again under the name of
  // a deleted one is another project, and values of the deleted one do not decrypt in it.
  `create table projects (
    uid uuid primary key,
    name text collate "C" not null constraint projects_name_key unique,
    require_content_digest boolean not null default false,
    created_at timestamptz not null
  )`,
  `create table project_keys (
    id uuid primary key,
    project_uid uuid not null references projects on delete cascade,
    public_key bytea not null check (octet_length(public_key) = 32),
    created_at timestamptz not null,
    not_after timestamptz,
    constraint project_keys_project_uid_public_key_key unique (project_uid, public_key)
  )`,
  `create table keks (
    kek_id text collate "C" primary key,
    fingerprint text not null,
    first_seen timestamptz not null,
    retired_at timestamptz
  )`,
  `create table project_deks (
    project_uid uuid not null references projects on delete cascade,
    dek_v integer not null check (dek_v > 0),
    kek_id text collate "C" not null references keks,
    wrapped bytea not null,
    encryptions bigint not null default 0,
    created_at timestamptz not null,
    primary key (project_uid, dek_v)
  )`,
  'create index project_deks_kek_id on project_deks (kek_id)',
  `create table secrets (
    id uuid primary key,
    project_uid uuid not null references projects on delete cascade,
    env text collate "C" not null,
    key text collate "C" not null,
    version integer not null check (version > 0),
    updated_at timestamptz not null,
    constraint secrets_project_uid_env_key_key unique (project_uid, env, key)
  )`,
  // The values, all versions. The blob names its format, algorithm and data key; see keyring/envelope.ts.
  `create table secret_versions (
    secret_id uuid not null references secrets on delete cascade,
    version integer not null,
    dek_v integer not null,
    blob bytea not null,
    created_at timestamptz not null,
    primary key (secret_id, version)
  )`,
]

/**
 * The log has no foreign keys, so entries survive their project. The id is a UUIDv7, so one index serves identity,
 * order, paging and the monthly partitions. Dropping a month is one cheap statement at any size.
 * `seq` numbers the rows for the sealer, which reads them in any partition.
 */
const AUDIT = [
  'create sequence audit_seq',
  `create table audit (
    id uuid primary key,
    seq bigint not null default nextval('audit_seq'),
    project_uid uuid,
    project_id text collate "C" not null,
    action text not null,
    env text collate "C",
    requested_at timestamptz not null,
    ip inet not null,
    detail jsonb
  ) partition by range (id)`,
  'create index audit_project_id_id on audit (project_id, id)',
  'create index audit_seq_idx on audit (seq)',
  // A listing of a rare action does not scan fetches, and inserting a fetch does not update this index.
  "create index audit_action_id on audit (action, id) where action <> 'fetch'",
  // Rows with a time outside of all partitions. A new partition takes over its rows from here.
  'create table audit_default partition of audit default',
  `create table audit_keys (
    key_no integer primary key,
    kek_id text collate "C" not null references keks,
    wrapped bytea not null,
    created_at timestamptz not null
  )`,
  'create index audit_keys_kek_id on audit_keys (kek_id)',
  // One row per sealed batch: which rows, in which order, and after each of them the chain's code (32 bytes each).
  `create table audit_seals (
    seal_no bigint primary key,
    key_no integer not null references audit_keys,
    seqs bigint[] not null check (cardinality(seqs) > 0),
    codes bytea not null,
    -- The highest number that was read, and the numbers below it without a visible row: [first, last, noticed in ms].
    position bigint not null,
    gaps jsonb not null,
    sealed_at timestamptz not null,
    check (octet_length(codes) = 32 * cardinality(seqs))
  )`,
  // The months that were dropped on purpose, so that a verification can tell them from deleted rows.
  `create table audit_prunings (
    month date primary key,
    first_seq bigint,
    last_seq bigint,
    pruned_at timestamptz not null
  )`,
]

/** A UUIDv7 starts with its time: the smallest id of a month is the lower bound of its partition. */
const MONTH_BOUND = `create function audit_month_bound(month timestamptz) returns uuid
  language sql immutable set search_path = pg_catalog
  as $$
    select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-0000-0000-000000000000')::uuid
    from (select lpad(to_hex((extract(epoch from month) * 1000)::bigint), 12, '0') as hex) as prefix
  $$`

/**
 * Creates the partitions of this month and the next ones. It runs with the rights of the owner, so that the service can
 * call it without rights to change tables.
 */
export const ENSURE_PARTITIONS = `create function audit_ensure_partitions(months_ahead integer default 3) returns integer
  language plpgsql security definer set search_path = public, pg_temp
  as $$
  declare
    first timestamptz := date_trunc('month', now(), 'UTC');
    month timestamptz;
    lower_bound uuid;
    upper_bound uuid;
    partition text;
    made integer := 0;
  begin
    for ahead in 0 .. least(greatest(months_ahead, 0), 12) loop
      month := (first at time zone 'UTC' + make_interval(months => ahead)) at time zone 'UTC';
      partition := 'audit_' || to_char(month at time zone 'UTC', 'YYYY_MM');
      continue when to_regclass('public.' || partition) is not null;
      perform pg_advisory_xact_lock(hashtext('audit_ensure_partitions'));
      continue when to_regclass('public.' || partition) is not null;
      lower_bound := audit_month_bound(month);
      upper_bound := audit_month_bound((month at time zone 'UTC' + interval '1 month') at time zone 'UTC');
      -- Attaching a finished table takes a weaker lock on the log than creating a partition in place.
      execute format('create table %I (like audit including defaults)', partition);
      execute format('alter table %I add constraint %I check (id >= %L and id < %L)',
        partition, partition || '_bounds', lower_bound, upper_bound);
      execute format('with moved as (delete from audit_default where id >= %L and id < %L returning *)
        insert into %I select * from moved', lower_bound, upper_bound, partition);
      execute format('alter table audit attach partition %I for values from (%L) to (%L)',
        partition, lower_bound, upper_bound);
      execute format('alter table %I drop constraint %I', partition, partition || '_bounds');
      made := made + 1;
    end loop;
    return made;
  end
  $$`

/** The first schema: projects, keys, secrets with their versions, and the audit log. */
export const init: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...TABLES, ...AUDIT, MONTH_BOUND, ENSURE_PARTITIONS]) await sql.raw(statement).execute(db)
    await sql`revoke all on function audit_ensure_partitions(integer) from public`.execute(db)
    await sql`select audit_ensure_partitions(3)`.execute(db)
  },
}
