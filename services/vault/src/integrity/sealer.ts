import type { KeyObject } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { ChainKey, ChainKeys } from '../keyring/chain-keys.ts'
import {
  CHAIN_START,
  type ChainEnd,
  type ChainedRow,
  chainCode,
  EMPTY_CHAIN,
  gapsAfter,
  type SealedBatch,
  type StoredSeal,
  sealCode,
} from './chain.ts'
import { isCode, type OnRefused } from './rows.ts'
import { checkSeal, pruned, type VerificationStore } from './verification.ts'

/** A seal to store. */
export type Seal = SealedBatch & { readonly mac: Buffer; readonly sealedAt: Date }

/** Reads that find the end of the chain. */
export type SealReads = Pick<VerificationStore, 'rows' | 'prunings'> & {
  /** Seals with a lower number, the newest first. */
  sealsBefore(sealNo: number, limit: number): Promise<readonly StoredSeal[]>
}

/** The store of seals. */
export type SealStore = {
  /**
   * In one transaction, calls `findEnd`, then `seal` with the end of the chain and the rows after it, and stores the
   * result.
   *
   * @returns the stored seal; undefined if there was nothing to seal; `busy` if another replica is sealing
   */
  sealNext(
    limit: number,
    findEnd: (reads: SealReads) => Promise<ChainEnd>,
    seal: (end: ChainEnd, rows: readonly ChainedRow[]) => Seal,
  ): Promise<Seal | 'busy' | undefined>
}

const BATCH = 1_000
const REPORT_MS = 60_000

/** How many seals are read at a time after the newest one turned out to be forged. */
const LOOK_BACK = 50

/** How many forged seals a pass reports at most: the role of the service can insert any number. */
const MAX_REPORTED = 10

/**
 * Chains the rows of the audit log after they are committed, so that requests do not wait for each other.
 *
 * @param deps `onPass` is called after each pass that sealed the log to its end, at most once a minute with the end of the
 *   chain: if that is logged on another machine, an attacker who has the database and the keyring cannot change it;
 *   `onRefused` is called once for each seal that the vault did not create, up to ten per pass
 */
export function createSealer(deps: {
  store: SealStore
  chainKeys: Pick<ChainKeys, 'current'>
  clock: Clock
  onPass: (end: { sealNo: number; code: string } | undefined) => void
  onRefused: OnRefused
}) {
  const { store, chainKeys, clock, onPass, onRefused } = deps
  let reportedForged = 0
  let pass: Promise<number> | undefined
  let finishing = false
  let end: { sealNo: number; code: string } | undefined
  let reportedAt = 0

  async function findAndReport(reads: SealReads, key: KeyObject): Promise<ChainEnd> {
    const { end, forged } = await findEnd(reads, key)
    const unreported = forged.filter((sealNo) => sealNo > reportedForged)
    for (const sealNo of unreported.slice(0, MAX_REPORTED)) onRefused('audit_seals', { sealNo })
    // They are in descending order.
    reportedForged = unreported[0] ?? reportedForged
    return end
  }

  async function sealAll(): Promise<number> {
    const key = await chainKeys.current()
    for (let total = 0; ; ) {
      const seal = await store.sealNext(
        BATCH,
        (reads) => findAndReport(reads, key.key),
        (end, rows) => createSeal(end, rows, key, clock.now()),
      )
      // Another replica is sealing, or hangs while it seals: the end of the log is unknown.
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
    const isDue = finishing || clock.now() - reportedAt >= REPORT_MS
    onPass(isDue ? end : undefined)
    if (!isDue || end === undefined) return
    end = undefined
    reportedAt = clock.now()
  }

  /** Seals all unsealed rows and returns their number. Simultaneous calls share one pass. */
  function sealNow(): Promise<number> {
    pass ??= sealAll().finally(() => {
      pass = undefined
    })
    return pass
  }

  return {
    sealNow,

    /** Seals the remaining rows once no request can add another one. */
    finish: async (): Promise<void> => {
      finishing = true
      // The current pass may have read the rows before the last request was committed.
      await pass?.catch(() => undefined)
      await sealNow()
    },
  }
}

function createSeal(end: ChainEnd, rows: readonly ChainedRow[], { keyNo, key }: ChainKey, now: number): Seal {
  const codes: Buffer[] = []
  for (const row of rows) codes.push(chainCode(key, codes.at(-1) ?? end.code, row))
  const seqs = rows.map(({ seq }) => seq)
  const seal = { sealNo: end.sealNo + 1, keyNo, seqs, codes, ...gapsAfter(end.gaps, end.position, seqs, now) }
  return { ...seal, mac: sealCode(key, seal), sealedAt: new Date(now) }
}

/**
 * Finds the last seal that the vault created. Anyone who can insert rows can forge others: one that claimed to have read
 * far ahead would hide all rows up to there.
 *
 * @returns the end of the chain, with the highest number of all seals; and the numbers of the forged seals after it
 */
async function findEnd(reads: SealReads, key: KeyObject): Promise<{ end: ChainEnd; forged: readonly number[] }> {
  const forged: number[] = []
  for (let limit = 1, before = Number.MAX_SAFE_INTEGER; ; limit = LOOK_BACK) {
    const seals = await reads.sealsBefore(before, limit)
    for (const seal of seals) {
      const { sealNo, codes, position, gaps } = seal
      if (await isAuthentic(reads, key, seal))
        return { end: { sealNo: forged[0] ?? sealNo, code: codes.at(-1) ?? CHAIN_START, position, gaps }, forged }
      forged.push(sealNo)
      before = sealNo
    }
    if (seals.length === 0) return { end: { ...EMPTY_CHAIN, sealNo: forged[0] ?? 0 }, forged }
  }
}

/** Whether the vault created a seal. Seals of earlier releases have no code, but their rows do. */
async function isAuthentic(reads: SealReads, key: KeyObject, seal: StoredSeal): Promise<boolean> {
  if (seal.mac !== null) return isCode(sealCode(key, seal), seal.mac)
  const [previous] = await reads.sealsBefore(seal.sealNo, 1)
  const reached = { sealNo: previous?.sealNo ?? 0, code: previous?.codes.at(-1) ?? CHAIN_START }
  const isPruned = pruned(await reads.prunings())
  return !('problem' in (await checkSeal(seal, { store: reads, key, reached, isPruned })))
}
