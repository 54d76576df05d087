import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { ProjectRef } from '../access/administrator.ts'
import { allows, type ProjectCaller } from '../access/project-caller.ts'
import { insertAuditEntries, insertAuditEntry } from '../audit/audit.store.ts'
import type { NewEntry } from '../audit/audit.ts'
import { anyUuid, type Db, writeTransaction } from '../database.ts'
import { apiError } from '../errors.ts'
import { isExchangedKeyValid } from '../integrity/exchange-rows.store.ts'
import { lockEnvironment, markOf, writeEnvironment } from '../integrity/rows.store.ts'
import type { AuthenticRows, StoredEnvironment } from '../integrity/rows.ts'
import type { StoredDataKey } from '../keyring/data-keys.ts'
import { type DetailChanges, recorded } from './details.ts'
import { readAll } from './fetches.store.ts'
import type {
  EncryptNewValue,
  EntryForStored,
  NewValue,
  SecretReference,
  SecretStore,
  StorageLimits,
} from './secrets.ts'

/** What changed in an environment; a secret without a version was deleted. `entry` is the first of its audit entries. */
export type EnvironmentChange = {
  readonly project: ProjectRef
  readonly env: string
  readonly secrets: readonly { readonly key: string; readonly version: number | undefined }[]
  readonly entry: NewEntry | undefined
}

/** Called in the transaction of every change of an environment. */
export type OnEnvironmentChange = (trx: Db, change: EnvironmentChange) => Promise<void>

/**
 * Secrets in Postgres. To avoid deadlocks, every transaction that changes an environment locks in this order: the project,
 * its data key if a value is encrypted or an environment inherits, the environment, the secret. Only the holder of the data
 * key adds values or changes parents, so the limits of environments and their ancestors are exact.
 *
 * @param pool runs the statement of fetches
 */
export function createSecretStore(
  db: Db,
  pool: Pool,
  authentic: Pick<AuthenticRows, 'nextEnvironment'>,
  limits: StorageLimits,
  onChange: OnEnvironmentChange,
): SecretStore {
  /** Seals the environment after a change of one secret, and inserts the audit entry of the change. */
  async function finish(
    trx: Db,
    before: StoredEnvironment,
    change: { key: string; version: number | undefined },
    project: ProjectRef,
    entryFor: (revision: number) => NewEntry,
  ): Promise<void> {
    await finishChanges(trx, { authentic, onChange, before, changes: [change], project }, (revision) => [
      entryFor(revision),
    ])
  }

  /** Adds a version, and the secret if it is new, to a locked project. Returns the version. */
  async function putValue(
    trx: Db,
    project: ProjectRef,
    secret: NewValue,
    encrypt: EncryptNewValue,
    entryFor: EntryForStored,
  ): Promise<number> {
    const dataKey = await reserveDataKey(trx, project.uid)
    const before = await lockEnvironment(trx, project.uid, secret.env)
    const isNew = before.current.every(({ key }) => key !== secret.key)
    if (isNew) requireFewSecrets(before.current.length + 1, limits)
    const version = await nextVersion(trx, before, secret.key)
    const changed = { version, updated_at: secret.now, ...detailColumns(secret.details) }
    const { id } = await trx
      .insertInto('secrets')
      .values({ id: secret.id, project_uid: project.uid, env: secret.env, key: secret.key, ...changed })
      .onConflict((conflict) => conflict.columns(['project_uid', 'env', 'key']).doUpdateSet(changed))
      .returning('id')
      .executeTakeFirstOrThrow()
    await addVersion(trx, { id, version, dataKey, blob: await encrypt(version, dataKey), now: secret.now })
    if (secret.references.length > 0) await addReferences(trx, { id, version }, { uid: project.uid, ...secret })
    if (isNew) await requireFewEnvironments(trx, project.uid, limits)
    await requireSpace(trx, project.uid, secret.env, limits)
    await dropOldVersions(trx, [{ id, version }], limits)
    await finish(trx, before, { key: secret.key, version }, project, (revision) => entryFor(id, version, revision))
    return version
  }

  return {
    readAll: (fetches) => readAll(pool, fetches),

    hasProject: async (projectUid) => {
      const row = await db.selectFrom('projects').select('uid').where('uid', '=', projectUid).executeTakeFirst()
      return row !== undefined
    },

    isCurrent: (caller, now) => lockCaller(db, caller, now, { covered: true }),

    put: (caller, secret, encrypt, entryFor) =>
      writeTransaction(db, caller.wanted, async (trx) => {
        if (!(await lockCaller(trx, caller, secret.now, { covered: true }))) return 'stale'
        await putValue(trx, { uid: caller.projectUid, name: caller.project }, secret, encrypt, entryFor)
        return 'stored'
      }),

    putAny: (project, secret, { wanted }, encrypt, entryFor) =>
      writeTransaction(db, wanted, async (trx) =>
        (await lockProject(trx, project.uid)) ? putValue(trx, project, secret, encrypt, entryFor) : undefined,
      ),

    annotate: (id, details, { projects, wanted }, entryFor) =>
      writeTransaction(db, wanted, async (trx) => {
        const secret = await findSecret(trx, { id }, projects)
        if (secret === undefined || !(await lockProject(trx, secret.uid))) return false
        const changed = await trx
          .updateTable('secrets')
          .set(detailColumns(details))
          .where('id', '=', id)
          .returning('id')
          .executeTakeFirst()
        if (changed !== undefined) await insertAuditEntry(trx, entryFor(secret), secret)
        return changed !== undefined
      }),

    remove: (caller, reference, now, entryFor) =>
      writeTransaction(db, caller.wanted, async (trx) => {
        if (!(await lockCaller(trx, caller, now, { covered: false }))) return 'stale'
        const secret = await findSecret(trx, reference, [{ uid: caller.projectUid }])
        if (secret === undefined) return 'absent'
        if (!allows(caller.scope, 'write', secret.env)) return 'forbidden'
        const before = await lockEnvironment(trx, secret.uid, secret.env)
        if (!(await deleteSecret(trx, secret.id, before))) return 'absent'
        await finish(trx, before, { key: secret.key, version: undefined }, secret, (revision) =>
          entryFor({ ...secret, revision }),
        )
        return 'deleted'
      }),

    projectOf: (id, projects) => findSecret(db, { id }, projects),

    removeAny: (id, { projects, wanted }, entryFor) =>
      writeTransaction(db, wanted, async (trx) => {
        const secret = await findSecret(trx, { id }, projects)
        if (secret === undefined || !(await lockProject(trx, secret.uid))) return false
        const before = await lockEnvironment(trx, secret.uid, secret.env)
        if (!(await deleteSecret(trx, id, before))) return false
        await finish(trx, before, { key: secret.key, version: undefined }, secret, (revision) =>
          entryFor({ ...secret, revision }),
        )
        return true
      }),

    findProject: async (name) =>
      (await db.selectFrom('projects').select('uid').where('name', '=', name).executeTakeFirst())?.uid,

    listAfter: async (projectUid, env, after, limit) => {
      const rows = await db
        .selectFrom('secrets')
        .select(['id', 'key', 'env', 'updated_at as updatedAt', 'note', 'owner', 'expires_at as expiresAt'])
        .select((eb) =>
          eb
            .exists(
              eb
                .selectFrom('secret_references as r')
                .select('r.version')
                .whereRef('r.secret_id', '=', 'secrets.id')
                .whereRef('r.version', '=', 'secrets.version'),
            )
            .as('references'),
        )
        .where('project_uid', '=', projectUid)
        .$if(env !== undefined, (query) => query.where('env', '=', env ?? ''))
        .$if(after !== undefined, (query) =>
          query.where((eb) => eb(eb.refTuple('env', 'key'), '>', eb.tuple(after?.env ?? '', after?.key ?? ''))),
        )
        .orderBy('env')
        .orderBy('key')
        .limit(limit)
        .execute()
      return rows.map(({ id, key, env, updatedAt, references, ...details }) => ({
        ...{ id, key, env, updatedAt, ...(references === true && { references }) },
        ...recorded(details),
      }))
    },

    versionsOf: async (id, projects) => {
      const rows = await db
        .selectFrom('secrets as s')
        .innerJoin('projects as p', 'p.uid', 's.project_uid')
        .innerJoin('secret_versions as v', 'v.secret_id', 's.id')
        .select(['v.version', 'v.created_at', 's.version as current', 's.env', 'p.name'])
        .where('s.id', '=', id)
        .$if(projects !== null, (query) => query.where('p.uid', '=', anyUuid((projects ?? []).map(({ uid }) => uid))))
        .orderBy('v.version', 'desc')
        .execute()
      const [first] = rows
      if (first === undefined) return undefined
      const versions = rows.map(({ version, created_at: createdAt, current }) => ({
        version,
        createdAt,
        current: version === current,
      }))
      return { project: first.name, env: first.env, versions }
    },

    restore: ({ id, version, now }, { projects, wanted }, reencrypt, entryFor) =>
      writeTransaction(db, wanted, async (trx) => {
        const found = await findSecret(trx, { id }, projects)
        if (found === undefined || !(await lockProject(trx, found.uid))) return undefined
        const dataKey = await reserveDataKey(trx, found.uid)
        const before = await lockEnvironment(trx, found.uid, found.env)
        const secret = await trx
          .selectFrom('secrets as s')
          .innerJoin('projects as p', 'p.uid', 's.project_uid')
          .select(['s.project_uid', 's.env', 's.key', 'p.name'])
          .where('s.id', '=', id)
          .forUpdate('s')
          .executeTakeFirst()
        if (secret === undefined) return undefined
        const old = await trx
          .selectFrom('secret_versions as v')
          .innerJoin('project_deks as d', 'd.dek_v', 'v.dek_v')
          .select(['v.blob', 'd.dek_v', 'd.kek_id', 'd.wrapped'])
          .where('v.secret_id', '=', id)
          .where('v.version', '=', version)
          .where('d.project_uid', '=', secret.project_uid)
          .executeTakeFirst()
        if (old === undefined) return undefined
        const next = await nextVersion(trx, before, secret.key)
        const place = {
          projectUid: secret.project_uid,
          project: secret.name,
          env: secret.env,
          key: secret.key,
          version,
        }
        const stored = { place, dataKey: toDataKey(old), blob: old.blob }
        const blob = await reencrypt(stored, { env: secret.env, version: next }, dataKey)
        await trx.updateTable('secrets').set({ version: next, updated_at: now }).where('id', '=', id).execute()
        await addVersion(trx, { id, version: next, dataKey, blob, now })
        await sql`
          insert into secret_references (secret_id, version, project_uid, source, project, env)
          select secret_id, ${next}, project_uid, source, project, env from secret_references
          where secret_id = ${id} and version = ${version}`.execute(trx)
        await requireSpace(trx, secret.project_uid, secret.env, limits)
        await dropOldVersions(trx, [{ id, version: next }], limits)
        const project = { uid: secret.project_uid, name: secret.name }
        await finish(trx, before, { key: secret.key, version: next }, project, (revision) =>
          entryFor(secret.env, next, revision),
        )
        return next
      }),
  }
}

/** Whether the project `p` has the caller's key, which has not ended. */
function isKeyValid({ exchanged, publicKey }: ProjectCaller, now: Date) {
  if (exchanged !== undefined) return isExchangedKeyValid(exchanged, now)
  return sql<boolean>`exists (
    select from project_keys k
    where k.project_uid = p.uid and k.public_key = ${publicKey} and (k.not_after is null or k.not_after > ${now})
  )`
}

/**
 * Whether the caller's key is valid and, if the project requires it, the signature covers the body. Locks the project until
 * the transaction ends, so that a deletion waits.
 */
async function lockCaller(trx: Db, caller: ProjectCaller, now: Date, rule: { covered: boolean }): Promise<boolean> {
  const row = await trx
    .selectFrom('projects as p')
    .select('p.uid')
    .where('p.uid', '=', caller.projectUid)
    .where('p.generation', '=', caller.generation)
    .where('p.generation', '>=', markOf('p.uid', 'project'))
    .where(isKeyValid(caller, now))
    .$if(rule.covered && !caller.coversContent, (query) => query.where('p.require_content_digest', '=', false))
    .forKeyShare('p')
    .executeTakeFirst()
  return row !== undefined
}

/** A secret with its project, if it belongs to one of these; null for all. */
function findSecret(trx: Db, reference: SecretReference, projects: readonly { uid: string }[] | null) {
  return trx
    .selectFrom('secrets as s')
    .innerJoin('projects as p', 'p.uid', 's.project_uid')
    .select(['s.id', 'p.uid', 'p.name', 's.env', 's.key'])
    .where((eb) =>
      eb.and('id' in reference ? { 's.id': reference.id } : { 's.env': reference.env, 's.key': reference.key }),
    )
    .$if(projects !== null, (query) => query.where('p.uid', '=', anyUuid((projects ?? []).map(({ uid }) => uid))))
    .executeTakeFirst()
}

/** Locks a project until the transaction ends, so that a deletion waits. False if it was deleted. */
export async function lockProject(trx: Db, uid: string): Promise<boolean> {
  const row = await trx.selectFrom('projects').select('uid').where('uid', '=', uid).forKeyShare().executeTakeFirst()
  return row !== undefined
}

/** Deletes a secret if its version, which is remembered, is the one that the seal of its environment covers. */
async function deleteSecret(trx: Db, id: string, { current }: StoredEnvironment): Promise<boolean> {
  const deleted = await trx.deleteFrom('secrets').where('id', '=', id).returning(['key', 'version']).executeTakeFirst()
  if (deleted === undefined) return false
  const isCurrent = current.some(({ key, version }) => key === deleted.key && version === deleted.version)
  if (!isCurrent) throw apiError('decryption_failed')
  return true
}

/**
 * Locks the newest data key of a project until the transaction ends. It serialises all changes that make environments
 * larger or change what they inherit.
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

async function addVersion(
  trx: Db,
  row: { id: string; version: number; dataKey: StoredDataKey; blob: Buffer; now: Date },
): Promise<void> {
  await trx
    .insertInto('secret_versions')
    .values({
      secret_id: row.id,
      version: row.version,
      dek_v: row.dataKey.dekV,
      blob: row.blob,
      created_at: row.now,
    })
    .execute()
}

async function addReferences(
  trx: Db,
  { id, version }: { id: string; version: number },
  { uid, env: source, references }: Pick<NewValue, 'env' | 'references'> & { uid: string },
): Promise<void> {
  const rows = references.map((place) => ({ secret_id: id, version, project_uid: uid, source, ...place }))
  await trx.insertInto('secret_references').values(rows).execute()
}

/** Returns the stored data key of a row. */
export function toDataKey(row: { dek_v: number; kek_id: string; wrapped: Buffer }): StoredDataKey {
  return { dekV: row.dek_v, kekId: row.kek_id, wrapped: row.wrapped }
}

async function nextVersion(trx: Db, environment: StoredEnvironment, key: string): Promise<number> {
  return (await nextVersions(trx, environment, [key])).get(key) ?? 1
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

/** The columns of changed details. */
function detailColumns({ note, owner, expiresAt }: DetailChanges) {
  return {
    ...(note !== undefined && { note }),
    ...(owner !== undefined && { owner }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  }
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
