import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { sql } from 'kysely'
import type { ProjectRef } from '../access/administrator.ts'
import { type Db, writeTransaction } from '../database.ts'
import { apiError } from '../errors.ts'
import { lockEnvironment } from '../integrity/rows.store.ts'
import type { AuthenticRows } from '../integrity/rows.ts'
import type { StoredDataKey } from '../keyring/data-keys.ts'
import type { CopiedSecret, CopyRequest, CopyStore } from './copies.ts'
import {
  dropOldVersions,
  finishChanges,
  lockProject,
  nextVersions,
  type OnEnvironmentChange,
  requireFewEnvironments,
  requireFewSecrets,
  requireSpace,
  reserveDataKey,
  toDataKey,
} from './environment-changes.store.ts'
import type { StorageLimits, StoredVersion } from './secrets.ts'

/** Copies in Postgres. The locks are in the order of the other writes, those of the environments by name. */
export function createCopyStore(
  db: Db,
  authentic: Pick<AuthenticRows, 'nextEnvironment' | 'assertEnvironment'>,
  limits: StorageLimits,
  onChange: OnEnvironmentChange,
): CopyStore {
  return {
    copy: (project, { from, to, keys, overwrite, now }, { wanted, actor }, reencrypt, entryFor) =>
      writeTransaction(db, wanted, async (trx) => {
        if (!(await lockProject(trx, project.uid))) return undefined
        const dataKey = await reserveDataKey(trx, project.uid)
        const { source, target } = await lockBoth(trx, project.uid, { from, to })
        // Otherwise an older version that was put back by hand would become a new, authentic one.
        authentic.assertEnvironment(source)
        const known = new Set(source.current.map(({ key }) => key))
        const wantedKeys = keys === undefined ? [...known] : [...new Set(keys)]
        if (wantedKeys.length === 0 || wantedKeys.some((key) => !known.has(key))) return 'missing'
        const existing = new Set(target.current.map(({ key }) => key))
        const copied = overwrite ? wantedKeys : wantedKeys.filter((key) => !existing.has(key))
        const skipped = wantedKeys.length - copied.length
        if (copied.length === 0) return { copied: 0, skipped }
        const added = copied.filter((key) => !existing.has(key)).length
        requireFewSecrets(target.current.length + added, limits)
        await countEncryptions(trx, project.uid, dataKey, copied.length - 1)

        const versions = await nextVersions(trx, target, copied)
        const blobs = new Map<string, Buffer>()
        for (const value of await readValues(trx, project, from, copied)) {
          const { key } = value.place
          blobs.set(key, await reencrypt(value, versions.get(key) ?? 0, dataKey))
        }
        const secrets = await writeSecrets(trx, project.uid, { from, to, now }, versions)
        await addVersions(trx, secrets, blobs, { dekV: dataKey.dekV, now, actor })
        await addReferences(trx, project.uid, { from, to }, secrets)
        if (added > 0) await requireFewEnvironments(trx, project.uid, limits)
        await requireSpace(trx, project.uid, to, limits)
        await dropOldVersions(trx, secrets, limits)
        await finishChanges(trx, { authentic, onChange, before: target, changes: secrets, project }, (revision) =>
          secrets.map((secret) => entryFor(secret, revision)),
        )
        return { copied: copied.length, skipped }
      }),
  }
}

/** Locks both environments, in the order of their names. */
async function lockBoth(trx: Db, projectUid: string, { from, to }: Pick<CopyRequest, 'from' | 'to'>) {
  const first = from < to ? await lockEnvironment(trx, projectUid, from) : undefined
  const target = await lockEnvironment(trx, projectUid, to)
  return { source: first ?? (await lockEnvironment(trx, projectUid, from)), target }
}

/** Adds to the count of encryptions of a locked data key. */
async function countEncryptions(trx: Db, projectUid: string, { dekV }: StoredDataKey, count: number): Promise<void> {
  await trx
    .updateTable('project_deks')
    .set({ encryptions: sql`encryptions + ${count}` })
    .where('project_uid', '=', projectUid)
    .where('dek_v', '=', dekV)
    .execute()
}

/** The current values of secrets of a locked environment. @throws ApiError decryption_failed if one is not stored */
async function readValues(
  trx: Db,
  project: ProjectRef,
  env: string,
  keys: readonly string[],
): Promise<readonly StoredVersion[]> {
  const rows = await trx
    .selectFrom('secrets as s')
    .innerJoin('secret_versions as v', (join) =>
      join.onRef('v.secret_id', '=', 's.id').onRef('v.version', '=', 's.version'),
    )
    .innerJoin('project_deks as d', (join) =>
      join.onRef('d.project_uid', '=', 's.project_uid').onRef('d.dek_v', '=', 'v.dek_v'),
    )
    .select(['s.key', 's.version', 'v.blob', 'd.dek_v', 'd.kek_id', 'd.wrapped'])
    .where('s.project_uid', '=', project.uid)
    .where('s.env', '=', env)
    .where('s.key', '=', anyText(keys))
    .execute()
  if (rows.length !== keys.length) throw apiError('decryption_failed')
  return rows.map(({ key, version, blob, ...dataKey }) => ({
    place: { projectUid: project.uid, project: project.name, env, key, version },
    dataKey: toDataKey(dataKey),
    blob,
  }))
}

/** Writes the rows of copied secrets. New ones take the details of the secret they are copied from. */
async function writeSecrets(
  trx: Db,
  projectUid: string,
  { from, to, now }: Pick<CopyRequest, 'from' | 'to'> & { readonly now: Date },
  versions: ReadonlyMap<string, number>,
): Promise<readonly CopiedSecret[]> {
  const ids = Array.from(versions, () => newId())
  const { rows } = await sql<CopiedSecret>`
    insert into secrets (id, project_uid, env, key, version, updated_at, note, owner, expires_at)
    select n.id, s.project_uid, ${to}, s.key, n.version, ${now}::timestamptz, s.note, s.owner, s.expires_at
    from unnest(${ids}::uuid[], ${[...versions.keys()]}::text[], ${[...versions.values()]}::integer[])
      as n (id, key, version)
    join secrets s on s.project_uid = ${projectUid} and s.env = ${from} and s.key = n.key
    on conflict (project_uid, env, key) do update set version = excluded.version, updated_at = excluded.updated_at
    returning id, key, version`.execute(trx)
  return rows
}

async function addVersions(
  trx: Db,
  secrets: readonly CopiedSecret[],
  blobs: ReadonlyMap<string, Buffer>,
  { dekV, now, actor }: { readonly dekV: number; readonly now: Date; readonly actor: string },
): Promise<void> {
  const added = secrets.map(({ key }) => blobs.get(key))
  await sql`
    insert into secret_versions (secret_id, version, dek_v, blob, created_at, actor)
    select id, version, ${dekV}, blob, ${now}::timestamptz, ${actor}
    from unnest(${secrets.map(({ id }) => id)}::uuid[], ${secrets.map(({ version }) => version)}::integer[],
      ${added}::bytea[]) as n (id, version, blob)`.execute(trx)
}

async function addReferences(
  trx: Db,
  projectUid: string,
  { from, to }: Pick<CopyRequest, 'from' | 'to'>,
  secrets: readonly CopiedSecret[],
): Promise<void> {
  await sql`
    insert into secret_references (secret_id, version, project_uid, source, project, env)
    select n.id, n.version, r.project_uid, ${to}, r.project, r.env
    from unnest(${secrets.map(({ id }) => id)}::uuid[], ${secrets.map(({ version }) => version)}::integer[],
      ${secrets.map(({ key }) => key)}::text[]) as n (id, version, key)
    join secrets s on s.project_uid = ${projectUid} and s.env = ${from} and s.key = n.key
    join secret_references r on r.secret_id = s.id and r.version = s.version`.execute(trx)
}

/** One parameter for any number of texts. */
function anyText(texts: readonly string[]) {
  return sql<string>`any(${[...texts]}::text[])`
}
