import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  'alter table administrators drop constraint administrators_role_check',
  `alter table administrators add constraint administrators_role_check
    check (role in ('administrator', 'editor', 'auditor'))`,
  // They decide no access, so no code covers them.
  'alter table secrets add column note text, add column owner text, add column expires_at timestamptz',
  'create index secrets_expires_at on secrets (expires_at) where expires_at is not null',
]

/** Administrators who only edit secrets; owner, note and expiry of a secret. */
export const secretDetails: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
