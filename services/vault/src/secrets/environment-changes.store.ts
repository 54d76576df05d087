import { sql } from 'kysely'
import type { ProjectRef } from '../access/administrator.ts'
import { insertAuditEntries } from '../audit/audit.store.ts'
import type { NewEntry } from '../audit/audit.ts'
import type { Db } from '../database.ts'
import { apiError } from '../errors.ts'
import { writeEnvironment } from '../integrity/rows.store.ts'
import type { AuthenticRows, StoredEnvironment } from '../integrity/rows.ts'
import type { StoredDataKey } from '../keyring/data-keys.ts'
import type { StorageLimits } from './secrets.ts'

/** What changed in an environment; a secret without a version was deleted. `entry` is the first of its audit entries. */
export type EnvironmentChange = {
  readonly project: ProjectRef
  readonly env: string
  readonly secrets: readonly { readonly key: string; readonly version: number | undefined }[]
  readonly entry: NewEntry | undefined
}

/** Called in the transaction of every change of an environment. */
export type OnEnvironmentChange = (trx: Db, change: EnvironmentChange) => Promise<void>

/** Locks a project until the transaction ends, so that a deletion waits. False if it was deleted. */
export async function lockProject(trx: Db, uid: string): Promise<boolean> {
  const row = await trx.selectFrom('projects').select('uid').where('uid', '=', uid).forKeyShare().executeTakeFirst()
  return row !== undefined
}

/**
 * Locks the newest data key of a project until the transaction ends. It serialises all changes of its environments.
 */
export async function lockDataKey(trx: Db, projectUid: string): Promise<void> {
  await trx
    .selectFrom('project_deks')
    .select('dek_v')
    .where('project_uid', '=', projectUid)
    .orderBy('dek_v', 'desc')
    .limit(1)
    .forUpdate()
    .execute()
}

/** Counts an encryption with the newest data key of a project, and returns the key, locked until the transaction ends. */
export async function reserveDataKey(trx: Db, projectUid: string): Promise<StoredDataKey> {
  const row = await trx
    .updateTable('project_deks')
    .set({ encryptions: sql`encryptions + 1` })
    .where('project_uid', '=', projectUid)
    .where('dek_v', '=', (eb) =>
      eb
        .selectFrom('project_deks as newest')
        .select(({ fn }) => fn.max('newest.dek_v').as('dek_v'))
        .where('newest.project_uid', '=', projectUid),
    )
    .returning(['dek_v', 'kek_id', 'wrapped'])
    .executeTakeFirstOrThrow()
  return toDataKey(row)
}

/** Returns the stored data key of a row. */
export function toDataKey(row: { dek_v: number; kek_id: string; wrapped: Buffer }): StoredDataKey {
  return { dekV: row.dek_v, kekId: row.kek_id, wrapped: row.wrapped }
}

/**
 * The version of each secret's next value: one more than the last that the key had in its environment, including deleted
 * secrets. The current versions are taken from the locked environment, whose seal covers them.
 */
export async function nextVersions(
  trx: Db,
  { projectUid, env, current }: StoredEnvironment,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await trx
    .selectFrom('removed_secrets')
    .select(['key', 'version'])
    .where('project_uid', '=', projectUid)
    .where('env', '=', env)
    // The empty key represents all keys without their own row.
    .where('key', '=', sql<string>`any(${[...keys, '']}::text[])`)
    .execute()
  const removed = new Map(rows.map(({ key, version }) => [key, version]))
  const known = new Map(current.map(({ key, version }) => [key, version]))
  return new Map(
    keys.map((key) => [key, Math.max(known.get(key) ?? removed.get('') ?? 0, removed.get(key) ?? 0) + 1] as const),
  )
}

/** @throws ApiError payload_too_large if an environment would have more than the maximum number of secrets */
export function requireFewSecrets(count: number, limits: StorageLimits): void {
  if (count > limits.secrets)
    throw apiError(
      'payload_too_large',
      `The environment, or one that inherits from it, would have more than ${String(limits.secrets)} secrets.`,
    )
}

/**
 * Limits the names and values of an environment together with those of its ancestors, because a fetch builds its response
 * in memory. The same holds for each environment that inherits from it.
 *
 * @throws ApiError payload_too_large if the environment, or one that inherits from it, has become too large
 */
export async function requireSpace(trx: Db, projectUid: string, env: string, limits: StorageLimits): Promise<void> {
  const { rows } = await sql<{ secrets: number; bytes: number }>`
    with recursive heir (env) as (
      select ${env}::text collate "C"
      union select e.env from heir h join environments e on e.project_uid = ${projectUid} and e.parent = h.env
    ), level (heir, env) as (
      select env, env from heir
      union select l.heir, e.parent from level l
        join environments e on e.project_uid = ${projectUid} and e.env = l.env and e.parent is not null
    ), size as materialized (
      select l.env, count(*) as secrets, sum(octet_length(v.blob) + octet_length(s.key)) as bytes
      from (select distinct env from level) as l
      join secrets s on s.project_uid = ${projectUid} and s.env = l.env
      join secret_versions v on v.secret_id = s.id and v.version = s.version
      group by l.env
    ), total as (
      select sum(z.secrets) as secrets, sum(z.bytes) as bytes from level l join size z on z.env = l.env group by l.heir
    )
    select coalesce(max(secrets), 0)::bigint as secrets, coalesce(max(bytes), 0)::bigint as bytes from total`.execute(
    trx,
  )
  const [total = { secrets: 0, bytes: 0 }] = rows
  requireFewSecrets(total.secrets, limits)
  if (total.bytes > limits.environmentBytes)
    throw apiError(
      'payload_too_large',
      `The environment, or one that inherits from it, would exceed ${String(limits.environmentBytes)} bytes.`,
    )
}

/** @throws ApiError payload_too_large if the project now has too many environments */
export async function requireFewEnvironments(trx: Db, projectUid: string, limits: StorageLimits): Promise<void> {
  const { rows } = await sql<{ env: string }>`
    select env from secrets where project_uid = ${projectUid}
    union select env from environments where project_uid = ${projectUid} and parent is not null`.execute(trx)
  if (rows.length > limits.environments)
    throw apiError('payload_too_large', `The project would have more than ${String(limits.environments)} environments.`)
}

/** Drops the oldest versions of secrets that have more than the maximum. */
export async function dropOldVersions(
  trx: Db,
  written: readonly { readonly id: string; readonly version: number }[],
  limits: StorageLimits,
): Promise<void> {
  const ids = written.filter(({ version }) => version > limits.versions).map(({ id }) => id)
  if (ids.length > 0)
    await sql`select drop_old_versions(id, ${limits.versions}) from unnest(${ids}::uuid[]) as id`.execute(trx)
}

/** Seals an environment after changes of its secrets or of its parent, and inserts their audit entries. */
export async function finishChanges(
  trx: Db,
  {
    authentic,
    onChange,
    before,
    changes,
    project,
    parent,
  }: {
    authentic: Pick<AuthenticRows, 'nextEnvironment'>
    onChange: OnEnvironmentChange
    before: StoredEnvironment
    changes: readonly { key: string; version: number | undefined }[]
    project: ProjectRef
    /** The new parent of the environment, if that changes. */
    parent?: string | null
  },
  entriesFor: (revision: number) => readonly NewEntry[],
): Promise<void> {
  const next = authentic.nextEnvironment(before, changes, parent)
  await writeEnvironment(trx, before, next)
  const entries = entriesFor(next.revision)
  await insertAuditEntries(
    trx,
    entries.map((entry) => ({ entry, project })),
  )
  await onChange(trx, { project, env: before.env, secrets: changes, entry: entries[0] })
}
