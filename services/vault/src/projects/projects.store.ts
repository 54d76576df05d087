import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres/pool'
import { sql } from 'kysely'
import type { AllowedProjects } from '../access/administrator.ts'
import { insertAuditEntry } from '../audit/audit.store.ts'
import { anyUuid, type Db, writeTransaction } from '../database.ts'
import { apiError } from '../errors.ts'
import { keyRow, readProject, readProjects, writeProject } from '../integrity/rows.store.ts'
import { lockKek } from '../keyring/keyring.store.ts'
import type { KeyUseStore } from './key-uses.ts'
import type { ProjectStore } from './projects.ts'

/** Projects in Postgres. */
export function createProjectStore(db: Db): ProjectStore {
  return {
    list: () => readProjects(db),

    find: (name) => readProject(db, name),

    create: async (project, { wanted }, dataKey, entry) => {
      try {
        await writeTransaction(db, wanted, async (trx) => {
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
      writeTransaction(db, wanted, async (trx) => {
        // Weaker than `for update`: secrets can be written meanwhile, but other rotations wait.
        const locked = await trx
          .selectFrom('projects')
          .select('uid')
          .where('name', '=', name)
          .where(among(projects))
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
      writeTransaction(db, wanted, async (trx) => {
        const project = await trx
          .deleteFrom('projects')
          .where('name', '=', name)
          .where(among(projects))
          .returning(['uid', 'name'])
          .executeTakeFirst()
        if (project !== undefined) await insertAuditEntry(trx, entry, project)
        return project !== undefined
      }),
  }
}

/** Checks access again: while a change waited for its turn, the project may have been replaced by another of its name. */
function among(projects: AllowedProjects) {
  return projects === null ? sql<boolean>`true` : sql<boolean>`uid = ${anyUuid(projects.map(({ uid }) => uid))}`
}

/** When keys were last used, in Postgres. Rows that a rotation or another replica has locked are skipped. */
export function createKeyUseStore(db: Db): KeyUseStore {
  return {
    write: async (uses) => {
      await sql`with used as (
          select k.id, u.at
          from unnest(${uses.map(({ keyId }) => keyId)}::uuid[], ${uses.map(({ at }) => at)}::timestamptz[]) as u (id, at)
          join project_keys k on k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)
          for no key update of k skip locked
        )
        update project_keys k set last_used_at = used.at from used where k.id = used.id`.execute(db)
    },
  }
}
