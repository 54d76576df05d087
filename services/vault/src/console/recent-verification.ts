import type { KeyObject } from 'node:crypto'
import { CHAIN_START, sealCode } from '../audit/chain.ts'
import {
  type Broken,
  broken,
  checkSeal,
  findForged,
  pruned,
  type StoredSeal,
  type VerificationStore,
} from '../audit/verification.ts'
import { isCode } from '../keyring/row-codes.ts'

/** The reads of the check of the newest entries. */
export type RecentStore = Pick<VerificationStore, 'seals' | 'rows' | 'prunings' | 'chainEnd'> & {
  /** The first rows with a number after `first` and up to `last`, whether they are sealed or not. */
  rowsBetween(first: number, last: number, limit: number): Promise<readonly { seq: number; id: string }[]>
}

/** What the newest entries were found to be; `since` is when the oldest of them was requested. */
export type RecentVerdict =
  | { readonly intact: true; readonly rows: number; readonly sealNo: number; readonly since: Date | null }
  | Broken

/** The bounds of a check: what it reads at most, whatever the size of the log. */
export type Bounds = { readonly rows: number; readonly seals: number }

const BOUNDS: Bounds = { rows: 10_000, seals: 500 }
const BATCH = 50

/** Entries that became visible late, and wait for a seal. */
const MOST_LATE = 1_000

/**
 * Checks the newest seals against their rows: each row is what was sealed, none is missing, and none was added between
 * them. It takes the code before the first of these seals as given; `audit verify` checks the whole log.
 */
export function createRecentVerification(deps: {
  store: RecentStore
  chainKey: () => Promise<KeyObject>
  bounds?: Bounds
}) {
  const { store, chainKey, bounds = BOUNDS } = deps
  let running: Promise<RecentVerdict> | undefined

  async function verify(): Promise<RecentVerdict> {
    const key = await chainKey()
    const end = await store.chainEnd()
    const { anchor, seals } = await newestSeals(store, end.sealNo, bounds)
    const prunings = await store.prunings()
    const forged = findForged(prunings, key)
    if (forged !== undefined) return forged
    const isPruned = pruned(prunings)
    if (anchor !== undefined && anchor.mac !== null && !isCode(sealCode(key, anchor), anchor.mac))
      return broken(`seal ${anchor.sealNo} was changed, or not made by the vault`)
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
    const isLate = (seq: number) => end.gaps.some(([from, to]) => seq >= from && seq <= to)
    const there = await store.rowsBetween(first, last, sealed.size + MOST_LATE)
    const added = there.find(({ seq }) => !sealed.has(seq) && !isLate(seq))
    if (added !== undefined) return broken(`row ${added.seq} (${added.id}) was added without a seal`, added)
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

/** The check of the newest entries. */
export type RecentVerification = ReturnType<typeof createRecentVerification>

/** The seals to check, oldest first, and the one before them; it is undefined where the first seal of all is among them. */
async function newestSeals(store: RecentStore, endNo: number, bounds: Bounds) {
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
  // What is before the first of those that were read is known where they go back to the beginning.
  const start = first === 0 && after > 0 ? 1 : first
  return { anchor: newest[start - 1], seals: newest.slice(start) }
}

/** From which of these seals on there are enough: a batch of a busy vault has more rows than are checked. */
function firstToCheck(seals: readonly StoredSeal[], bounds: Bounds): number {
  let first = seals.length
  let rows = 0
  while (first > 0 && rows < bounds.rows && seals.length - first < bounds.seals) {
    first -= 1
    rows += seals[first]?.seqs.length ?? 0
  }
  return first
}
