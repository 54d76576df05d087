/**
 * Asks for a piece of the thread. The piece may run at once when undefined is returned, else when the promise resolves.
 */
export type ThreadTurns = (cost: number) => Promise<void> | undefined

/**
 * Lets work of many requests share the thread in pieces: those of one turn of the event loop cost no more than `budget`,
 * and one piece. The others wait, the first one first, while whatever else has arrived is served.
 */
export function createThreadTurns(budget: number): ThreadTurns {
  const waiting: { readonly cost: number; readonly start: () => void }[] = []
  let left = budget
  let isScheduled = false

  function nextTurn(): void {
    left = budget
    isScheduled = false
    while (left > 0) {
      const next = waiting.shift()
      if (next === undefined) return
      schedule()
      left -= next.cost
      next.start()
    }
  }

  function schedule(): void {
    if (!isScheduled) setImmediate(nextTurn)
    isScheduled = true
  }

  return (cost) => {
    schedule()
    if (waiting.length === 0 && left > 0) {
      left -= cost
      return undefined
    }
    return new Promise((resolve) => waiting.push({ cost, start: resolve }))
  }
}
