import type { NextEnvironment, StoredEnvironment } from '../secrets/environments.ts'
import type { Db } from './schema.ts'

/**
 * Reads an environment and locks it until the transaction ends, so that its changes happen one after another. Where it
 * has no row yet, a lock on the project's data key keeps others from making it.
 */
export async function lockEnvironment(trx: Db, projectUid: string, env: string): Promise<StoredEnvironment> {
  const stored = await trx
    .selectFrom('environments')
    .select(['revision', 'code'])
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
