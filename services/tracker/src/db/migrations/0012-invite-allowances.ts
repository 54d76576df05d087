import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // The default is for the previous release, which does not know the column.
  'alter table invites add from_allowance boolean not null default true',
  // What the role of a maker was at that time is not stored.
  `update invites set from_allowance = false from users where users.id = created_by and users.role <> 'member'`,
]

/** Whether an invite was taken from the allowance of its maker, who gets it back with the invite. */
export const inviteAllowances: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
