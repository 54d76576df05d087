import { createHmac, type KeyObject } from 'node:crypto'
import { encodeColumns } from '../keyring/row-codes.ts'

/** An audit row with its columns as Postgres prints them, so that no precision is lost in JavaScript types. */
export type ChainedRow = {
  readonly seq: number
  readonly id: string
  readonly projectUid: string | null
  readonly projectId: string
  readonly action: string
  readonly env: string | null
  /** UTC, with microseconds. */
  readonly requestedAt: string
  readonly address: string
  readonly detail: string | null
  /** Null in rows of releases that did not record it; these are chained without it. */
  readonly actor: string | null
}

/** A code is a message authentication code: the first row is chained to this one. */
export const CHAIN_START: Buffer = Buffer.alloc(32)

/** The length of a code in bytes. */
export const CODE_LENGTH = 32

/**
 * The code of a row: HMAC-SHA-256 (RFC 2104) over the code of the previous row and every column of this one. Without
 * the key, a row that is changed, removed, added or moved breaks the chain at that row.
 */
export function chainCode(key: KeyObject, previous: Uint8Array, row: ChainedRow): Buffer {
  const { seq, id, projectUid, projectId, action, env, requestedAt, address, detail, actor } = row
  const columns = encodeColumns([
    ...[String(seq), id, projectUid, projectId, action, env, requestedAt, address, detail],
    ...(actor === null ? [] : [actor]),
  ])
  return createHmac('sha256', key).update('vault/audit-chain/1').update(previous).update(columns).digest()
}

/** A batch of rows with their codes. `position` is the highest number that the sealer had read. */
export type SealedBatch = {
  readonly sealNo: number
  readonly keyNo: number
  readonly seqs: readonly number[]
  readonly codes: readonly Buffer[]
  readonly position: number
  readonly gaps: readonly Gap[]
}

/**
 * The code of a seal, HMAC-SHA-256: proves that the seal was made with the keyring, also when its rows have been dropped.
 * The numbers of its rows are in their codes.
 */
export function sealCode(key: KeyObject, { sealNo, keyNo, codes, position, gaps }: Omit<SealedBatch, 'seqs'>): Buffer {
  const code = createHmac('sha256', key).update('vault/audit-seal/1')
  code.update(JSON.stringify([sealNo, keyNo, position, gaps]))
  for (const each of codes) code.update(each)
  return code.digest()
}

/** Where the chain ends: the last code, and what is left of the numbers before `position`. */
export type ChainEnd = Pick<SealedBatch, 'sealNo' | 'position' | 'gaps'> & { readonly code: Buffer }

/** The end of an empty chain. */
export const NO_SEAL: ChainEnd = { sealNo: 0, code: CHAIN_START, position: 0, gaps: [] }

/** A month that was dropped on purpose: the numbers of its first and last row, and the count of its rows. */
export type Pruning = {
  readonly month: string
  readonly first: number | null
  readonly last: number | null
  readonly rows: number
}

/** The code of the record of a dropped month, HMAC-SHA-256: proves that the record was made with the keyring. */
export function pruningCode(key: KeyObject, { month, first, last, rows }: Pruning): Buffer {
  return createHmac('sha256', key)
    .update('vault/audit-pruning/1')
    .update(JSON.stringify([month, first, last, rows]))
    .digest()
}

/**
 * Numbers whose rows were not visible when the sealer passed them. `noticed` is in milliseconds since the Unix epoch.
 */
export type Gap = readonly [first: number, last: number, noticed: number]

/** A row can become visible late, when its transaction takes long. After ten minutes Postgres has ended every one. */
export const GAP_TIMEOUT_MS = 600_000

/**
 * The gaps after a batch: the known ones and the new ones between the old and the new position, without the numbers of
 * the batch and without gaps that have timed out.
 *
 * @param seqs the numbers of the batch, in any order
 */
export function gapsAfter(
  known: readonly Gap[],
  position: number,
  seqs: readonly number[],
  now: number,
): { position: number; gaps: readonly Gap[] } {
  const end = seqs.reduce((highest, seq) => Math.max(highest, seq), position)
  const open = known.filter(([, , noticed]) => now - noticed < GAP_TIMEOUT_MS)
  const missing: readonly Gap[] = end > position ? [...open, [position + 1, end, now]] : open
  return { position: end, gaps: without(missing, seqs) }
}

function without(gaps: readonly Gap[], seqs: readonly number[]): readonly Gap[] {
  const sorted = seqs.toSorted((a, b) => a - b)
  return gaps.flatMap(([first, last, noticed]) => {
    const left: Gap[] = []
    let from = first
    for (const seq of sorted) {
      if (seq < from || seq > last) continue
      if (seq > from) left.push([from, seq - 1, noticed])
      from = seq + 1
    }
    if (from <= last) left.push([from, last, noticed])
    return left
  })
}
