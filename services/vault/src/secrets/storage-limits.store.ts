import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import { apiError } from '../errors.ts'
import type { StorageLimits } from './secrets.ts'

/**
 * Refuses values that could not be fetched: all values of an environment are one response, built in memory. Names count
 * as values do.
 *
 * @throws ApiError payload_too_large when the environment has become too large
 */
export async function requireSpace(trx: Db, projectUid: string, env: string, limits: StorageLimits): Promise<void> {
  const { bytes } = await trx
    .selectFrom('secrets as s')
    .innerJoin('secret_versions as v', (join) =>
      join.onRef('v.secret_id', '=', 's.id').onRef('v.version', '=', 's.version'),
    )
    .select(sql<number>`coalesce(sum(octet_length(v.blob) + octet_length(s.key)), 0)::bigint`.as('bytes'))
    .where('s.project_uid', '=', projectUid)
    .where('s.env', '=', env)
    .executeTakeFirstOrThrow()
  if (bytes > limits.environmentBytes)
    throw apiError(
      'payload_too_large',
      `The environment would have more than ${String(limits.environmentBytes)} bytes.`,
    )
}

/** @throws ApiError payload_too_large when the environment, as it was before, takes no more secrets */
export function requireFewSecrets(before: readonly unknown[], limits: StorageLimits): void {
  if (before.length >= limits.secrets)
    throw apiError('payload_too_large', `The environment would have more than ${String(limits.secrets)} secrets.`)
}

/** @throws ApiError payload_too_large when the project has got too many environments */
export async function requireFewEnvironments(trx: Db, projectUid: string, limits: StorageLimits): Promise<void> {
  const { count } = await trx
    .selectFrom('secrets')
    .select(({ fn }) => fn.count<number>('env').distinct().as('count'))
    .where('project_uid', '=', projectUid)
    .executeTakeFirstOrThrow()
  if (count > limits.environments)
    throw apiError('payload_too_large', `The project would have more than ${String(limits.environments)} environments.`)
}

/** Keeps the newest versions of a secret. */
export async function dropOldVersions(trx: Db, id: string, newest: number, limits: StorageLimits): Promise<void> {
  if (newest > limits.versions) await sql`select drop_old_versions(${id}, ${limits.versions})`.execute(trx)
}
