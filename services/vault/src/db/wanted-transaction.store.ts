import type { Wanted } from '../limits/wanted.ts'
import type { Db } from './schema.ts'

/**
 * Runs a transaction that is not committed once its write was given up. It holds its locks until the commit has ended, so
 * whatever its client writes afterwards comes after it.
 */
export function wantedTransaction<T>(db: Db, wanted: Wanted | undefined, work: (trx: Db) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (trx) => {
    const result = await work(trx)
    wanted?.assert()
    return result
  })
}
