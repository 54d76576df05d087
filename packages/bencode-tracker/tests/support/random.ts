/** A small seedable generator (mulberry32), so that a failing fuzz run can be repeated from its seed. */
export type Random = {
  /** An integer from 0 to `below` - 1. */
  below(below: number): number
  bytes(length: number): Buffer
  pick<T>(items: readonly [T, ...T[]]): T
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }
  const below = (limit: number): number => next() % limit
  return {
    below,
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
    pick: ([first, ...others]) => others.reduce((chosen, item, i) => (below(i + 2) === 0 ? item : chosen), first),
  }
}

/** The seed of this run: `FUZZ_SEED` repeats one. */
export const FUZZ_SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 32)
