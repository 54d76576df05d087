import { type Kysely, type Migration, sql } from 'kysely'

const TABLES = [
  `create table trust_rules (
    id uuid primary key,
    project_uid uuid not null references projects on delete cascade,
    name text collate "C" not null,
    issuer text collate "C" not null,
    audience text collate "C" not null,
    algorithms text[] collate "C" not null,
    claims text[] collate "C" not null,
    access text not null check (access in ('read-write', 'read', 'write')),
    envs text[] collate "C",
    minutes integer not null check (minutes between 1 and 60),
    created_at timestamptz not null,
    code bytea not null,
    constraint trust_rules_name_key unique (project_uid, name)
  )`,
  'create index trust_rules_issuer on trust_rules (issuer)',
  `create table exchanged_keys (
    id uuid primary key,
    project_uid uuid not null references projects on delete cascade,
    rule_id uuid not null references trust_rules on delete cascade,
    public_key bytea not null,
    subject text not null,
    access text not null check (access in ('read-write', 'read', 'write')),
    envs text[] collate "C",
    created_at timestamptz not null,
    expires_at timestamptz not null,
    last_used_at timestamptz,
    code bytea not null,
    constraint exchanged_keys_public_key_key unique (project_uid, public_key)
  )`,
  'create index exchanged_keys_rule on exchanged_keys (rule_id)',
]

/**
 * A removed rule cannot be put back, nor a key that was revoked before its end. A key that has expired needs no mark,
 * because its code covers the end; nor does one that is deleted with its rule or its project.
 */
const TRIGGERS = [
  `create trigger trust_rules_mark after insert on trust_rules
    for each row execute function raise_mark('id', 'trust-rule', '')`,
  `create trigger trust_rules_deleted before delete on trust_rules
    for each row execute function close_marks('id', 'trust-rule')`,
  `create function remember_revoked() returns trigger
    language plpgsql security definer set search_path = public, pg_temp
    as $$
    begin
      if old.expires_at > now() - interval '5 minutes' and exists (select from trust_rules where id = old.rule_id) then
        insert into high_water_marks values (old.id, 'exchanged-key', 9223372036854775807) on conflict do nothing;
      end if;
      return old;
    end
    $$`,
  `create trigger exchanged_keys_deleted before delete on exchanged_keys
    for each row execute function remember_revoked()`,
  `create function refuse_revoked() returns trigger
    language plpgsql security definer set search_path = public, pg_temp
    as $$
    begin
      if exists (select from high_water_marks where id = new.id and subject = 'exchanged-key') then
        raise exception 'a revoked key cannot be put back';
      end if;
      return new;
    end
    $$`,
  `create trigger exchanged_keys_inserted before insert on exchanged_keys
    for each row execute function refuse_revoked()`,
]

/** Trust rules, and the keys that were admitted for ID tokens. */
export const exchange: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...TABLES, ...TRIGGERS]) await sql.raw(statement).execute(db)
    await sql`revoke all on function remember_revoked(), refuse_revoked() from public`.execute(db)
  },
}
