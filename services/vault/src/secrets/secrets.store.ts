import { sql } from 'kysely'
import type { Pool } from 'pg'
import { insertAuditEntry } from '../db/audit-entries.store.ts'
import type { Db } from '../db/schema.ts'
import { apiError } from '../errors.ts'
import type { StoredDataKey } from '../keyring/data-keys.ts'
import type { Caller, Fetch, SecretStore, Stale, StorageLimits, StoredValue } from './secrets.ts'

/**
 * Reads the values and writes the audit entries of several callers in one statement. The statement commits by itself:
 * when its rows arrive, the entries are durable. A caller whose key or project is not valid any more has no row. A
 * project without secrets has one row of nulls. Of several callers that ask for the same values, the first valid one
 * has the values and each of the others one row of nulls. The statement is named, so that each connection parses and
 * plans it once.
 */
const READ_ALL = {
  name: 'read-all',
  rowMode: 'array' as const,
  text: `with caller as materialized (
      select asked.*, p.name,
        case when row_number() over (partition by asked.uid, asked.env order by asked.n) = 1 then asked.uid end as reads
      from unnest($1::uuid[], $2::bytea[], $3::timestamptz[], $4::uuid[], $5::text[], $6::text[], $7::inet[])
        with ordinality as asked (uid, public_key, now, entry_id, action, env, ip, n)
      join projects p on p.uid = asked.uid
      join project_keys k on k.project_uid = p.uid and k.public_key = asked.public_key
        and (k.not_after is null or k.not_after > asked.now)
    ), entry as (
      insert into audit (id, project_uid, project_id, action, env, requested_at, ip)
      select entry_id, uid, name, action, env, now, ip from caller
    )
    select c.n::integer, s.key, s.version, v.blob
    from caller c
    left join secrets s on s.project_uid = c.reads and s.env = c.env
    left join secret_versions v on v.secret_id = s.id and v.version = s.version`,
}

type ReadAllRow = [n: number, key: string, version: number, blob: Buffer | null] | [n: number, null, null, null]

/** Replaces a value whose row is missing. It does not decrypt, so the fetch fails instead of sending a partial map. */
const MISSING = Buffer.alloc(0)

/** Secrets in Postgres. `pool` runs the one statement of fetches. */
export function createSecretStore(db: Db, pool: Pool, limits: StorageLimits): SecretStore {
  return {
    readAll: async (fetches) => {
      const values = [
        fetches.map(({ caller }) => caller.projectUid),
        fetches.map(({ caller }) => caller.publicKey),
        fetches.map(({ now }) => now),
        fetches.map(({ entry }) => entry.id),
        fetches.map(({ entry }) => entry.action),
        fetches.map(({ env }) => env),
        fetches.map(({ entry }) => entry.address),
      ]
      const { rows } = await pool.query<ReadAllRow>({ ...READ_ALL, values })
      return answersOf(fetches, rows)
    },

    hasProject: async (projectUid) => {
      const row = await db.selectFrom('projects').select('uid').where('uid', '=', projectUid).executeTakeFirst()
      return row !== undefined
    },

    put: (caller, secret, encrypt, entryFor) =>
      db.transaction().execute(async (trx) => {
        if (!(await lockCaller(trx, caller, secret.now, { covered: true }))) return 'stale'
        const { id, version } = await trx
          .insertInto('secrets')
          .values({
            id: secret.id,
            project_uid: caller.projectUid,
            env: secret.env,
            key: secret.key,
            version: 1,
            updated_at: secret.now,
          })
          .onConflict((conflict) =>
            conflict
              .columns(['project_uid', 'env', 'key'])
              .doUpdateSet({ version: sql`secrets.version + 1`, updated_at: secret.now }),
          )
          .returning(['id', 'version'])
          .executeTakeFirstOrThrow()
        const dataKey = await reserveDataKey(trx, caller.projectUid)
        await addVersion(trx, { id, version, dataKey, blob: encrypt(version, dataKey), now: secret.now })
        if (version === 1) await requireFewEnvironments(trx, caller.projectUid, limits)
        await requireSpace(trx, caller.projectUid, secret.env, limits)
        await dropOldVersions(trx, id, version, limits)
        const project = { uid: caller.projectUid, name: caller.project }
        await insertAuditEntry(trx, entryFor(id, version), project)
        return 'stored'
      }),

    remove: (caller, id, now, entryFor) =>
      db.transaction().execute(async (trx) => {
        if (!(await lockCaller(trx, caller, now, { covered: false }))) return 'stale'
        const deleted = await trx
          .deleteFrom('secrets')
          .where('id', '=', id)
          .where('project_uid', '=', caller.projectUid)
          .returning(['env', 'key'])
          .executeTakeFirst()
        if (deleted === undefined) return 'absent'
        const project = { uid: caller.projectUid, name: caller.project }
        await insertAuditEntry(trx, entryFor(deleted), project)
        return 'deleted'
      }),

    removeAny: (id, entryFor) =>
      db.transaction().execute(async (trx) => {
        const deleted = await trx
          .deleteFrom('secrets as s')
          .using('projects as p')
          .whereRef('p.uid', '=', 's.project_uid')
          .where('s.id', '=', id)
          .returning(['s.env', 's.key', 'p.uid', 'p.name'])
          .executeTakeFirst()
        if (deleted === undefined) return false
        await insertAuditEntry(trx, entryFor(deleted), deleted)
        return true
      }),

    listOf: async (project, env) => {
      const rows = await db
        .selectFrom('projects as p')
        .leftJoin('secrets as s', (join) =>
          env === undefined
            ? join.onRef('s.project_uid', '=', 'p.uid')
            : join.onRef('s.project_uid', '=', 'p.uid').on('s.env', '=', env),
        )
        .select(['s.id', 's.key', 's.env', 's.updated_at'])
        .where('p.name', '=', project)
        .orderBy('s.env')
        .orderBy('s.key')
        .execute()
      if (rows.length === 0) return undefined
      return rows.flatMap(({ id, key, env: of, updated_at: updatedAt }) =>
        id === null || key === null || of === null || updatedAt === null ? [] : [{ id, key, env: of, updatedAt }],
      )
    },

    versionsOf: async (id) => {
      const rows = await db
        .selectFrom('secrets as s')
        .innerJoin('secret_versions as v', 'v.secret_id', 's.id')
        .select(['v.version', 'v.created_at', 's.version as current'])
        .where('s.id', '=', id)
        .orderBy('v.version', 'desc')
        .execute()
      if (rows.length === 0) return undefined
      return rows.map((row) => ({
        version: row.version,
        createdAt: row.created_at,
        current: row.version === row.current,
      }))
    },

    restore: (id, version, now, reencrypt, entryFor) =>
      db.transaction().execute(async (trx) => {
        // Every transaction locks the project first. In another order, this one and a deletion could deadlock.
        await trx
          .selectFrom('projects')
          .select('uid')
          .where('uid', 'in', (eb) => eb.selectFrom('secrets').select('project_uid').where('id', '=', id))
          .forKeyShare()
          .execute()
        const secret = await trx
          .selectFrom('secrets as s')
          .innerJoin('projects as p', 'p.uid', 's.project_uid')
          .select(['s.project_uid', 's.env', 's.key', 's.version', 'p.name'])
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
        const next = secret.version + 1
        const dataKey = await reserveDataKey(trx, secret.project_uid)
        const place = { projectUid: secret.project_uid, project: secret.name, env: secret.env, key: secret.key }
        const blob = reencrypt({ ...place, version, blob: old.blob, dataKey }, toDataKey(old), next)
        await trx.updateTable('secrets').set({ version: next, updated_at: now }).where('id', '=', id).execute()
        await addVersion(trx, { id, version: next, dataKey, blob, now })
        await requireSpace(trx, secret.project_uid, secret.env, limits)
        await dropOldVersions(trx, id, next, limits)
        const project = { uid: secret.project_uid, name: secret.name }
        await insertAuditEntry(trx, entryFor(secret.env, next), project)
        return next
      }),
  }
}

function answersOf(
  fetches: readonly Fetch[],
  rows: readonly ReadAllRow[],
): readonly (readonly StoredValue[] | Stale)[] {
  const valuesOf = new Map<string, StoredValue[]>()
  const answers = fetches.map((): StoredValue[] | Stale => 'stale')
  for (const [n, key, version, blob] of rows) {
    const { caller, env } = fetches[n - 1] ?? {}
    const place = `${String(caller?.projectUid)}/${String(env)}`
    const values = valuesOf.get(place) ?? []
    valuesOf.set(place, values)
    answers[n - 1] = values
    if (key !== null) values.push({ key, version, blob: blob ?? MISSING })
  }
  return answers
}

/**
 * Whether the caller's key is valid now and, where the project requires it, the signature covers the body. Locks the
 * project until the transaction ends: a deletion waits.
 */
async function lockCaller(trx: Db, caller: Caller, now: Date, rule: { covered: boolean }): Promise<boolean> {
  const row = await trx
    .selectFrom('projects as p')
    .innerJoin('project_keys as k', 'k.project_uid', 'p.uid')
    .select('p.uid')
    .where('p.uid', '=', caller.projectUid)
    .where('k.public_key', '=', caller.publicKey)
    .where((eb) => eb.or([eb('k.not_after', 'is', null), eb('k.not_after', '>', now)]))
    .$if(rule.covered && !caller.coversContent, (query) => query.where('p.require_content_digest', '=', false))
    .forKeyShare('p')
    .executeTakeFirst()
  return row !== undefined
}

/** Counts one more encryption with the newest data key of a project and returns it, locked, so that it stays. */
async function reserveDataKey(trx: Db, projectUid: string): Promise<StoredDataKey> {
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

/**
 * Refuses values that could not be fetched: all values of an environment are one response, built in memory. Names count
 * as values do.
 *
 * @throws ApiError payload_too_large when the environment has become too large
 */
async function requireSpace(trx: Db, projectUid: string, env: string, limits: StorageLimits): Promise<void> {
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

/** @throws ApiError payload_too_large when the project has got too many environments */
async function requireFewEnvironments(trx: Db, projectUid: string, limits: StorageLimits): Promise<void> {
  const { count } = await trx
    .selectFrom('secrets')
    .select(({ fn }) => fn.count<number>('env').distinct().as('count'))
    .where('project_uid', '=', projectUid)
    .executeTakeFirstOrThrow()
  if (count > limits.environments)
    throw apiError('payload_too_large', `The project would have more than ${String(limits.environments)} environments.`)
}

/** Keeps the newest versions of a secret. */
async function dropOldVersions(trx: Db, id: string, newest: number, limits: StorageLimits): Promise<void> {
  if (newest <= limits.versions) return
  await trx
    .deleteFrom('secret_versions')
    .where('secret_id', '=', id)
    .where('version', '<=', newest - limits.versions)
    .execute()
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

function toDataKey(row: { dek_v: number; kek_id: string; wrapped: Buffer }): StoredDataKey {
  return { dekV: row.dek_v, kekId: row.kek_id, wrapped: row.wrapped }
}
