import type { KeyObject } from 'node:crypto'
import { isCode } from '../keyring/row-codes.ts'
import {
  CHAIN_START,
  type ChainEnd,
  type ChainedRow,
  chainCode,
  type Pruning,
  pruningCode,
  type SealedBatch,
  sealCode,
} from './chain.ts'

/** A seal as it is stored. An earlier release gave it no code of its own. */
export type StoredSeal = SealedBatch & { readonly mac: Buffer | null }

/** The record of a dropped month as it is stored. */
export type StoredPruning = Pruning & { readonly code: Buffer }

/** The reads of a verification. */
export type VerificationStore = {
  seals(after: number, limit: number): Promise<readonly StoredSeal[]>
  /** The rows with these numbers, and one more if a number occurs twice. */
  rows(seqs: readonly number[]): Promise<readonly ChainedRow[]>
  /** The records of dropped months. */
  prunings(): Promise<readonly StoredPruning[]>
  /** The count of rows with a number up to this one. */
  countUpTo(position: number): Promise<number>
  /** The count of rows with a greater number. */
  countAfter(position: number): Promise<number>
  /** The first rows with a number up to this one that are in no seal. */
  unsealed(position: number, limit: number): Promise<readonly { seq: number; id: string }[]>
  chainEnd(): Promise<ChainEnd>
}

/** The result of a verification. */
export type Verdict =
  | {
      readonly intact: true
      readonly rows: number
      readonly pruned: number
      readonly unsealed: number
      readonly sealNo: number
      readonly code: string
    }
  | { readonly intact: false; readonly problem: string; readonly seq?: number; readonly id?: string }

/**
 * Recomputes the whole chain and names the first row that does not match it.
 *
 * @param deps `key` is that of the chain
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
        return broken(`seal ${seal.sealNo} is not the one that was noted`)
    }
  }
  if (expected !== undefined && expected.sealNo > reached.sealNo)
    return broken(`seal ${expected.sealNo} was noted, and the chain ends with seal ${reached.sealNo}`)
  const dropped = prunings.reduce((sum, { rows }) => sum + rows, 0)
  if (reached.pruned !== dropped)
    return broken(`${String(reached.pruned)} rows are missing, and ${String(dropped)} were pruned`)
  return checkUnsealedRows(store, reached)
}

/** The verdict of a log that does not match its chain. */
export type Broken = Extract<Verdict, { intact: false }>

/** The first record of a dropped month that was not made with the keyring. */
export function findForged(prunings: readonly StoredPruning[], key: KeyObject): Broken | undefined {
  for (const pruning of prunings)
    if (!pruningCode(key, pruning).equals(pruning.code))
      return broken(`the pruning of ${pruning.month} was changed, or was not made with the keyring`)
  return undefined
}

/** Whether the row with a number was dropped with its month. */
export function pruned(prunings: readonly StoredPruning[]): (seq: number) => boolean {
  return (seq) => prunings.some(({ first, last }) => first !== null && last !== null && seq >= first && seq <= last)
}

type Chain = {
  readonly store: Pick<VerificationStore, 'rows'>
  readonly key: KeyObject
  /** The seal before, and its last code. */
  readonly reached: { readonly sealNo: number; readonly code: Buffer }
  readonly isPruned: (seq: number) => boolean
}

/**
 * Recomputes the code of a seal and those of its rows. Numbers of seals may be missing where the codes follow: that of a
 * forged seal, after the operator deleted it.
 *
 * @returns the rows that are there and the last code, or what does not match
 */
export async function checkSeal(
  seal: StoredSeal,
  chain: Chain,
): Promise<{ rows: readonly ChainedRow[]; code: Buffer } | Broken> {
  const checked = await checkRows(seal, chain)
  const { sealNo, mac } = seal
  if (mac !== null && !isCode(sealCode(chain.key, seal), mac))
    return {
      ...('problem' in checked ? checked : {}),
      ...broken(`seal ${sealNo} was changed, or not made by the vault`),
    }
  const next = chain.reached.sealNo + 1
  return 'problem' in checked && sealNo > next ? broken(`seal ${next} is missing`) : checked
}

async function checkRows(
  seal: StoredSeal,
  chain: Chain,
): Promise<{ rows: readonly ChainedRow[]; code: Buffer } | Broken> {
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
      return broken(`row ${seq} (${row.id}) was changed, or its seal was`, { seq, id: row.id })
    reached = code
  }
  return { rows: found, code: reached }
}

type Reached = { sealNo: number; code: Buffer; position: number; rows: number; pruned: number }

/** Rows after the end of the chain wait for a seal. A row before it without a seal was inserted later. */
async function checkUnsealedRows(store: VerificationStore, reached: Reached): Promise<Verdict> {
  const { sealNo, position, rows, pruned } = reached
  if ((await store.countUpTo(position)) > rows) {
    const end = await store.chainEnd()
    const isLate = (seq: number) => end.gaps.some(([first, last]) => seq >= first && seq <= last)
    const row = (await store.unsealed(position, 1_000)).find(({ seq }) => !isLate(seq))
    if (end.sealNo === sealNo && row !== undefined)
      return broken(`row ${row.seq} (${row.id}) was added without a seal`, row)
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

/** What is wrong, and with which row. */
export function broken(problem: string, row?: { seq: number; id?: string }): Broken {
  return { intact: false, problem, ...(row && { seq: row.seq }), ...(row?.id !== undefined && { id: row.id }) }
}
