import { type Kysely, type Migration, sql } from 'kysely'

/** Finds the values that refer to an environment, which every write to it checks. */
export const referenceTargets: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create index secret_references_target on secret_references (project_uid, project, env)
      where project <> ''`.execute(db)
  },
}
