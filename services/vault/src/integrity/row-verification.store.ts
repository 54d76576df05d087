import { sql } from 'kysely'
import { insertAuditEntries } from '../audit/audit.store.ts'
import type { Db } from '../database.ts'
import { exchangedKeys, toExchangedKey, toTrustRule, trustRules } from './exchange-rows.store.ts'
import { readWebhooks, referenceRules, sessions } from './feature-rows.store.ts'
import { type Claim, MAX_CLAIM, type ProjectRows, type RowStore } from './row-verification.ts'
import { environmentCode, readAdministrators, readProject, writeEnvironment, writeProject } from './rows.store.ts'
import type { StoredEnvironment } from './rows.ts'

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

    values: async (projectUid, env) => {
      const rows = await db
        .selectFrom('secrets as s')
        .leftJoin('secret_versions as v', (join) =>
          join.onRef('v.secret_id', '=', 's.id').onRef('v.version', '=', 's.version'),
        )
        .select(['s.key', 's.version', 'v.blob'])
        .where('s.project_uid', '=', projectUid)
        .where('s.env', '=', env)
        .orderBy('s.key')
        .execute()
      return rows.map(({ blob, ...row }) => ({ ...row, blob: blob ?? Buffer.alloc(0) }))
    },

    claims: async () => {
      const { rows } = await sql<Claim>`
        with newest as (
          select distinct on (project_uid, env) * from (${CLAIMS}) as claims where number is not null
          order by project_uid, env, number desc
        )
        select project_uid as "projectUid", project_id as project, env, number, id as entry,
          (select d.id from audit d where d.action = 'project.delete' and d.project_uid = newest.project_uid limit 1)
            as deletion
        from newest`.execute(db)
      return rows
    },

    forgedClaims: async (limit) => {
      const { rows } = await sql<{ id: string }>`
        select id from (${CLAIMS}) as claims where number is null order by seq limit ${limit}`.execute(db)
      return rows.map(({ id }) => id)
    },

    administrators: () => withDeleted(db, ['administrator.delete', 'administrator'], () => readAdministrators(db)),

    trustRules: () =>
      withDeleted(db, ['trust-rule.delete', 'rule'], async () =>
        (await trustRules(db).orderBy('r.id').execute()).map(toTrustRule),
      ),

    exchangedKeys: async () => (await exchangedKeys(db).orderBy('x.id').execute()).map(toExchangedKey),

    sessions: () => sessions(db).orderBy('s.id').execute(),

    referenceRules: () =>
      withDeleted(db, ['reference-rule.delete', 'rule'], () => referenceRules(db).orderBy('r.id').execute()),

    webhooks: () => withDeleted(db, ['webhook.delete', 'webhook'], () => readWebhooks(db)),

    rewrite: (name, decide) =>
      db.transaction().execute(async (trx) => {
        // All changes of the project and its secrets wait.
        await trx.selectFrom('projects').select('uid').where('name', '=', name).forUpdate().execute()
        const rows = await readRows(trx, name)
        const resealed = rows && decide(rows)
        if (rows === undefined || resealed === undefined) return
        await writeProject(trx, rows.project, resealed.project)
        for (const environment of resealed.environments) await writeEnvironment(trx, environment.before, environment)
        await insertAuditEntries(
          trx,
          resealed.entries.map((entry) => ({ entry, project: rows.project })),
        )
      }),
  }
}

/**
 * Audit entries with a generation or with the revision of an environment. Anyone who can insert entries chooses their
 * contents, so the number is null unless it is one that the vault writes.
 */
const CLAIMS = sql`
  select seq, id, project_uid, project_id, env,
    case when jsonb_typeof(claimed) = 'number' and (env is not null) = (detail ? 'revision') then
      case when claimed::numeric between 1 and ${sql.lit(MAX_CLAIM)} and claimed::numeric % 1 = 0 then claimed::bigint end
    end as number
  from (
    select *, coalesce(detail -> 'revision', detail -> 'generation') as claimed from audit
    where action <> 'fetch' and project_uid is not null and (detail ? 'revision' or detail ? 'generation')
  ) as e`

/** Reads rows after the removals in the audit log, because a row may be removed meanwhile. */
async function withDeleted<Row extends { readonly id: string }>(
  db: Db,
  [action, member]: readonly [action: string, member: string],
  read: () => Promise<readonly Row[]>,
): Promise<readonly (Row & { readonly deleted: boolean })[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct detail ->> ${member} as id from audit where action = ${action}`.execute(db)
  const removed = new Set(rows.map(({ id }) => id))
  return (await read()).map((row) => ({ ...row, deleted: removed.has(row.id) }))
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
    .select(['env', 'revision', 'parent', environmentCode().as('code')])
    .where('project_uid', '=', project.uid)
    .execute()
  const marks = await trx
    .selectFrom('high_water_marks')
    .select(['subject', 'number'])
    .where('id', '=', project.uid)
    .execute()
  const names = new Set([...stored, ...secrets].map(({ env }) => env))
  return {
    project,
    marks: new Map(marks.map(({ subject, number }) => [subject, number])),
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
