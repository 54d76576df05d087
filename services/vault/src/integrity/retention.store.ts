import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { sql } from 'kysely'
import type { Db } from '../database.ts'
import type { RetentionStore } from './retention.ts'

/** SQLSTATE lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03'

/** The partitions of the audit log, `audit_YYYY_MM`. Only the owner of the table can drop one. */
export function createRetentionStore(db: Db): RetentionStore {
  return {
    months: async () => {
      const { rows } = await sql<{ name: string }>`
        select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'audit'::regclass and c.relname ~ '^audit_\\d{4}_\\d{2}$'
        order by c.relname`.execute(db)
      return rows.map(({ name }) => name.slice('audit_'.length).replace('_', '-'))
    },

    dropMonth: async (month, seal) => {
      const name = `audit_${month.replace('-', '_')}`
      const table = sql.table(name)
      // Counting is slow, so it runs before the lock.
      const counted = await sql<{ rows: number }>`select count(*) as rows from ${table}`.execute(db)
      const rows = counted.rows[0]?.rows ?? 0
      return db.transaction().execute(async (trx) => {
        if (!(await lockLog(trx))) return 'busy'
        const bounds = await sql<{ first: number | null; last: number | null }>`
          select min(seq) as first, max(seq) as last from ${table}`.execute(trx)
        const { first = null, last = null } = bounds.rows[0] ?? {}
        if (await holdsUnsealedRows(trx, name, last)) return 'unsealed'
        const { keyNo, code, prunedAt } = seal({ month, first, last, rows })
        await sql`insert into audit_prunings (month, first_seq, last_seq, rows, key_no, mac, pruned_at)
          values (${`${month}-01`}, ${first}, ${last}, ${rows}, ${keyNo}, ${code}, ${prunedAt})`.execute(trx)
        await sql`alter table audit detach partition ${table}`.execute(trx)
        await sql`drop table ${table}`.execute(trx)
        await sql`select audit_ensure_partitions()`.execute(trx)
        return 'dropped'
      })
    },
  }
}

/** Whether a row is after the end of the chain, or in a gap that is still open. */
async function holdsUnsealedRows(trx: Db, table: string, last: number | null): Promise<boolean> {
  if (last === null) return false
  const { rows } = await sql<{ unsealed: boolean }>`
    select end_of_chain.position < ${last} or exists (
      select 1 from jsonb_array_elements(end_of_chain.gaps) as gap
        join ${sql.table(table)} as late on late.seq between (gap->>0)::bigint and (gap->>1)::bigint
    ) as unsealed
    from audit_seals as end_of_chain order by seal_no desc limit 1`.execute(trx)
  return rows[0]?.unsealed ?? true
}

/**
 * Locks the log exclusively. All fetches queue behind it while it waits for a reader such as a dump, so it waits for one
 * second at most.
 *
 * @returns false if it timed out; the transaction has failed then
 */
async function lockLog(trx: Db): Promise<boolean> {
  await sql`set local lock_timeout = '1s'`.execute(trx)
  try {
    await sql`lock table only audit in access exclusive mode`.execute(trx)
    return true
  } catch (error) {
    if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error
    return false
  }
}
