import type { KeyObject } from 'node:crypto'
import {
  CHAIN_START,
  type ChainEnd,
  type ChainedRow,
  chainCode,
  type Pruning,
  pruningCode,
  type StoredSeal,
  sealCode,
} from './chain.ts'
import { isCode } from './rows.ts'

/** The stored record of a dropped month. */
export type StoredPruning = Pruning & { readonly code: Buffer }

type RowRef = { readonly seq: number; readonly id: string }

/** The reads of a verification. */
export type VerificationStore = {
  seals(after: number, limit: number): Promise<readonly StoredSeal[]>
  /** The rows with these numbers, and one more if a number occurs twice. */
  rows(seqs: readonly number[]): Promise<readonly ChainedRow[]>
  /** The records of dropped months. */
  prunings(): Promise<readonly StoredPruning[]>
  countUpTo(position: number): Promise<number>
  countAfter(position: number): Promise<number>
  /** The first rows up to a number that are in no seal. */
  unsealed(position: number, limit: number): Promise<readonly RowRef[]>
  /** The first rows after `first` up to `last`, sealed or not. */
  rowsBetween(first: number, last: number, limit: number): Promise<readonly RowRef[]>
  chainEnd(): Promise<ChainEnd>
}

/** A log that does not match its chain. */
export type Broken = { readonly intact: false; readonly problem: string; readonly seq?: number; readonly id?: string }

/** The result of a full verification. */
export type Verdict =
  | {
      readonly intact: true
      readonly rows: number
      readonly pruned: number
      readonly unsealed: number
      readonly sealNo: number
      readonly code: string
    }
  | Broken

/**
 * Recomputes the whole chain and reports the first row that does not match it.
 *
 * @param expected a seal that was logged earlier: the chain must still contain it
 */
export async function verifyAudit(
  deps: { store: VerificationStore; key: KeyObject },
  expected?: { sealNo: number; code: string },
): Promise<Verdict> {
  const { store, key } = deps
  const prunings = await store.prunings()
  const forged = findForged(prunings, key)
  if (forged !== undefined) return forged
  const isPruned = pruned(prunings)
  const reached: Reached = { sealNo: 0, code: CHAIN_START, position: 0, rows: 0, pruned: 0 }

  for (let seals = await store.seals(0, 50); seals.length > 0; seals = await store.seals(reached.sealNo, 50)) {
    for (const seal of seals) {
      const checked = await checkSeal(seal, { store, key, reached, isPruned })
      if ('problem' in checked) return checked
      reached.code = checked.code
      reached.rows += checked.rows.length
      reached.pruned += seal.seqs.length - checked.rows.length
      reached.sealNo = seal.sealNo
      reached.position = seal.position
      if (expected?.sealNo === seal.sealNo && expected.code !== reached.code.toString('hex'))
        return broken(`seal ${seal.sealNo} does not have the expected code`)
    }
  }
  if (expected !== undefined && expected.sealNo > reached.sealNo)
    return broken(`seal ${expected.sealNo} was expected, but the chain ends with seal ${reached.sealNo}`)
  const dropped = prunings.reduce((sum, { rows }) => sum + rows, 0)
  if (reached.pruned !== dropped)
    return broken(`${String(reached.pruned)} rows are missing, but ${String(dropped)} were pruned`)
  return checkUnsealedRows(store, reached)
}

type Reached = { sealNo: number; code: Buffer; position: number; rows: number; pruned: number }

/** Rows after the end of the chain wait for a seal. A row before it without a seal was inserted later. */
async function checkUnsealedRows(store: VerificationStore, reached: Reached): Promise<Verdict> {
  const { sealNo, position, rows, pruned } = reached
  if ((await store.countUpTo(position)) > rows) {
    const end = await store.chainEnd()
    const added = (await store.unsealed(position, 1_000)).find(({ seq }) => !isLate(end, seq))
    if (end.sealNo === sealNo && added !== undefined) return addedWithoutSeal(added)
  }
  return {
    intact: true,
    rows,
    pruned,
    unsealed: await store.countAfter(position),
    sealNo,
    code: reached.code.toString('hex'),
  }
}

/** The result of a check of the newest entries; `since` is when the oldest of them was requested. */
export type RecentVerdict =
  | { readonly intact: true; readonly rows: number; readonly sealNo: number; readonly since: Date | null }
  | Broken

/** The maximum number of entries that a check reads, regardless of the size of the log. */
export type Bounds = { readonly rows: number; readonly seals: number }

const BOUNDS: Bounds = { rows: 10_000, seals: 500 }
const BATCH = 50

/** How many entries that became visible late may wait for a seal. */
const MAX_LATE = 1_000

type RecentReads = Pick<VerificationStore, 'seals' | 'rows' | 'prunings' | 'chainEnd' | 'rowsBetween'>

/** The check of the newest entries. */
export type RecentVerification = ReturnType<typeof createRecentVerification>

/**
 * Checks the newest seals against their rows: no row was changed, removed or added between them. The code before the first
 * of these seals is taken as given; `verifyAudit` checks the whole log.
 */
export function createRecentVerification(deps: {
  store: RecentReads
  chainKeys: { readonly first: () => Promise<KeyObject> }
  bounds?: Bounds
}) {
  const { store, chainKeys, bounds = BOUNDS } = deps
  let running: Promise<RecentVerdict> | undefined

  async function verify(): Promise<RecentVerdict> {
    const key = await chainKeys.first()
    const end = await store.chainEnd()
    const { anchor, seals } = await newestSeals(store, end.sealNo, bounds)
    const prunings = await store.prunings()
    const forged = findForged(prunings, key)
    if (forged !== undefined) return forged
    const isPruned = pruned(prunings)
    if (anchor !== undefined && anchor.mac !== null && !isCode(sealCode(key, anchor), anchor.mac))
      return forgedSeal(anchor)
    let reached = { sealNo: anchor?.sealNo ?? 0, code: anchor?.codes.at(-1) ?? CHAIN_START, rows: 0 }
    let since: string | undefined
    const sealed = new Set<number>()
    for (const seal of seals) {
      const checked = await checkSeal(seal, { store, key, reached, isPruned })
      if ('problem' in checked) return checked
      since ??= checked.rows[0]?.requestedAt
      for (const seq of seal.seqs) sealed.add(seq)
      reached = { sealNo: seal.sealNo, code: checked.code, rows: reached.rows + checked.rows.length }
    }
    const [first, last] = [anchor?.position ?? 0, seals.at(-1)?.position ?? 0]
    const stored = await store.rowsBetween(first, last, sealed.size + MAX_LATE)
    const added = stored.find(({ seq }) => !sealed.has(seq) && !isLate(end, seq))
    if (added !== undefined) return addedWithoutSeal(added)
    const { rows, sealNo } = reached
    return { intact: true, rows, sealNo, since: since === undefined ? null : new Date(`${since}Z`) }
  }

  return {
    /** Checks the newest entries. Simultaneous calls share one check. */
    verify: (): Promise<RecentVerdict> => {
      running ??= verify().finally(() => {
        running = undefined
      })
      return running
    },
  }
}

/** Returns the seals to check, oldest first, and the seal before them unless they include the first of all. */
async function newestSeals(store: RecentReads, endNo: number, bounds: Bounds) {
  const newest: StoredSeal[] = []
  let after = endNo
  let rows = 0
  while (after > 0 && newest.length <= bounds.seals && rows < bounds.rows) {
    const before = after
    after = Math.max(0, before - BATCH)
    const batch = await store.seals(after, before - after)
    newest.unshift(...batch)
    rows += batch.reduce((sum, { seqs }) => sum + seqs.length, 0)
  }
  const first = firstToCheck(newest, bounds)
  // Unless the first seal of all was read, the oldest one read is the anchor.
  const start = first === 0 && after > 0 ? 1 : first
  return { anchor: newest[start - 1], seals: newest.slice(start) }
}

/** The index from which the seals fill the bounds. */
function firstToCheck(seals: readonly StoredSeal[], bounds: Bounds): number {
  let first = seals.length
  let rows = 0
  while (first > 0 && rows < bounds.rows && seals.length - first < bounds.seals) {
    first -= 1
    rows += seals[first]?.seqs.length ?? 0
  }
  return first
}

/** Whether the row with a number was dropped with its month. */
export function pruned(prunings: readonly StoredPruning[]): (seq: number) => boolean {
  return (seq) => prunings.some(({ first, last }) => first !== null && last !== null && seq >= first && seq <= last)
}

type Chain = {
  readonly store: Pick<VerificationStore, 'rows'>
  readonly key: KeyObject
  /** The previous seal and its last code. */
  readonly reached: { readonly sealNo: number; readonly code: Buffer }
  readonly isPruned: (seq: number) => boolean
}

type Checked = { readonly rows: readonly ChainedRow[]; readonly code: Buffer }

/**
 * Recomputes the codes of a seal and its rows. Numbers of seals may be missing if the codes match: those of forged seals
 * that the operator deleted.
 *
 * @returns the rows that exist and the last code, or the mismatch
 */
export async function checkSeal(seal: StoredSeal, chain: Chain): Promise<Checked | Broken> {
  const checked = await checkRows(seal, chain)
  if (seal.mac !== null && !isCode(sealCode(chain.key, seal), seal.mac))
    return { ...('problem' in checked ? checked : {}), ...forgedSeal(seal) }
  const next = chain.reached.sealNo + 1
  return 'problem' in checked && seal.sealNo > next ? broken(`seal ${next} is missing`) : checked
}

async function checkRows(seal: StoredSeal, chain: Chain): Promise<Checked | Broken> {
  const found = await chain.store.rows(seal.seqs)
  const rows = new Map(found.map((row) => [row.seq, row]))
  const duplicate = found.find((row) => rows.get(row.seq) !== row)
  if (duplicate !== undefined) return broken(`row ${duplicate.seq} (${duplicate.id}) occurs twice`, duplicate)
  let reached = chain.reached.code
  for (const [i, seq] of seal.seqs.entries()) {
    const code = seal.codes[i] ?? CHAIN_START
    const row = rows.get(seq)
    if (row === undefined && !chain.isPruned(seq)) return broken(`row ${seq} is missing`, { seq })
    if (row !== undefined && !chainCode(chain.key, reached, row).equals(code))
      return broken(`row ${seq} (${row.id}) was changed, or its seal was`, row)
    reached = code
  }
  return { rows: found, code: reached }
}

/** The first record of a dropped month that was not created with the keyring. */
function findForged(prunings: readonly StoredPruning[], key: KeyObject): Broken | undefined {
  const forged = prunings.find((pruning) => !pruningCode(key, pruning).equals(pruning.code))
  return forged && broken(`the pruning of ${forged.month} was changed, or was not created with the keyring`)
}

function forgedSeal({ sealNo }: StoredSeal): Broken {
  return broken(`seal ${sealNo} was changed, or was not created by the vault`)
}

function addedWithoutSeal(row: RowRef): Broken {
  return broken(`row ${row.seq} (${row.id}) was added without a seal`, row)
}

/** Whether a row may still be waiting for its seal because it became visible late. */
function isLate({ gaps }: ChainEnd, seq: number): boolean {
  return gaps.some(([first, last]) => seq >= first && seq <= last)
}

function broken(problem: string, row?: { seq: number; id?: string }): Broken {
  return { intact: false, problem, ...(row && { seq: row.seq }), ...(row?.id !== undefined && { id: row.id }) }
}
