import { sql } from 'kysely'
import type { ProjectRef } from '../access/administrator.ts'
import { allows, type ProjectCaller } from '../access/project-caller.ts'
import { insertAuditEntry } from '../audit/audit.store.ts'
import { type NewEntry, readActor } from '../audit/audit.ts'
import { anyUuid, type Db, writeTransaction } from '../database.ts'
import { apiError } from '../errors.ts'
import { isExchangedKeyValid } from '../integrity/exchange-rows.store.ts'
import { lockEnvironment, markOf } from '../integrity/rows.store.ts'
import type { AuthenticRows, StoredEnvironment } from '../integrity/rows.ts'
import type { StoredDataKey } from '../keyring/data-keys.ts'
import { type DetailChanges, recorded } from './details.ts'
import {
  dropOldVersions,
  finishChanges,
  lockDataKey,
  lockProject,
  nextVersions,
  type OnEnvironmentChange,
  requireFewEnvironments,
  requireFewSecrets,
  requireSpace,
  reserveDataKey,
  toDataKey,
} from './environment-changes.store.ts'
import type {
  EncryptNewValue,
  EntryForStored,
  NewValue,
  SecretReference,
  SecretStore,
  StorageLimits,
} from './secrets.ts'

/**
 * Secrets in Postgres. To avoid deadlocks, every transaction that changes an environment locks in this order: the project,
 * its data key, the environment, the secret. Only the holder of the data key changes values or parents, so the limits of
 * environments and their ancestors, and the checks of references, are exact.
 */
export function createSecretStore(
  db: Db,
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
    const { now, actor } = secret
    await addVersion(trx, { id, version, dataKey, blob: await encrypt(version, dataKey), now, actor })
    if (secret.references.length > 0) await addReferences(trx, { id, version }, { uid: project.uid, ...secret })
    if (isNew) await requireFewEnvironments(trx, project.uid, limits)
    await requireSpace(trx, project.uid, secret.env, limits)
    await dropOldVersions(trx, [{ id, version }], limits)
    await finish(trx, before, { key: secret.key, version }, project, (revision) => entryFor(id, version, revision))
    return version
  }

  return {
    hasProject: async (projectUid) => {
      const row = await db.selectFrom('projects').select('uid').where('uid', '=', projectUid).executeTakeFirst()
      return row !== undefined
    },

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
        await lockDataKey(trx, secret.uid)
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
        await lockDataKey(trx, secret.uid)
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
        .select(hasReferences('secrets').as('references'))
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
        ...{ id, key, env, updatedAt, ...(references && { references: true as const }) },
        ...recorded(details),
      }))
    },

    versionsOf: async (id, projects) => {
      const rows = await db
        .selectFrom('secrets as s')
        .innerJoin('projects as p', 'p.uid', 's.project_uid')
        .innerJoin('secret_versions as v', 'v.secret_id', 's.id')
        .select(['v.version', 'v.created_at', 'v.actor', 's.version as current', 's.env', 'p.name'])
        .where('s.id', '=', id)
        .$if(projects !== null, (query) => query.where('p.uid', '=', anyUuid((projects ?? []).map(({ uid }) => uid))))
        .orderBy('v.version', 'desc')
        .execute()
      const [first] = rows
      if (first === undefined) return undefined
      const versions = rows.map(({ version, created_at: createdAt, current, actor }) => ({
        ...{ version, createdAt, current: version === current },
        ...readActor(actor),
      }))
      return { project: first.name, env: first.env, versions }
    },

    restore: ({ id, version, now }, { projects, wanted, actor }, reencrypt, entryFor) =>
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
        await addVersion(trx, { id, version: next, dataKey, blob, now, actor })
        await sql`
          insert into secret_references (secret_id, version, project_uid, source, project, env)
          select secret_id, ${next}, project_uid, source, project, env from secret_references
          where secret_id = ${id} and version = ${version}`.execute(trx)
        await requireSpace(trx, secret.project_uid, secret.env, limits)
        await dropOldVersions(trx, [{ id, version: next }], limits)
        const project = { uid: secret.project_uid, name: secret.name }
        await finish(trx, before, { key: secret.key, version: next }, project, (revision) =>
          entryFor(secret, next, revision),
        )
        return next
      }),
  }
}

/** Whether the project `p` has the caller's key, which has not ended. */
function isKeyValid({ exchanged, publicKey }: ProjectCaller, now: Date) {
  if (exchanged !== undefined) return isExchangedKeyValid(exchanged)
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

/** Deletes a secret if its version, which is remembered, is the one that the seal of its environment covers. */
async function deleteSecret(trx: Db, id: string, { current }: StoredEnvironment): Promise<boolean> {
  const deleted = await trx.deleteFrom('secrets').where('id', '=', id).returning(['key', 'version']).executeTakeFirst()
  if (deleted === undefined) return false
  const isCurrent = current.some(({ key, version }) => key === deleted.key && version === deleted.version)
  if (!isCurrent) throw apiError('decryption_failed')
  return true
}

/** Whether the current version of a secret contains references, in a query of `secrets` under the given name. */
export function hasReferences(secrets: 'secrets' | 's') {
  return sql<boolean>`exists (
    select from secret_references r
    where r.secret_id = ${sql.ref(`${secrets}.id`)} and r.version = ${sql.ref(`${secrets}.version`)}
  )`
}

async function addVersion(
  trx: Db,
  row: { id: string; version: number; dataKey: StoredDataKey; blob: Buffer; now: Date; actor: string },
): Promise<void> {
  await trx
    .insertInto('secret_versions')
    .values({
      secret_id: row.id,
      version: row.version,
      dek_v: row.dataKey.dekV,
      blob: row.blob,
      created_at: row.now,
      actor: row.actor,
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

async function nextVersion(trx: Db, environment: StoredEnvironment, key: string): Promise<number> {
  return (await nextVersions(trx, environment, [key])).get(key) ?? 1
}

/** The columns of changed details. */
function detailColumns({ note, owner, expiresAt }: DetailChanges) {
  return {
    ...(note !== undefined && { note }),
    ...(owner !== undefined && { owner }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  }
}
