import { sql } from 'kysely'
import { readAdministrators } from '../db/administrator-rows.store.ts'
import { insertAuditEntries } from '../db/audit-entries.store.ts'
import { writeEnvironment } from '../db/environments.store.ts'
import { readProject, writeProject } from '../db/project-rows.store.ts'
import type { Db } from '../db/schema.ts'
import type { StoredEnvironment } from '../secrets/environments.ts'
import type { ProjectRows, Recorded, RowStore } from './row-authentication.ts'

/** The rows that decide access, in Postgres. */
export function createRowStore(db: Db): RowStore {
  return {
    names: async () => {
      const rows = await db.selectFrom('projects').select('name').orderBy('name').execute()
      return rows.map(({ name }) => name)
    },

    read: (name) =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute((trx) => readRows(trx, name)),

    recorded: async () => {
      const { rows } = await sql<Recorded>`
        select e.project_uid as "projectUid", max(e.project_id) as project,
          case when e.detail ? 'revision' then e.env end as env,
          max(coalesce(e.detail ->> 'revision', e.detail ->> 'generation')::bigint) as number,
          exists (select 1 from audit d where d.action = 'project.delete' and d.project_uid = e.project_uid) as deleted
        from audit e
        where e.action <> 'fetch' and (e.detail ? 'revision' or e.detail ? 'generation') and e.project_uid is not null
        group by 1, 3`.execute(db)
      return rows
    },

    administrators: async () => {
      const { rows } = await sql<{ id: string }>`
        select distinct detail ->> 'administrator' as id from audit where action = 'administrator.delete'`.execute(db)
      const removed = new Set(rows.map(({ id }) => id))
      return (await readAdministrators(db)).map((each) => ({ ...each, deleted: removed.has(each.id) }))
    },

    rewrite: (name, decide) =>
      db.transaction().execute(async (trx) => {
        // Every change of the project and of its secrets waits.
        await trx.selectFrom('projects').select('uid').where('name', '=', name).forUpdate().execute()
        const rows = await readRows(trx, name)
        const next = rows && decide(rows)
        if (rows === undefined || next === undefined) return
        await writeProject(trx, rows.project, next.project)
        for (const environment of next.environments) await writeEnvironment(trx, environment.before, environment)
        const { project } = rows
        await insertAuditEntries(
          trx,
          next.entries.map((entry) => ({ entry, project })),
        )
      }),
  }
}

async function readRows(trx: Db, name: string): Promise<ProjectRows | undefined> {
  const project = await readProject(trx, name)
  if (project === undefined) return undefined
  const secrets = await trx
    .selectFrom('secrets')
    .select(['env', 'key', 'version'])
    .where('project_uid', '=', project.uid)
    .execute()
  const stored = await trx
    .selectFrom('environments')
    .select(['env', 'revision', 'code'])
    .where('project_uid', '=', project.uid)
    .execute()
  const names = new Set([...stored, ...secrets].map(({ env }) => env))
  return {
    project,
    environments: [...names].toSorted().map(
      (env): StoredEnvironment => ({
        projectUid: project.uid,
        env,
        current: secrets.filter((secret) => secret.env === env),
        stored: stored.find((each) => each.env === env),
      }),
    ),
  }
}
