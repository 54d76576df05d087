import { createHmac, type KeyObject } from 'node:crypto'

/** An audit row in the very text forms that Postgres prints, so that nothing is lost on the way through JavaScript. */
export type ChainedRow = Readonly<{
  seq: number
  id: string
  projectUid: string | null
  projectId: string
  action: string
  env: string | null
  /** UTC with microseconds. */
  requestedAt: string
  ip: string
  detail: string | null
}>

/** The code of the row before the first. */
export const CHAIN_START: Buffer = Buffer.alloc(32)

/** The length of a code in bytes. */
export const CODE_LENGTH = 32

/**
 * The code of a row: HMAC-SHA-256 over the code of the row before and every column of this one. Whoever changes,
 * removes, adds or moves a row without the key breaks the chain at that row.
 */
export function chainCode(key: KeyObject, previous: Uint8Array, row: ChainedRow): Buffer {
  const { seq, id, projectUid, projectId, action, env, requestedAt, ip, detail } = row
  // With its length in front, and null apart from the empty text, no two rows have the same bytes.
  const columns = [String(seq), id, projectUid, projectId, action, env, requestedAt, ip, detail]
    .map((column) => (column === null ? '-;' : `${String(Buffer.byteLength(column))}:${column}`))
    .join('')
  return createHmac('sha256', key).update('vault/audit-chain/1').update(previous).update(columns).digest()
}

/** A month that was dropped on purpose: the numbers of its first and last row, and how many rows it had. */
export type Pruning = Readonly<{ month: string; first: number | null; last: number | null; rows: number }>

/** What shows that a month was dropped by somebody who has the keyring: HMAC-SHA-256 over what went. */
export function pruningCode(key: KeyObject, { month, first, last, rows }: Pruning): Buffer {
  return createHmac('sha256', key)
    .update('vault/audit-pruning/1')
    .update(JSON.stringify([month, first, last, rows]))
    .digest()
}

/** Numbers of rows that were not there when the sealer passed: `[first, last, noticed]`, the last in milliseconds. */
export type Gap = readonly [first: number, last: number, noticed: number]

/** Rows may turn up late, when their transaction took long; one that takes ten minutes was ended by Postgres. */
export const GAP_PATIENCE_MS = 600_000

/**
 * The gaps after a batch: those there were, and between the position and its new end, without the numbers that turned
 * up; gaps that nobody will fill any more are dropped.
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
  const open = known.filter(([, , noticed]) => now - noticed < GAP_PATIENCE_MS)
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
