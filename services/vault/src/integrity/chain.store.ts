import { type SqlBool, sql } from 'kysely'
import type { Db } from '../database.ts'
import { CHAIN_START, type ChainedRow, CODE_LENGTH, EMPTY_CHAIN, type Gap, type StoredSeal } from './chain.ts'
import type { SealReads, SealStore } from './sealer.ts'
import type { StoredPruning, VerificationStore } from './verification.ts'

/** Replaces a missing code; it matches no key. */
const NO_CODE = Buffer.alloc(0)

/** The advisory lock of the sealer, unique in this database. */
const SEALER_LOCK = 7_324_511

/** Seals in Postgres. They are inserted and never changed. */
export function createSealStore(db: Db): SealStore {
  return {
    sealNext: (limit, findEnd, seal) =>
      db.transaction().execute(async (trx) => {
        const lock = await sql<{ held: boolean }>`select pg_try_advisory_xact_lock(${SEALER_LOCK}) as held`.execute(trx)
        if (lock.rows[0]?.held !== true) return 'busy'
        const end = await findEnd(createSealReads(trx))
        const late = end.gaps.length === 0 ? [] : await rowsWhere(trx, inGaps(end.gaps), limit)
        const rows = [...late, ...(await rowsWhere(trx, sql`seq > ${end.position}`, limit))].slice(0, limit)
        if (rows.length === 0) return undefined
        const made = seal(end, rows)
        await trx
          .insertInto('audit_seals')
          .values({
            seal_no: made.sealNo,
            key_no: made.keyNo,
            seqs: [...made.seqs],
            codes: Buffer.concat(made.codes),
            position: made.position,
            gaps: JSON.stringify(made.gaps),
            sealed_at: made.sealedAt,
            mac: made.mac,
          })
          .execute()
        return made
      }),
  }
}

/** The reads of a verification, in batches, so that memory does not grow with the log. */
export function createVerificationStore(db: Db): VerificationStore {
  return {
    seals: async (after, limit) => {
      const rows = await selectSeals(db).where('seal_no', '>', after).orderBy('seal_no').limit(limit).execute()
      return rows.map(toSeal)
    },

    ...createSealReads(db),

    countUpTo: (position) => countRows(db, '<=', position),

    countAfter: (position) => countRows(db, '>', position),

    unsealed: async (position, limit) => {
      const found = await sql<{ seq: number; id: string }>`
        select a.seq, a.id
        from audit a left join (select unnest(seqs) as seq from audit_seals) s on s.seq = a.seq
        where a.seq <= ${position} and s.seq is null
        order by a.seq limit ${limit}`.execute(db)
      return found.rows
    },

    rowsBetween: (first, last, limit) =>
      db
        .selectFrom('audit')
        .select(['seq', 'id'])
        .where('seq', '>', first)
        .where('seq', '<=', last)
        .orderBy('seq')
        .limit(limit)
        .execute(),

    chainEnd: async () => {
      const last = await selectSeals(db).orderBy('seal_no', 'desc').limit(1).executeTakeFirst()
      if (last === undefined) return EMPTY_CHAIN
      const { sealNo, position, gaps, codes } = toSeal(last)
      return { sealNo, position, gaps, code: codes.at(-1) ?? CHAIN_START }
    },
  }
}

async function countRows(db: Db, comparison: '<=' | '>', position: number): Promise<number> {
  const { count } = await db
    .selectFrom('audit')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('seq', comparison, position)
    .executeTakeFirstOrThrow()
  return count
}

function createSealReads(db: Db): SealReads {
  return {
    sealsBefore: async (sealNo, limit) => {
      const rows = await selectSeals(db).where('seal_no', '<', sealNo).orderBy('seal_no', 'desc').limit(limit).execute()
      return rows.map(toSeal)
    },

    rows: (seqs) => rowsWhere(db, sql`seq = any(${[...seqs]}::bigint[])`, seqs.length + 1),

    prunings: async () => {
      const rows = await db
        .selectFrom('audit_prunings')
        .select([sql<string>`to_char(month, 'YYYY-MM')`.as('month'), 'first_seq', 'last_seq', 'rows', 'mac'])
        .orderBy('month')
        .execute()
      return rows.map(
        (row): StoredPruning => ({
          month: row.month,
          first: row.first_seq,
          last: row.last_seq,
          rows: row.rows ?? 0,
          code: row.mac ?? NO_CODE,
        }),
      )
    },
  }
}

function selectSeals(db: Db) {
  return db
    .selectFrom('audit_seals')
    .select(['seal_no', 'key_no', 'codes', 'position', 'gaps', 'mac', sql<string[]>`seqs::text[]`.as('seqs')])
}

function toSeal(row: Awaited<ReturnType<ReturnType<typeof selectSeals>['execute']>>[number]): StoredSeal {
  return {
    sealNo: row.seal_no,
    keyNo: row.key_no,
    seqs: row.seqs.map(Number),
    codes: split(row.codes),
    position: row.position,
    gaps: toGaps(row.gaps),
    mac: row.mac,
  }
}

/** The stored gaps of a forged seal may be anything; with no gaps, its code does not match either. */
function toGaps(stored: unknown): readonly Gap[] {
  const isGap = (gap: unknown): gap is Gap => Array.isArray(gap) && gap.length === 3 && gap.every(Number.isSafeInteger)
  return Array.isArray(stored) && stored.every(isGap) ? stored : []
}

function inGaps(gaps: readonly Gap[]) {
  return sql<SqlBool>`seq in (
    select late.seq
    from unnest(${gaps.map(([first]) => first)}::bigint[], ${gaps.map(([, last]) => last)}::bigint[]) as gap (first, last)
    join audit late on late.seq between gap.first and gap.last
  )`
}

async function rowsWhere(
  db: Db,
  condition: ReturnType<typeof sql<SqlBool>>,
  limit: number,
): Promise<readonly ChainedRow[]> {
  // As one JSON text: parsing a thousand rows of nine columns would block the event loop four times as long.
  const found = await sql<{ rows: ChainedRow[] }>`
    select coalesce(json_agg(chained order by seq), '[]') as rows
    from (
      select seq, id, project_uid as "projectUid", project_id as "projectId", action, env,
        to_char(requested_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')
          || case when requested_at < '0001-01-01T00:00Z' then ' BC' else '' end as "requestedAt",
        ip::text as address, detail::text as detail, actor
      from audit where ${condition} order by seq limit ${limit}
    ) as chained`.execute(db)
  return found.rows[0]?.rows ?? []
}

function split(codes: Buffer): Buffer[] {
  return Array.from({ length: codes.length / CODE_LENGTH }, (_, i) =>
    codes.subarray(i * CODE_LENGTH, (i + 1) * CODE_LENGTH),
  )
}
