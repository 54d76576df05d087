import { sql } from 'kysely'
import { insertAuditEntry } from '../audit/audit.store.ts'
import type { Db } from '../database.ts'
import { findAdministrator, readAdministrators } from '../integrity/rows.store.ts'
import type { AdministratorProjectRow } from '../integrity/rows.ts'
import type { AdministratorStore } from './administrators.ts'

/** The advisory lock of creations, unique in this database. */
const CREATION_LOCK = 7_324_512

const NO_PROJECT = { uid: null, name: '' }

/** Named administrators in Postgres. */
export function createAdministratorStore(db: Db): AdministratorStore {
  return {
    list: () => readAdministrators(db),

    find: (by) => findAdministrator(db, by),

    create: (administrator, max, entry) =>
      db.transaction().execute(async (trx) => {
        await sql`select pg_advisory_xact_lock(${CREATION_LOCK})`.execute(trx)
        const { count } = await trx
          .selectFrom('administrators')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        if (count >= max) return false
        await trx
          .insertInto('administrators')
          .values({
            id: administrator.id,
            name: administrator.name,
            token_hash: Buffer.from(administrator.tokenHash),
            role: administrator.role,
            projects: administrator.projects === null ? null : [...administrator.projects],
            created_at: administrator.createdAt,
            expires_at: administrator.expiresAt,
            code: administrator.code,
          })
          .execute()
        await insertAuditEntry(trx, entry, NO_PROJECT)
        return true
      }),

    remove: (id, entry) =>
      db.transaction().execute(async (trx) => {
        const removed = await trx.deleteFrom('administrators').where('id', '=', id).returning('id').executeTakeFirst()
        if (removed !== undefined) await insertAuditEntry(trx, entry, NO_PROJECT)
        return removed !== undefined
      }),

    projectsOf: async (administratorId) => {
      const rows = await db
        .selectFrom('administrator_projects as b')
        .leftJoin('projects as p', (join) => join.onRef('p.uid', '=', 'b.project_uid').onRef('p.name', '=', 'b.name'))
        .select(['b.name', 'b.project_uid', 'b.code', 'p.uid'])
        .where('b.administrator_id', '=', administratorId)
        .execute()
      return rows.map(({ name, project_uid: projectUid, code, uid }) => ({
        ...{ administratorId, name, projectUid, code },
        exists: uid !== null,
      }))
    },

    unboundProjects: async () => {
      const { rows } = await sql<AdministratorProjectRow>`
        select a.id as "administratorId", p.name, p.uid as "projectUid"
        from administrators a join projects p on p.name = any(a.projects)
        where not exists (select from administrator_projects b where b.administrator_id = a.id and b.name = p.name)`.execute(
        db,
      )
      return rows
    },

    bind: async (rows) => {
      // One list per column, because Postgres limits the number of parameters.
      const listOf = (column: keyof (typeof rows)[number]) => rows.map((row) => row[column])
      await sql`
        insert into administrator_projects (administrator_id, name, project_uid, code)
        select b.* from unnest(
          ${listOf('administratorId')}::uuid[], ${listOf('name')}::text[], ${listOf('projectUid')}::uuid[],
          ${listOf('code')}::bytea[]
        ) as b (administrator_id, name, project_uid, code)
        join administrators a on a.id = b.administrator_id
        on conflict do nothing`.execute(db)
    },
  }
}
