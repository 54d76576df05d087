import { sql } from 'kysely'
import type { NextEnvironment, StoredEnvironment } from '../secrets/environments.ts'
import { codeUnlessOlder } from './high-water-marks.store.ts'
import type { Db } from './schema.ts'

/**
 * Reads an environment and locks it until the transaction ends, so that its changes happen one after another. Where it
 * has no row yet, a lock on the project's data key keeps others from making it.
 */
export async function lockEnvironment(trx: Db, projectUid: string, env: string): Promise<StoredEnvironment> {
  const stored = await trx
    .selectFrom('environments')
    .select(['revision', environmentCode().as('code')])
    .where('project_uid', '=', projectUid)
    .where('env', '=', env)
    .forUpdate()
    .executeTakeFirst()
  const current = await trx
    .selectFrom('secrets')
    .select(['key', 'version'])
    .where('project_uid', '=', projectUid)
    .where('env', '=', env)
    .execute()
  return { projectUid, env, current, stored }
}

/** The code of a row of `environments`; that of an older state, which was put back, is no code. */
export function environmentCode() {
  const columns = { id: 'environments.project_uid', number: sql.ref<number>('environments.revision'), code: 'code' }
  return codeUnlessOlder(columns, sql<string>`'env:' || environments.env`)
}

/**
 * The version of a secret's next value: one more than the last that the key has had in its environment, also before a
 * deletion. The current one is taken from a locked environment, whose code covers it.
 */
export async function nextVersion(
  trx: Db,
  { projectUid, env, current }: StoredEnvironment,
  key: string,
): Promise<number> {
  const known = current.find((each) => each.key === key)
  const { version } = await trx
    .selectFrom('removed_secrets')
    .select(({ fn }) => fn.max<number | null>('version').as('version'))
    .where('project_uid', '=', projectUid)
    .where('env', '=', env)
    // The empty key stands for all that have no row of their own.
    .where('key', 'in', known === undefined ? [key, ''] : [key])
    .executeTakeFirstOrThrow()
  return Math.max(known?.version ?? 0, version ?? 0) + 1
}

/** Stores the code of a locked environment. */
export async function writeEnvironment(
  trx: Db,
  { projectUid, env }: StoredEnvironment,
  { revision, code }: NextEnvironment,
): Promise<void> {
  await trx
    .insertInto('environments')
    .values({ project_uid: projectUid, env, revision, code })
    .onConflict((conflict) => conflict.columns(['project_uid', 'env']).doUpdateSet({ revision, code }))
    .execute()
}
