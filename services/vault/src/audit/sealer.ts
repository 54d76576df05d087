import type { KeyObject } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { CHAIN_START, type ChainedRow, chainCode, type Gap, gapsAfter } from './chain.ts'

/** The end of the chain. `position` is the highest number that the sealer has read. */
export type ChainEnd = {
  readonly sealNo: number
  readonly code: Uint8Array
  readonly position: number
  readonly gaps: readonly Gap[]
}

/** A batch of rows with their codes, ready to be stored. */
export type Seal = {
  readonly sealNo: number
  readonly keyNo: number
  readonly seqs: readonly number[]
  readonly codes: readonly Buffer[]
  readonly position: number
  readonly gaps: readonly Gap[]
  readonly sealedAt: Date
}

/** The store of seals. */
export type SealStore = {
  /**
   * Calls `seal` with the end of the chain and the rows after it and stores the result, as one transaction.
   *
   * @returns the stored seal; undefined when there was nothing to seal; `busy` when another replica is sealing
   */
  sealNext(
    limit: number,
    seal: (end: ChainEnd, rows: readonly ChainedRow[]) => Seal,
  ): Promise<Seal | 'busy' | undefined>
}

/** A key of the audit chain. */
export type ChainKey = { readonly keyNo: number; readonly key: KeyObject }

/** Chains the rows of the audit log after they are committed, so that requests do not wait for each other. */
export type Sealer = {
  /** Seals all unsealed rows and returns their number. Simultaneous calls share one pass. */
  sealNow(): Promise<number>
  /** Seals the remaining rows, for when no request can add another one. */
  finish(): Promise<void>
}

const BATCH = 1_000
const REPORT_MS = 60_000

/** The end of an empty chain. */
export const NO_SEAL: ChainEnd = { sealNo: 0, code: CHAIN_START, position: 0, gaps: [] }

/**
 * Creates the sealer.
 *
 * @param deps `onPass` is called after every pass that found the log sealed to its end, at most once a minute with the end of the chain: logged outside of
 *   the machine, an attacker who has the database and the keyring cannot change it
 */
export function createSealer(deps: {
  store: SealStore
  chainKey: () => Promise<ChainKey>
  clock: Clock
  onPass: (end: { sealNo: number; code: string } | undefined) => void
}): Sealer {
  const { store, clock } = deps
  let pass: Promise<number> | undefined
  let finishing = false
  let end: { sealNo: number; code: string } | undefined
  let reportedAt = 0

  async function sealAll(): Promise<number> {
    const key = await deps.chainKey()
    for (let total = 0; ; ) {
      const seal = await store.sealNext(BATCH, (end, rows) => makeSeal(end, rows, key, clock.now()))
      // Another replica is sealing, or is stuck while it does: nothing is known of the end of the log.
      if (seal === 'busy') return total
      if (seal === undefined) {
        report()
        return total
      }
      total += seal.seqs.length
      end = { sealNo: seal.sealNo, code: seal.codes.at(-1)?.toString('hex') ?? '' }
    }
  }

  function report(): void {
    const due = finishing || clock.now() - reportedAt >= REPORT_MS
    deps.onPass(due ? end : undefined)
    if (!due || end === undefined) return
    end = undefined
    reportedAt = clock.now()
  }

  function sealNow(): Promise<number> {
    pass ??= sealAll().finally(() => {
      pass = undefined
    })
    return pass
  }

  return {
    sealNow,
    finish: async () => {
      finishing = true
      // The current pass may have read the rows before the last request was committed, so one more follows.
      await pass?.catch(() => undefined)
      await sealNow()
    },
  }
}

function makeSeal(end: ChainEnd, rows: readonly ChainedRow[], { keyNo, key }: ChainKey, now: number): Seal {
  const codes: Buffer[] = []
  for (const row of rows) codes.push(chainCode(key, codes.at(-1) ?? end.code, row))
  const seqs = rows.map(({ seq }) => seq)
  return {
    sealNo: end.sealNo + 1,
    keyNo,
    seqs,
    codes,
    ...gapsAfter(end.gaps, end.position, seqs, now),
    sealedAt: new Date(now),
  }
}
