import type { KeyObject } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isCode } from '../keyring/row-codes.ts'
import {
  CHAIN_START,
  type ChainEnd,
  type ChainedRow,
  chainCode,
  gapsAfter,
  NO_SEAL,
  type SealedBatch,
  sealCode,
} from './chain.ts'
import { checkSeal, pruned, type StoredSeal, type VerificationStore } from './verification.ts'

/** A batch of rows with their codes and its own code, ready to be stored. */
export type Seal = SealedBatch & { readonly mac: Buffer; readonly sealedAt: Date }

/** What the end of the chain is found with. */
export type SealReads = Pick<VerificationStore, 'rows' | 'prunings'> & {
  /** Seals with a lower number, the newest first. */
  sealsBefore(sealNo: number, limit: number): Promise<readonly StoredSeal[]>
}

/** The store of seals. */
export type SealStore = {
  /**
   * Calls `findEnd`, then `seal` with the end of the chain and the rows after it, and stores the result, as one
   * transaction.
   *
   * @returns the stored seal; undefined when there was nothing to seal; `busy` when another replica is sealing
   */
  sealNext(
    limit: number,
    findEnd: (reads: SealReads) => Promise<ChainEnd>,
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

/** How many seals are read at a time once the newest one turned out to be forged. */
const LOOK_BACK = 50

/** Forged seals that one pass reports: the role of the service may insert very many. */
const MOST_REPORTED = 10

/**
 * Creates the sealer.
 *
 * @param deps `onPass` is called after every pass that found the log sealed to its end, at most once a minute with the end of the chain: logged outside of
 *   the machine, an attacker who has the database and the keyring cannot change it; `onForged` is called once with the
 *   number of each seal that the vault did not make, ten in a pass at most. The chain goes on from the last one that it made
 */
export function createSealer(deps: {
  store: SealStore
  chainKey: () => Promise<ChainKey>
  clock: Clock
  onPass: (end: { sealNo: number; code: string } | undefined) => void
  onForged: (sealNo: number) => void
}): Sealer {
  const { store, clock } = deps
  let reportedForged = 0
  let pass: Promise<number> | undefined
  let finishing = false
  let end: { sealNo: number; code: string } | undefined
  let reportedAt = 0

  async function sealAll(): Promise<number> {
    const key = await deps.chainKey()
    for (let total = 0; ; ) {
      const seal = await store.sealNext(
        BATCH,
        async (reads) => {
          const { end, forged } = await findEnd(reads, key.key)
          const unreported = forged.filter((sealNo) => sealNo > reportedForged)
          for (const sealNo of unreported.slice(0, MOST_REPORTED)) deps.onForged(sealNo)
          for (const sealNo of unreported) reportedForged = Math.max(reportedForged, sealNo)
          return end
        },
        (end, rows) => makeSeal(end, rows, key, clock.now()),
      )
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
  const seal = { sealNo: end.sealNo + 1, keyNo, seqs, codes, ...gapsAfter(end.gaps, end.position, seqs, now) }
  return { ...seal, mac: sealCode(key, seal), sealedAt: new Date(now) }
}

/**
 * Finds the last seal that the vault made. Whoever may insert rows can forge others: one that claimed to have read the
 * log far ahead would hide all that follows.
 *
 * @returns the end of the chain, with the number of the last seal of all; and the numbers of the forged ones after it
 */
async function findEnd(reads: SealReads, key: KeyObject): Promise<{ end: ChainEnd; forged: readonly number[] }> {
  const forged: number[] = []
  for (let limit = 1, before = Number.MAX_SAFE_INTEGER; ; limit = LOOK_BACK) {
    const seals = await reads.sealsBefore(before, limit)
    for (const seal of seals) {
      const { sealNo, codes, position, gaps } = seal
      if (await isOwn(reads, key, seal))
        return { end: { sealNo: forged[0] ?? sealNo, code: codes.at(-1) ?? CHAIN_START, position, gaps }, forged }
      forged.push(sealNo)
      before = sealNo
    }
    if (seals.length === 0) return { end: { ...NO_SEAL, sealNo: forged[0] ?? 0 }, forged }
  }
}

/** Whether the vault made a seal. The rows tell of those without a code, which an earlier release made. */
async function isOwn(reads: SealReads, key: KeyObject, seal: StoredSeal): Promise<boolean> {
  if (seal.mac !== null) return isCode(sealCode(key, seal), seal.mac)
  const [previous] = await reads.sealsBefore(seal.sealNo, 1)
  const reached = { sealNo: previous?.sealNo ?? 0, code: previous?.codes.at(-1) ?? CHAIN_START }
  const isPruned = pruned(await reads.prunings())
  return !('problem' in (await checkSeal(seal, { store: reads, key, reached, isPruned })))
}
