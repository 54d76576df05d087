/** Runs work when it is its turn. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Lets so many pieces of work run at once; others wait, the first one first.
 *
 * @param limit left out, so many wait as come; where `mostWaiting` wait already, work is refused with `refuse`'s error
 */
export function createTurns(atOnce: number, limit?: { mostWaiting: number; refuse: () => Error }): InTurn {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= atOnce) {
      if (limit !== undefined && waiting.length >= limit.mostWaiting) throw limit.refuse()
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running += 1
    try {
      return await work()
    } finally {
      // Whoever waits takes the place over, so that nobody comes in between.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
