import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { ChainKey } from '../keyring/chain-keys.ts'
import { type Pruning, pruningCode } from './chain.ts'

/** The record that a month was dropped on purpose. */
export type SealedPruning = Pruning & { readonly keyNo: number; readonly code: Buffer; readonly prunedAt: Date }

/** The months of the audit log, `YYYY-MM`, each of which is one partition. */
export type RetentionStore = {
  /** Months that have a partition, oldest first. */
  months(): Promise<readonly string[]>
  /**
   * In one transaction, drops the partition of a month and stores the record that `seal` returns; the current month gets a
   * new partition. Requests wait for milliseconds, regardless of the number of rows.
   *
   * @returns `unsealed` if rows of the month have no seal yet, `busy` if another session reads the log for longer than a
   *   second; in both cases, nothing is dropped
   */
  dropMonth(month: string, seal: (pruning: Pruning) => SealedPruning): Promise<'dropped' | 'unsealed' | 'busy'>
}

/**
 * Drops all months before a month, with a record for each, so that a verification can distinguish dropped months from
 * deleted rows.
 *
 * @param before `YYYY-MM`; this month and later ones are kept, and future months always are
 * @param options `includeCurrent` drops the current month too if it is before that month
 * @returns the dropped months
 * @throws Error if the current month would be dropped without `includeCurrent`, or a month cannot be dropped now
 */
export async function pruneAudit(
  deps: { store: RetentionStore; chainKey: ChainKey; clock: Clock },
  before: string,
  { includeCurrent }: { includeCurrent: boolean },
): Promise<readonly string[]> {
  const { store, chainKey, clock } = deps
  const seal = (pruning: Pruning): SealedPruning => ({
    ...pruning,
    keyNo: chainKey.keyNo,
    code: pruningCode(chainKey.key, pruning),
    prunedAt: new Date(clock.now()),
  })
  const current = new Date(clock.now()).toISOString().slice(0, 7)
  if (current < before && !includeCurrent)
    throw new Error(`${current} is not over: use ${current} or an earlier month, or --include-current to drop it too`)
  const months = (await store.months()).filter((month) => month < before && month <= current)
  for (const month of months) {
    const result = await store.dropMonth(month, seal)
    if (result === 'unsealed')
      throw new Error(
        `${month} has unsealed rows; run again while the service is running, or a few seconds after its start`,
      )
    if (result === 'busy')
      throw new Error('another session is reading the audit log (a dump or a verification); try again later')
  }
  return months
}
