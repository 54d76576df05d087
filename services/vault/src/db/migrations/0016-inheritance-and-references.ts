import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // The environment of the same project from which an environment inherits. Its code covers it.
  'alter table environments add column parent text collate "C"',
  // Which other projects may refer to secrets of a project. A removed rule cannot be put back.
  `create table reference_rules (
    id uuid primary key,
    project_uid uuid not null references projects on delete cascade,
    reader_uid uuid not null references projects on delete cascade,
    reader_envs text[] collate "C",
    envs text[] collate "C",
    keys text[] collate "C",
    created_at timestamptz not null,
    code bytea not null
  )`,
  'create index reference_rules_project_uid on reference_rules (project_uid, reader_uid)',
  'create index reference_rules_reader_uid on reference_rules (reader_uid)',
  `create trigger reference_rules_mark after insert on reference_rules
    for each row execute function raise_mark('id', 'reference-rule', '')`,
  `create trigger reference_rules_deleted before delete on reference_rules
    for each row execute function close_marks('id', 'reference-rule')`,
  // The environments to which a version of a secret, in the environment `source`, refers; its own one has empty names.
  `create table secret_references (
    secret_id uuid not null,
    version integer not null,
    project_uid uuid not null,
    source text collate "C" not null,
    project text collate "C" not null,
    env text collate "C" not null,
    primary key (secret_id, version, project, env),
    foreign key (secret_id, version) references secret_versions on delete cascade
  )`,
  'create index secret_references_source on secret_references (project_uid, source)',
]

/** Parents of environments, and values that refer to others. */
export const inheritanceAndReferences: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
