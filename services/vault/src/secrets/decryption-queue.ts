import { apiError } from '../errors.ts'

/** More than the environments of a project. */
const MAX_PER_OWNER = 200
const MAX_WAITING = 2_000

type Waiting = { readonly bytes: number; readonly start: () => void }

/**
 * Limits the bytes that are decrypted at a time. Owners take turns, so an owner with many environments only delays itself.
 *
 * @param maxBytes larger work runs alone
 */
export function createDecryptionQueue(maxBytes: number) {
  /** In the order of the owners' next turns. */
  const owners = new Map<string, Waiting[]>()
  let count = 0
  let runningBytes = 0

  function startNext(): void {
    for (const [owner, waiting] of owners) {
      const [next] = waiting
      if (next === undefined || (runningBytes > 0 && runningBytes + next.bytes > maxBytes)) return
      waiting.shift()
      owners.delete(owner)
      if (waiting.length > 0) owners.set(owner, waiting)
      count -= 1
      runningBytes += next.bytes
      next.start()
    }
  }

  /** Runs work in its turn. @throws ApiError unavailable if too much is waiting */
  return async <T>(owner: string, bytes: number, work: () => Promise<T>): Promise<T> => {
    const waiting = owners.get(owner) ?? []
    if (waiting.length >= MAX_PER_OWNER || count >= MAX_WAITING)
      throw apiError('unavailable', 'Too many large environments are being fetched. Try again in a moment.')
    count += 1
    owners.set(owner, waiting)
    await new Promise<void>((resolve) => {
      waiting.push({ bytes, start: resolve })
      startNext()
    })
    try {
      return await work()
    } finally {
      runningBytes -= bytes
      startNext()
    }
  }
}

/**
 * Shares the thread between requests in pieces: in one turn of the event loop, pieces start until they cost `budget`. The
 * others wait in order while further requests are served.
 *
 * @returns a function that requests a piece, which may run at once if it returns undefined
 */
export function createThreadTurns(budget: number): (cost: number) => Promise<void> | undefined {
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
