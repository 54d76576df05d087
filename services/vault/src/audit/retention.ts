import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type Pruning, pruningCode } from './chain.ts'
import type { ChainKey } from './sealer.ts'

/** The record that a month was dropped on purpose, authenticated with a key of the audit chain. */
export type SealedPruning = Pruning & { readonly keyNo: number; readonly code: Buffer; readonly prunedAt: Date }

/** The store of the months of the audit log. Months are `YYYY-MM`, each one partition. */
export type RetentionStore = {
  /** Months that have a partition of their own, the oldest first. */
  months(): Promise<readonly string[]>
  /**
   * Drops the partition of a month and stores the record that `seal` makes of it, as one transaction; the month that
   * still runs gets a new partition. Requests wait for milliseconds, whatever the number of rows.
   *
   * @returns `unsealed` when rows of the month have no seal yet, and `busy` when another session reads the log for
   *   longer than a second; then nothing is dropped
   */
  dropMonth(month: string, seal: (pruning: Pruning) => SealedPruning): Promise<'dropped' | 'unsealed' | 'busy'>
}

/**
 * Drops all months before a month and records each, so that a verification can tell a dropped month from deleted rows.
 * Months to come are never dropped.
 *
 * @param before `YYYY-MM`; this month and later ones stay
 * @param options `includeCurrent`: the month that still runs is dropped too, when it is before that one
 * @returns the dropped months
 * @throws Error when the month that still runs would be dropped and need not be: then nothing is; Error when a month
 *   cannot be dropped now: earlier months stay dropped
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
    throw new Error(`${current} is not over: give ${current} or an earlier month, or --include-current to drop it too`)
  const months = (await store.months()).filter((month) => month < before && month <= current)
  for (const month of months) {
    const result = await store.dropMonth(month, seal)
    if (result === 'unsealed')
      throw new Error(
        `${month} has rows that are not sealed yet; run again while the service runs, or a few seconds after its start`,
      )
    if (result === 'busy')
      throw new Error('another session is reading the audit log (a dump or a verification); try again later')
  }
  return months
}
