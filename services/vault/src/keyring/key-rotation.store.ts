import { sql } from 'kysely'
import { insertAuditEntries, insertAuditEntry } from '../audit/audit.store.ts'
import type { Db } from '../database.ts'
import type { DataKeyUsage, KeyRotationStore, ProjectDataKey, ValueToReencrypt } from './key-rotation.ts'
import { lockKek } from './keyring.store.ts'

/** Key rotation in Postgres. */
export function createKeyRotationStore(db: Db): KeyRotationStore {
  return {
    kekUsage: async () => {
      const rows = await db
        .selectFrom('keks as k')
        .select(['k.kek_id as id', 'k.fingerprint', 'k.retired_at as retiredAt'])
        .select(
          sql<number>`(select count(*) from project_deks d where d.kek_id = k.kek_id)
            + (select count(*) from audit_keys a where a.kek_id = k.kek_id)`.as('wraps'),
        )
        .orderBy('k.kek_id')
        .execute()
      return rows.map(({ id, fingerprint, retiredAt, wraps }) => {
        return { id, fingerprint, used: wraps > 0, retired: retiredAt !== null, wraps }
      })
    },

    dataKeyUsage: async () => {
      const { rows } = await sql<DataKeyUsage>`
        with newest as (select distinct on (project_uid) * from project_deks order by project_uid, dek_v desc)
        select (select count(*) from newest) as projects,
          (select count(*) from project_deks) as "dataKeys",
          (select count(*) ${OUTDATED_VALUES}) as "valuesBehind",
          (select min(created_at) from newest) as oldest`.execute(db)
      return rows[0] ?? { projects: 0, dataKeys: 0, valuesBehind: 0, oldest: null }
    },

    rewrapDataKeys: (activeId, limit, rewrap, entryFor) =>
      db.transaction().execute(async (trx) => {
        await lockKek(trx, activeId)
        const keys: readonly ProjectDataKey[] = await trx
          .selectFrom('project_deks as d')
          .innerJoin('projects as p', 'p.uid', 'd.project_uid')
          .select(['d.project_uid as projectUid', 'p.name as project'])
          .select(['d.dek_v as dekV', 'd.kek_id as kekId', 'd.wrapped'])
          .where('d.kek_id', '!=', activeId)
          .orderBy('d.project_uid')
          .orderBy('d.dek_v')
          .limit(limit)
          .forUpdate('d')
          .skipLocked()
          .execute()
        if (keys.length === 0) return 0
        const wrapped = (await rewrap(keys)).map((key) => key.wrapped)
        await sql`update project_deks d set kek_id = ${activeId}, wrapped = new.wrapped
          from unnest(${keys.map((key) => key.projectUid)}::uuid[], ${keys.map((key) => key.dekV)}::int[],
            ${wrapped}::bytea[]) as new (project_uid, dek_v, wrapped)
          where d.project_uid = new.project_uid and d.dek_v = new.dek_v`.execute(trx)
        await insertAuditEntries(
          trx,
          keys.map((key) => ({ entry: entryFor(key), project: { uid: key.projectUid, name: key.project } })),
        )
        return keys.length
      }),

    rewrapChainKeys: (activeId, rewrap) =>
      db.transaction().execute(async (trx) => {
        await lockKek(trx, activeId)
        const keys = await trx
          .selectFrom('audit_keys')
          .select(['key_no as keyNo', 'kek_id as kekId', 'wrapped'])
          .where('kek_id', '!=', activeId)
          .forUpdate()
          .execute()
        for (const [i, { wrapped }] of (await rewrap(keys)).entries())
          await trx
            .updateTable('audit_keys')
            .set({ kek_id: activeId, wrapped })
            .where('key_no', '=', keys[i]?.keyNo ?? 0)
            .execute()
        return keys.length
      }),

    countDataKeysToRewrap: async (activeId) => {
      const { count } = await db
        .selectFrom('project_deks')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('kek_id', '!=', activeId)
        .executeTakeFirstOrThrow()
      return count
    },

    renewDataKeys: (limits, limit, now, create, entryFor) =>
      db.transaction().execute(async (trx) => {
        // Locks the project's row: other commands skip the project, and find the new key afterwards.
        const { rows } = await sql<{ uid: string; name: string; dek_v: number }>`
          select p.uid, p.name, d.dek_v
          from projects p join project_deks d on d.project_uid = p.uid
          where not exists (select 1 from project_deks n where n.project_uid = p.uid and n.dek_v > d.dek_v)
            and (d.created_at < ${limits.before} or d.encryptions >= ${limits.encryptions})
          order by p.uid limit ${limit} for no key update of p skip locked`.execute(trx)
        let count = 0
        for (const { uid, name, dek_v: dekV } of rows) {
          const key = await create(uid, dekV + 1)
          await lockKek(trx, key.kekId)
          const inserted = await trx
            .insertInto('project_deks')
            .values({ project_uid: uid, dek_v: key.dekV, kek_id: key.kekId, wrapped: key.wrapped, created_at: now })
            .onConflict((conflict) => conflict.columns(['project_uid', 'dek_v']).doNothing())
            .returning('dek_v')
            .executeTakeFirst()
          if (inserted === undefined) continue
          await insertAuditEntry(trx, entryFor(key.dekV), { uid, name })
          count++
        }
        return count
      }),

    reencryptValues: (fromUid, limit, reencrypt) =>
      db.transaction().execute(async (trx) => {
        const { rows } = await sql<ValueRow>`
          select v.secret_id, v.version, v.blob, s.project_uid, p.name as project, s.env, s.key,
            d.dek_v as from_v, d.kek_id as from_kek, d.wrapped as from_wrapped,
            n.dek_v as to_v, n.kek_id as to_kek, n.wrapped as to_wrapped
          ${OUTDATED_VALUES} and n.project_uid >= ${fromUid}
          order by n.project_uid limit ${limit}
          for key share of p skip locked for update of v skip locked`.execute(trx)
        if (rows.length === 0) return { moved: 0, last: undefined }
        const values: { row: ValueRow; blob: Buffer }[] = []
        for (const row of rows) values.push({ row, blob: await reencrypt(toValue(row)) })
        await sql`update secret_versions v set dek_v = new.dek_v, blob = new.blob
          from unnest(${values.map(({ row }) => row.secret_id)}::uuid[], ${values.map(({ row }) => row.version)}::int[],
            ${values.map(({ row }) => row.to_v)}::int[], ${values.map(({ blob }) => blob)}::bytea[])
            as new (secret_id, version, dek_v, blob)
          where v.secret_id = new.secret_id and v.version = new.version`.execute(trx)
        // Always in the same order, so that two commands with values of the same projects do not deadlock.
        await sql`with new as (
            select project_uid, dek_v, count(*) as moved
            from unnest(${rows.map((row) => row.project_uid)}::uuid[], ${rows.map((row) => row.to_v)}::int[])
              as moved (project_uid, dek_v) group by 1, 2
          ), locked as (
            select d.project_uid, d.dek_v, new.moved
            from project_deks d join new using (project_uid, dek_v)
            order by d.project_uid, d.dek_v for update of d
          )
          update project_deks d set encryptions = d.encryptions + locked.moved from locked
          where d.project_uid = locked.project_uid and d.dek_v = locked.dek_v`.execute(trx)
        return { moved: rows.length, last: rows.at(-1)?.project_uid }
      }),

    countValuesToReencrypt: async () => {
      const { rows } = await sql<{ count: number }>`select count(*) as count ${OUTDATED_VALUES}`.execute(db)
      return rows[0]?.count ?? 0
    },

    deleteUnusedDataKeys: (successorBefore) =>
      db.transaction().execute(async (trx) => {
        // Writers lock the row of their data key. Wait for them, then read their rows.
        const old = await sql<{ project_uid: string; dek_v: number }>`
          select d.project_uid, d.dek_v from project_deks d
          where exists (select 1 from project_deks n where n.project_uid = d.project_uid and n.dek_v > d.dek_v
            and n.created_at < ${successorBefore})
          order by d.project_uid, d.dek_v for update of d`.execute(trx)
        const deleted = await sql`delete from project_deks d
          using unnest(${old.rows.map((row) => row.project_uid)}::uuid[], ${old.rows.map((row) => row.dek_v)}::int[])
            as old (project_uid, dek_v)
          where d.project_uid = old.project_uid and d.dek_v = old.dek_v and not exists (
            select 1 from secrets s join secret_versions v on v.secret_id = s.id
            where s.project_uid = d.project_uid and v.dek_v = d.dek_v)`.execute(trx)
        return Number(deleted.numAffectedRows ?? 0)
      }),

    retire: (id, now) =>
      db.transaction().execute(async (trx) => {
        // Transactions that wrap with this key lock its row. Wait for them, then read their rows.
        const kek = await trx
          .selectFrom('keks')
          .select('kek_id')
          .where('kek_id', '=', id)
          .forUpdate()
          .executeTakeFirst()
        if (kek === undefined) return 'unknown'
        const { rows } = await sql<{ used: boolean }>`
          select exists (select 1 from project_deks where kek_id = ${id})
            or exists (select 1 from audit_keys where kek_id = ${id}) as used`.execute(trx)
        if (rows[0]?.used !== false) return 'in use'
        await trx
          .updateTable('keks')
          .set({ retired_at: now })
          .where('kek_id', '=', id)
          .where('retired_at', 'is', null)
          .execute()
        return 'retired'
      }),
  }
}

type ValueRow = {
  secret_id: string
  version: number
  blob: Buffer
  project_uid: string
  project: string
  env: string
  key: string
  from_v: number
  from_kek: string
  from_wrapped: Buffer
  to_v: number
  to_kek: string
  to_wrapped: Buffer
}

/** Values `v` that use the data key `d` of their project instead of its newest one, `n`. */
const OUTDATED_VALUES = sql`
  from project_deks n
  join projects p on p.uid = n.project_uid
  join secrets s on s.project_uid = n.project_uid
  join secret_versions v on v.secret_id = s.id and v.dek_v < n.dek_v
  join project_deks d on d.project_uid = n.project_uid and d.dek_v = v.dek_v
  where n.dek_v > 1
    and not exists (select 1 from project_deks m where m.project_uid = n.project_uid and m.dek_v > n.dek_v)`

function toValue(row: ValueRow): ValueToReencrypt {
  return {
    place: { projectUid: row.project_uid, env: row.env, key: row.key, version: row.version },
    project: row.project,
    blob: row.blob,
    from: { dekV: row.from_v, kekId: row.from_kek, wrapped: row.from_wrapped },
    to: { dekV: row.to_v, kekId: row.to_kek, wrapped: row.to_wrapped },
  }
}
