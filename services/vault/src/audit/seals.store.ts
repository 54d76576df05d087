import { type SqlBool, sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import { CHAIN_START, type ChainedRow, CODE_LENGTH, type Gap } from './chain.ts'
import { type ChainEnd, NO_SEAL, type SealStore } from './sealer.ts'
import type { StoredPruning, StoredSeal, VerificationStore } from './verification.ts'

/** The code of a pruning record that has none. It matches no key. */
const NO_CODE = Buffer.alloc(0)
const FIRST_KEY = 1

/** The advisory lock of the sealer: any number that nothing else in this database uses. */
const SEALER_LOCK = 7_324_511

/** Seals in Postgres. Rows are inserted and never changed. */
export function createSealStore(db: Db): SealStore {
  return {
    sealNext: (limit, seal) =>
      db.transaction().execute(async (trx) => {
        const lock = await sql<{ held: boolean }>`select pg_try_advisory_xact_lock(${SEALER_LOCK}) as held`.execute(trx)
        if (lock.rows[0]?.held !== true) return 'busy'
        const end = await chainEnd(trx)
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
          })
          .execute()
        return made
      }),
  }
}

/** The reads of the verification, in batches, so that memory does not grow with the log. */
export function createVerificationStore(db: Db): VerificationStore {
  return {
    seals: async (after, limit) => {
      const rows = await db
        .selectFrom('audit_seals')
        .select(['seal_no', 'key_no', 'codes', 'position', sql<string[]>`seqs::text[]`.as('seqs')])
        .where('seal_no', '>', after)
        .orderBy('seal_no')
        .limit(limit)
        .execute()
      return rows.map(
        (row): StoredSeal => ({
          sealNo: row.seal_no,
          keyNo: row.key_no,
          seqs: row.seqs.map(Number),
          codes: split(row.codes),
          position: row.position,
        }),
      )
    },

    rows: (seqs) => rowsWhere(db, sql`seq = any(${[...seqs]}::bigint[])`, seqs.length + 1),

    prunings: async () => {
      const rows = await db
        .selectFrom('audit_prunings')
        .select([sql<string>`to_char(month, 'YYYY-MM')`.as('month'), 'first_seq', 'last_seq', 'rows', 'key_no', 'mac'])
        .orderBy('month')
        .execute()
      return rows.map(
        (row): StoredPruning => ({
          month: row.month,
          first: row.first_seq,
          last: row.last_seq,
          rows: row.rows ?? 0,
          keyNo: row.key_no ?? FIRST_KEY,
          code: row.mac ?? NO_CODE,
        }),
      )
    },

    countUpTo: async (position) => {
      const { count } = await db
        .selectFrom('audit')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('seq', '<=', position)
        .executeTakeFirstOrThrow()
      return count
    },

    countAfter: async (position) => {
      const { count } = await db
        .selectFrom('audit')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('seq', '>', position)
        .executeTakeFirstOrThrow()
      return count
    },

    unsealed: async (position, limit) => {
      const found = await sql<{ seq: number; id: string }>`
        select a.seq, a.id
        from audit a left join (select unnest(seqs) as seq from audit_seals) s on s.seq = a.seq
        where a.seq <= ${position} and s.seq is null
        order by a.seq limit ${limit}`.execute(db)
      return found.rows
    },

    chainEnd: () => chainEnd(db),
  }
}

async function chainEnd(db: Db): Promise<ChainEnd> {
  const last = await db
    .selectFrom('audit_seals')
    .select(['seal_no', 'codes', 'position', 'gaps'])
    .orderBy('seal_no', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (last === undefined) return NO_SEAL
  return {
    sealNo: last.seal_no,
    code: split(last.codes).at(-1) ?? CHAIN_START,
    position: last.position,
    gaps: last.gaps.map(([first = 0, end = 0, noticed = 0]): Gap => [first, end, noticed]),
  }
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
  // One JSON text: a thousand rows of nine columns each would block the event loop four times as long.
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
