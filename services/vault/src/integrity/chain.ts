import { createHmac, type KeyObject } from 'node:crypto'
import { encodeColumns } from '../keyring/envelope.ts'

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

/** Numbers whose rows were not visible when the sealer passed them; `noticed` in milliseconds since the Unix epoch. */
export type Gap = readonly [first: number, last: number, noticed: number]

/** A batch of rows with their codes. `position` is the highest number that the sealer had read. */
export type SealedBatch = {
  readonly sealNo: number
  readonly keyNo: number
  readonly seqs: readonly number[]
  readonly codes: readonly Buffer[]
  readonly position: number
  readonly gaps: readonly Gap[]
}

/** A stored seal. `mac` is its own code, which an earlier release did not store. */
export type StoredSeal = SealedBatch & { readonly mac: Buffer | null }

/** The end of the chain: its last code, and the gaps that are still open before `position`. */
export type ChainEnd = Pick<SealedBatch, 'sealNo' | 'position' | 'gaps'> & { readonly code: Buffer }

/** A month that was dropped on purpose: the numbers of its first and last row, and how many rows it had. */
export type Pruning = {
  readonly month: string
  readonly first: number | null
  readonly last: number | null
  readonly rows: number
}

/** The length of a code in bytes. */
export const CODE_LENGTH = 32

/** The first row is chained to this code. */
export const CHAIN_START: Buffer = Buffer.alloc(CODE_LENGTH)

/** The end of an empty chain. */
export const EMPTY_CHAIN: ChainEnd = { sealNo: 0, code: CHAIN_START, position: 0, gaps: [] }

/**
 * The code of a row: HMAC-SHA-256 (RFC 2104) of the previous row's code and all columns of this row. Without the key, a
 * row that is changed, removed, added or moved breaks the chain at that row.
 */
export function chainCode(key: KeyObject, previous: Uint8Array, row: ChainedRow): Buffer {
  const { seq, id, projectUid, projectId, action, env, requestedAt, address, detail, actor } = row
  const columns = encodeColumns([
    ...[String(seq), id, projectUid, projectId, action, env, requestedAt, address, detail],
    ...(actor === null ? [] : [actor]),
  ])
  return createHmac('sha256', key).update('vault/audit-chain/1').update(previous).update(columns).digest()
}

/**
 * The code of a seal proves that it was created with the keyring, even after its rows have been dropped. The codes of the
 * rows cover their numbers.
 */
export function sealCode(key: KeyObject, { sealNo, keyNo, codes, position, gaps }: Omit<SealedBatch, 'seqs'>): Buffer {
  const code = createHmac('sha256', key).update('vault/audit-seal/1')
  code.update(JSON.stringify([sealNo, keyNo, position, gaps]))
  for (const each of codes) code.update(each)
  return code.digest()
}

/** The code of the record of a dropped month. */
export function pruningCode(key: KeyObject, { month, first, last, rows }: Pruning): Buffer {
  return createHmac('sha256', key)
    .update('vault/audit-pruning/1')
    .update(JSON.stringify([month, first, last, rows]))
    .digest()
}

/** A row becomes visible late if its transaction takes long. Postgres ends every transaction within ten minutes. */
export const GAP_TIMEOUT_MS = 600_000

/**
 * Returns the gaps after a batch: known and new ones without the numbers of the batch, and without gaps that timed out.
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
