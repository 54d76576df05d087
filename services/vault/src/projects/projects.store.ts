import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres/pool'
import { sql } from 'kysely'
import type { AllowedProjects, ProjectRef } from '../access/administrator.ts'
import { insertAuditEntry } from '../audit/audit.store.ts'
import type { NewEntry } from '../audit/audit.ts'
import { anyUuid, type Db, writeTransaction } from '../database.ts'
import { apiError } from '../errors.ts'
import {
  exchangedKeys,
  readEndedExchangedKeys,
  readProjectWithExchangedKey,
  rememberExchangedKeys,
  toExchangedKey,
} from '../integrity/exchange-rows.store.ts'
import { keyRow, readProject, readProjects, writeProject } from '../integrity/rows.store.ts'
import type { SealedProject } from '../integrity/rows.ts'
import { lockKek } from '../keyring/keyring.store.ts'
import { MAX_ENDED_KEYS } from './project-keys.ts'
import type { ProjectStore } from './projects.ts'
import type { KeyUseStore, SigningStore } from './signing-projects.ts'

/** Called in the transaction of every change of a project or its keys. */
export type OnProjectChange = (trx: Db, project: ProjectRef, entry: NewEntry) => Promise<void>

/** Projects in Postgres. */
export function createProjectStore(db: Db, onChange: OnProjectChange): ProjectStore & SigningStore {
  return {
    list: () => readProjects(db),

    find: (name) => readProject(db, name),

    peek: async (name, publicKey) => {
      const { rows } = await sql<{ uid: string; generation: number; hasKey: boolean }>`
        select p.uid, p.generation,
          exists (select from project_keys k where k.project_uid = p.uid and k.public_key = ${publicKey})
            or exists (select from exchanged_keys k where k.project_uid = p.uid and k.public_key = ${publicKey})
            or exists (select from ended_exchanged_keys k where k.project_uid = p.uid and k.public_key = ${publicKey})
            as "hasKey"
        from projects p where p.name = ${name}`.execute(db)
      return rows[0]
    },

    findWithExchangedKey: (name, publicKey) => readProjectWithExchangedKey(db, name, publicKey),

    create: async (project, { wanted }, dataKey, entry) => {
      try {
        await writeTransaction(db, wanted, async (trx) => {
          await lockKek(trx, dataKey.kekId)
          await trx
            .insertInto('projects')
            .values({
              uid: project.uid,
              name: project.name,
              require_content_digest: project.requireContentDigest,
              created_at: project.createdAt,
              generation: project.generation,
              code: project.code,
            })
            .execute()
          await trx
            .insertInto('project_keys')
            .values(project.keys.map((key) => keyRow(project.uid, key)))
            .execute()
          await trx
            .insertInto('project_deks')
            .values({
              project_uid: project.uid,
              dek_v: dataKey.dekV,
              kek_id: dataKey.kekId,
              wrapped: dataKey.wrapped,
              created_at: project.createdAt,
            })
            .execute()
          await insertAuditEntry(trx, entry, project)
        })
      } catch (error) {
        if (violatedUniqueConstraint(error) === 'projects_name_key') throw apiError('project_exists')
        throw error
      }
    },

    change: (name, { wanted, projects }, decide, entryFor) =>
      writeTransaction(db, wanted, async (trx) => {
        // Weaker than `for update`: secrets can be written meanwhile, but other rotations wait.
        const locked = await projectAmong(trx, name, projects).forNoKeyUpdate().executeTakeFirst()
        if (locked === undefined) return false
        const before = await readProject(trx, name)
        if (before === undefined) return false
        const after = decide(before)
        if (after !== before) {
          await refuseExchangedKeys(trx, before, after)
          await writeProject(trx, before, after)
        }
        const entry = entryFor(after)
        await insertAuditEntry(trx, entry, after)
        await onChange(trx, after, entry)
        return true
      }),

    exchangedKeys: async (projectUid) => {
      const rows = await exchangedKeys(db)
        .$if(projectUid !== undefined, (query) => query.where('x.project_uid', '=', projectUid ?? ''))
        .where(sql<boolean>`x.expires_at > now()`)
        .execute()
      return rows.map(toExchangedKey)
    },

    endedExchangedKeys: (projectUid) => readEndedExchangedKeys(db, projectUid, MAX_ENDED_KEYS),

    revokeExchangedKey: (name, { wanted, projects }, fingerprint, entryFor) =>
      writeTransaction(db, wanted, async (trx) => {
        // Exchanges lock the project too.
        const project = await projectAmong(trx, name, projects).forNoKeyUpdate().executeTakeFirst()
        if (project === undefined) return false
        const found = await trx
          .selectFrom('exchanged_keys as x')
          .innerJoin('trust_rules as r', 'r.id', 'x.rule_id')
          .select(['x.id', 'r.name'])
          .where('x.project_uid', '=', project.uid)
          .where(sql<boolean>`x.expires_at > now()`)
          // See `fingerprintOf`.
          .where(sql<string>`left(encode(sha256(x.public_key), 'hex'), 32)`, '=', fingerprint)
          .executeTakeFirst()
        if (found === undefined) return false
        await rememberExchangedKeys(trx, project.uid, sql`x.id = ${found.id}`)
        await trx.deleteFrom('exchanged_keys').where('id', '=', found.id).execute()
        const entry = entryFor(found.name)
        await insertAuditEntry(trx, entry, project)
        await onChange(trx, project, entry)
        return true
      }),

    remove: (name, { wanted, projects }, entry) =>
      writeTransaction(db, wanted, async (trx) => {
        const project = await trx
          .deleteFrom('projects')
          .where('name', '=', name)
          .where(among(projects))
          .returning(['uid', 'name'])
          .executeTakeFirst()
        if (project !== undefined) await insertAuditEntry(trx, entry, project)
        return project !== undefined
      }),
  }
}

/** Refuses a new key that was admitted for an ID token and is still valid: revoking it would revoke only one of the two. */
async function refuseExchangedKeys(trx: Db, before: SealedProject, after: SealedProject): Promise<void> {
  const known = new Set(before.keys.map(({ id }) => id))
  const added = after.keys.filter(({ id }) => !known.has(id)).map(({ publicKey }) => Buffer.from(publicKey))
  if (added.length === 0) return
  const exchanged = await trx
    .selectFrom('exchanged_keys')
    .select('id')
    .where('project_uid', '=', after.uid)
    .where('public_key', 'in', added)
    .where(sql<boolean>`expires_at > now()`)
    .executeTakeFirst()
  if (exchanged !== undefined) throw apiError('key_exists', 'publicKey: the project already has this key')
}

/** Checks access again: while a change waited for its turn, the project may have been replaced by another of its name. */
function among(projects: AllowedProjects) {
  return projects === null ? sql<boolean>`true` : sql<boolean>`uid = ${anyUuid(projects.map(({ uid }) => uid))}`
}

/** Selects a project by its name, unless the administrator has no access to it. The caller locks it. */
export function projectAmong(trx: Db, name: string, projects: AllowedProjects) {
  return trx.selectFrom('projects').select(['uid', 'name']).where('name', '=', name).where(among(projects))
}

/** When keys were last used, in Postgres. Rows that a rotation or another replica has locked are skipped. */
export function createKeyUseStore(db: Db): KeyUseStore {
  return {
    write: async (uses) => {
      await sql`with used as (
          select k.id, u.at
          from unnest(${uses.map(({ keyId }) => keyId)}::uuid[], ${uses.map(({ at }) => at)}::timestamptz[]) as u (id, at)
          join project_keys k on k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)
          for no key update of k skip locked
        )
        update project_keys k set last_used_at = used.at from used where k.id = used.id`.execute(db)
      await sql`with used as (
          select x.id, u.at
          from unnest(${uses.map(({ keyId }) => keyId)}::uuid[], ${uses.map(({ at }) => at)}::timestamptz[]) as u (id, at)
          join exchanged_keys x on x.id = u.id and (x.last_used_at is null or x.last_used_at < u.at)
          for no key update of x skip locked
        )
        update exchanged_keys x set last_used_at = used.at from used where x.id = used.id`.execute(db)
    },
  }
}
