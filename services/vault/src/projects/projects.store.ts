import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres/pool'
import { anyUuid } from '../db/any-uuid.store.ts'
import { insertAuditEntry } from '../db/audit-entries.store.ts'
import { lockKek } from '../db/kek-lock.store.ts'
import { keyRow, readProject, readProjects, writeProject } from '../db/project-rows.store.ts'
import type { Db } from '../db/schema.ts'
import { wantedTransaction } from '../db/wanted-transaction.store.ts'
import { apiError } from '../errors.ts'
import { type ProjectStore, type Theirs, uidsOf } from './projects.ts'

/** Projects in Postgres. */
export function createProjectStore(db: Db): ProjectStore {
  return {
    list: () => readProjects(db),

    find: (name) => readProject(db, name),

    create: async (project, { wanted }, dataKey, entry) => {
      try {
        await wantedTransaction(db, wanted, async (trx) => {
          await lockKek(trx, dataKey.kekId)
          await trx
            .insertInto('projects')
            .values({
              uid: project.uid,
              name: project.name,
              require_content_digest: project.requireContentDigest,
              created_at: project.createdAt,
              generation: project.generation,
              code: project.code,
            })
            .execute()
          await trx
            .insertInto('project_keys')
            .values(project.keys.map((key) => keyRow(project.uid, key)))
            .execute()
          await trx
            .insertInto('project_deks')
            .values({
              project_uid: project.uid,
              dek_v: dataKey.dekV,
              kek_id: dataKey.kekId,
              wrapped: dataKey.wrapped,
              created_at: project.createdAt,
            })
            .execute()
          await insertAuditEntry(trx, entry, project)
        })
      } catch (error) {
        if (violatedUniqueConstraint(error) === 'projects_name_key') throw apiError('project_exists')
        throw error
      }
    },

    change: (name, { wanted, projects }, decide, entryFor) =>
      wantedTransaction(db, wanted, async (trx) => {
        // Weaker than `for update`: secrets can be written meanwhile, and two rotations still wait for each other.
        const locked = await trx
          .selectFrom('projects')
          .select('uid')
          .where('name', '=', name)
          .$if(isLimited(projects), (query) => query.where('uid', '=', anyUuid(uidsOf(projects))))
          .forNoKeyUpdate()
          .executeTakeFirst()
        if (locked === undefined) return false
        const before = await readProject(trx, name)
        if (before === undefined) return false
        const after = decide(before)
        if (after !== before) await writeProject(trx, before, after)
        await insertAuditEntry(trx, entryFor(after), after)
        return true
      }),

    remove: (name, { wanted, projects }, entry) =>
      wantedTransaction(db, wanted, async (trx) => {
        const project = await trx
          .deleteFrom('projects')
          .where('name', '=', name)
          .$if(isLimited(projects), (query) => query.where('uid', '=', anyUuid(uidsOf(projects))))
          .returning(['uid', 'name'])
          .executeTakeFirst()
        if (project !== undefined) await insertAuditEntry(trx, entry, project)
        return project !== undefined
      }),
  }
}

/** While a change waited for its turn, the project may have given way to another one of its name. */
function isLimited(projects: Theirs | undefined): boolean {
  return projects !== undefined && projects !== null
}
