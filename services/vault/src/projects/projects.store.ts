import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres'
import type { Selectable } from 'kysely'
import { insertAuditEntry } from '../db/audit-entries.store.ts'
import { lockKek } from '../db/kek-lock.store.ts'
import type { Db, Schema } from '../db/schema.ts'
import { apiError } from '../errors.ts'
import type { ProjectKey } from './project-keys.ts'
import type { ProjectStore, StoredProject } from './projects.ts'

/** Projects in Postgres. */
export function createProjectStore(db: Db): ProjectStore {
  return {
    list: async () => {
      const projects = await db.selectFrom('projects').selectAll().orderBy('name').execute()
      const keys = await db.selectFrom('project_keys').selectAll().orderBy('id').execute()
      const keysOf = new Map<string, Selectable<Schema['project_keys']>[]>()
      for (const key of keys) keysOf.set(key.project_uid, [...(keysOf.get(key.project_uid) ?? []), key])
      // A project whose keys are missing here was created between the two queries.
      return projects.flatMap((project) => {
        const own = keysOf.get(project.uid)
        return own === undefined ? [] : [toProject(project, own)]
      })
    },

    find: async (name) => {
      const rows = await db
        .selectFrom('projects as p')
        .innerJoin('project_keys as k', 'k.project_uid', 'p.uid')
        .select(['p.uid', 'p.name', 'p.require_content_digest', 'p.created_at'])
        .select(['k.id', 'k.project_uid', 'k.public_key', 'k.created_at as key_created_at', 'k.not_after'])
        .where('p.name', '=', name)
        .orderBy('k.id')
        .execute()
      const [project] = rows
      return (
        project &&
        toProject(
          project,
          rows.map((row) => ({ ...row, created_at: row.key_created_at })),
        )
      )
    },

    create: async (project, dataKey, entry) => {
      try {
        await db.transaction().execute(async (trx) => {
          await lockKek(trx, dataKey.kekId)
          await trx
            .insertInto('projects')
            .values({
              uid: project.uid,
              name: project.name,
              require_content_digest: project.requireContentDigest,
              created_at: project.createdAt,
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

    changeKeys: (name, decide, entry) =>
      db.transaction().execute(async (trx) => {
        // Weaker than `for update`: secrets can be written meanwhile, and two rotations still wait for each other.
        const project = await trx
          .selectFrom('projects')
          .select(['uid', 'name'])
          .where('name', '=', name)
          .forNoKeyUpdate()
          .executeTakeFirst()
        if (project === undefined) return false
        const keys = await trx.selectFrom('project_keys').selectAll().where('project_uid', '=', project.uid).execute()
        const change = decide(keys.map(toKey))
        if (change.forget.length > 0) await trx.deleteFrom('project_keys').where('id', 'in', change.forget).execute()
        for (const { id, notAfter } of change.end)
          await trx.updateTable('project_keys').set({ not_after: notAfter }).where('id', '=', id).execute()
        await trx.insertInto('project_keys').values(keyRow(project.uid, change.add)).execute()
        await insertAuditEntry(trx, entry, project)
        return true
      }),

    setRequireContentDigest: (name, required, entry) =>
      db.transaction().execute(async (trx) => {
        const project = await trx
          .updateTable('projects')
          .set({ require_content_digest: required })
          .where('name', '=', name)
          .returning(['uid', 'name'])
          .executeTakeFirst()
        if (project !== undefined) await insertAuditEntry(trx, entry, project)
        return project !== undefined
      }),

    remove: (name, entry) =>
      db.transaction().execute(async (trx) => {
        const project = await trx
          .deleteFrom('projects')
          .where('name', '=', name)
          .returning(['uid', 'name'])
          .executeTakeFirst()
        if (project !== undefined) await insertAuditEntry(trx, entry, project)
        return project !== undefined
      }),
  }
}

function keyRow(projectUid: string, key: ProjectKey) {
  return {
    id: key.id,
    project_uid: projectUid,
    public_key: Buffer.from(key.publicKey),
    created_at: key.createdAt,
    not_after: key.notAfter,
  }
}

function toKey(row: Selectable<Schema['project_keys']>): ProjectKey {
  return { id: row.id, publicKey: row.public_key, createdAt: row.created_at, notAfter: row.not_after }
}

function toProject(
  row: Selectable<Schema['projects']>,
  keys: readonly Selectable<Schema['project_keys']>[],
): StoredProject {
  return {
    uid: row.uid,
    name: row.name,
    requireContentDigest: row.require_content_digest,
    createdAt: row.created_at,
    keys: keys.map(toKey),
  }
}
