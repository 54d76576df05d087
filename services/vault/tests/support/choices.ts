import { randomFrom } from '@vault-and-tracker/dev-env'

/** Random choices that a seed repeats. */
export class Choices {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = randomFrom(seed)
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
