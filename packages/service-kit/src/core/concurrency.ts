import { setTimeout as sleep } from 'node:timers/promises'

/** Runs work when it is its turn. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Runs a limited number of tasks at once; others wait in the order of their arrival.
 *
 * @param limit `refuse` creates the error for further tasks when `mostWaiting` already wait; by default, any number can wait
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
      // The next task takes over the slot, so that a new one cannot come in between.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

/** Resolves with the value of a promise, or with `otherwise` if that takes longer. */
export async function within<Value, Otherwise>(
  ms: number,
  promise: Promise<Value>,
  otherwise: Otherwise,
): Promise<Value | Otherwise> {
  const done = new AbortController()
  try {
    return await Promise.race([promise, sleep(ms, otherwise, { signal: done.signal }).catch(() => otherwise)])
  } finally {
    done.abort()
  }
}
