/** mulberry32: small, seedable, good enough to choose mutations with. */
function randomSource(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Random choices that a seed repeats. */
export class Choices {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = randomSource(seed)
  }

  below(n: number): number {
    return Math.floor(this.#random() * n)
  }

  of<T>(list: readonly T[]): T {
    const chosen = list[this.below(list.length)]
    if (chosen === undefined) throw new Error('nothing to choose from')
    return chosen
  }
}
