import type { KeyObject } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { CHAIN_START, type ChainedRow, chainCode, type Gap, gapsAfter } from './chain.ts'

/** The end of the chain: the last seal, or nothing yet. */
export type ChainEnd = Readonly<{ sealNo: number; code: Uint8Array; position: number; gaps: readonly Gap[] }>

/** A batch of rows with their codes, ready to be stored. */
export type Seal = Readonly<{
  sealNo: number
  keyNo: number
  seqs: readonly number[]
  codes: readonly Buffer[]
  position: number
  gaps: readonly Gap[]
  sealedAt: Date
}>

/** Where seals are kept. */
export type SealStore = {
  /**
   * Hands the end of the chain and the rows after it to `seal` and stores what it makes, as one transaction. Only one
   * replica does so at a time; the others are told `busy` at once.
   *
   * @returns the stored seal, or undefined when there was nothing to seal
   */
  sealNext(
    limit: number,
    seal: (end: ChainEnd, rows: readonly ChainedRow[]) => Seal,
  ): Promise<Seal | 'busy' | undefined>
}

/** The key of the chain. */
export type ChainKey = Readonly<{ keyNo: number; key: KeyObject }>

/** Chains the audit log, apart from the requests that write it. */
export type Sealer = {
  /** Seals everything there is; returns the number of rows. Several at once share one pass. */
  sealNow(): Promise<number>
  /** Seals every second from now on. */
  start(): void
  /** Seals what is left and stops. */
  stop(): Promise<void>
}

const BATCH = 1_000
/** A row is sealed a second after it was committed; five, should a pass take that long. */
const INTERVAL_MS = 1_000
const REPORT_MS = 60_000

/** The end of a chain that has not begun. */
export const NO_SEAL: ChainEnd = { sealNo: 0, code: CHAIN_START, position: 0, gaps: [] }

/**
 * Creates the sealer.
 *
 * @param deps `onPass` is told of every pass, and at most once a minute where the chain ends now: logged elsewhere,
 *   that is what a thief of the database and of the keyring cannot change; `onError` gets a failed pass, which is tried
 *   again a second later
 */
export function createSealer(deps: {
  store: SealStore
  chainKey: () => Promise<ChainKey>
  clock: Clock
  onPass: (end: { sealNo: number; code: string } | undefined) => void
  onError: (error: unknown) => void
}): Sealer {
  const { store, clock } = deps
  let timer: NodeJS.Timeout | undefined
  let pass: Promise<number> | undefined
  let stopped = false
  let end: { sealNo: number; code: string } | undefined
  let reportedAt = 0

  async function sealAll(): Promise<number> {
    const key = await deps.chainKey()
    for (let total = 0; ; ) {
      const seal = await store.sealNext(BATCH, (end, rows) => makeSeal(end, rows, key, clock.now()))
      if (seal === undefined || seal === 'busy') {
        report()
        return total
      }
      total += seal.seqs.length
      end = { sealNo: seal.sealNo, code: seal.codes.at(-1)?.toString('hex') ?? '' }
    }
  }

  function report(): void {
    const due = stopped || clock.now() - reportedAt >= REPORT_MS
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

  function schedule(): void {
    if (stopped) return
    timer = setTimeout(() => {
      sealNow().catch(deps.onError).finally(schedule)
    }, INTERVAL_MS)
  }

  return {
    sealNow,
    start: schedule,
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      // A pass under way may have read before the last request was answered: one more.
      await pass?.catch(deps.onError)
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
