import { sql } from 'kysely'
import { errorCode } from 'service-kit/errors'
import type { Database } from '../db/schema.ts'

/**
 * Drops the monthly partitions before a month, each one a matter of milliseconds however many rows it has, and notes
 * which numbers went with it, so that a verification can tell it from a theft. Runs as the owner of the tables.
 *
 * @param before `YYYY-MM`; this month and later ones stay
 * @returns the months dropped
 * @throws Error when a month holds rows that are not sealed yet, or somebody reads the log for longer than a second;
 *   months dropped before stay dropped
 */
export async function pruneAudit(db: Database, before: string, now: Date): Promise<readonly string[]> {
  const partitions = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'audit'::regclass and c.relname ~ '^audit_\\d{4}_\\d{2}$'
    order by c.relname`.execute(db)
  const months = partitions.rows
    .map(({ name }) => ({ name, month: name.slice('audit_'.length).replace('_', '-') }))
    .filter(({ month }) => month < before)
  for (const { name, month } of months) await dropMonth(db, name, month, now)
  return months.map(({ month }) => month)
}

function dropMonth(db: Database, name: string, month: string, now: Date): Promise<void> {
  const table = sql.table(name)
  return db.transaction().execute(async (trx) => {
    await takeLog(trx)
    const { rows } = await sql<{ first: number | null; last: number | null; sealed: number | null }>`
      select min(seq) as first, max(seq) as last,
        (select position from audit_seals order by seal_no desc limit 1) as sealed
      from ${table}`.execute(trx)
    const { first = null, last = null, sealed = null } = rows[0] ?? {}
    if (last !== null && (sealed === null || sealed < last))
      throw new Error(`${month} holds rows that are not sealed yet; let the service run for a moment first`)
    await sql`insert into audit_prunings (month, first_seq, last_seq, pruned_at)
      values (${`${month}-01`}, ${first}, ${last}, ${now})`.execute(trx)
    await sql`alter table audit detach partition ${table}`.execute(trx)
    await sql`drop table ${table}`.execute(trx)
  })
}

/** Every fetch queues up behind this lock while it waits for a reader, a dump for example: so it does not wait long. */
async function takeLog(trx: Database): Promise<void> {
  await sql`set local lock_timeout = '1s'`.execute(trx)
  try {
    await sql`lock table only audit in access exclusive mode`.execute(trx)
  } catch (error) {
    if (errorCode(error) !== '55P03') throw error
    throw new Error('somebody reads the log (a dump, a verification); try again later', { cause: error })
  }
}
