import { errorCode } from '@vault-and-tracker/service-kit/errors'
import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import { pruningCode } from './chain.ts'
import type { ChainKey } from './sealer.ts'

/**
 * Drops the monthly partitions before a month, each one a matter of milliseconds for the others however many rows it has,
 * and notes under the chain's key what went, so that a verification can tell it from a theft. Runs as the owner of the
 * tables.
 *
 * @param before `YYYY-MM`; this month and later ones stay
 * @returns the months dropped
 * @throws Error when a month holds rows that are not sealed yet, or somebody reads the log for longer than a second;
 *   months dropped before stay dropped
 */
export async function pruneAudit(db: Db, chainKey: ChainKey, before: string, now: Date): Promise<readonly string[]> {
  const partitions = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'audit'::regclass and c.relname ~ '^audit_\\d{4}_\\d{2}$'
    order by c.relname`.execute(db)
  const months = partitions.rows
    .map(({ name }) => ({ name, month: name.slice('audit_'.length).replace('_', '-') }))
    .filter(({ month }) => month < before)
  for (const { name, month } of months) await dropMonth(db, chainKey, { table: name, month, now })
  return months.map(({ month }) => month)
}

async function dropMonth(
  db: Db,
  { keyNo, key }: ChainKey,
  what: { table: string; month: string; now: Date },
): Promise<void> {
  const { month, now } = what
  const table = sql.table(what.table)
  // Counting takes long, so nobody waits for it.
  const counted = await sql<{ rows: number }>`select count(*) as rows from ${table}`.execute(db)
  const rows = counted.rows[0]?.rows ?? 0
  await db.transaction().execute(async (trx) => {
    await takeLog(trx)
    const bounds = await sql<{ first: number | null; last: number | null }>`
      select min(seq) as first, max(seq) as last from ${table}`.execute(trx)
    const { first = null, last = null } = bounds.rows[0] ?? {}
    if (await holdsUnsealed(trx, what.table, last))
      throw new Error(`${month} holds rows that are not sealed yet; let the service run for a moment first`)
    const mac = pruningCode(key, { month, first, last, rows })
    await sql`insert into audit_prunings (month, first_seq, last_seq, rows, key_no, mac, pruned_at)
      values (${`${month}-01`}, ${first}, ${last}, ${rows}, ${keyNo}, ${mac}, ${now})`.execute(trx)
    await sql`alter table audit detach partition ${table}`.execute(trx)
    await sql`drop table ${table}`.execute(trx)
  })
}

/** Whether a row is behind the end of the chain, or turned up late and waits for its seal. */
async function holdsUnsealed(trx: Db, table: string, last: number | null): Promise<boolean> {
  if (last === null) return false
  const { rows } = await sql<{ unsealed: boolean }>`
    select end_of_chain.position < ${last} or exists (
      select 1 from jsonb_array_elements(end_of_chain.gaps) as gap
        join ${sql.table(table)} as late on late.seq between (gap->>0)::bigint and (gap->>1)::bigint
    ) as unsealed
    from audit_seals as end_of_chain order by seal_no desc limit 1`.execute(trx)
  return rows[0]?.unsealed ?? true
}

/** Every fetch queues up behind this lock while it waits for a reader, a dump for example: so it does not wait long. */
async function takeLog(trx: Db): Promise<void> {
  await sql`set local lock_timeout = '1s'`.execute(trx)
  try {
    await sql`lock table only audit in access exclusive mode`.execute(trx)
  } catch (error) {
    if (errorCode(error) !== '55P03') throw error
    throw new Error('somebody reads the log (a dump, a verification); try again later', { cause: error })
  }
}
