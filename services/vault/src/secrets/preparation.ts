import { apiError } from '../errors.ts'

/** Lets work have its turn that takes memory. @throws ApiError unavailable when too much waits already */
export type Preparation = <T>(owner: string, bytes: number, work: () => Promise<T>) => Promise<T>

/** More environments than a project has by default. */
const MOST_OF_AN_OWNER = 200
const MOST_OF_ALL = 2_000

type Turn = { readonly bytes: number; readonly start: () => void }

/**
 * Bounds the bytes that are worked on at a time. Owners have their turns one after another, each with what it asked for
 * first, so that one that asks for a lot waits for itself.
 *
 * @param maxBytes more than that is worked on only alone
 */
export function createPreparation(maxBytes: number): Preparation {
  /** In the order in which owners have their next turn. */
  const waiting = new Map<string, Turn[]>()
  let count = 0
  let bytesNow = 0

  function startNext(): void {
    for (const [owner, turns] of waiting) {
      const [turn] = turns
      if (turn === undefined || (bytesNow > 0 && bytesNow + turn.bytes > maxBytes)) return
      turns.shift()
      waiting.delete(owner)
      if (turns.length > 0) waiting.set(owner, turns)
      count -= 1
      bytesNow += turn.bytes
      turn.start()
    }
  }

  return async (owner, bytes, work) => {
    const turns = waiting.get(owner) ?? []
    if (turns.length >= MOST_OF_AN_OWNER || count >= MOST_OF_ALL)
      throw apiError('unavailable', 'Too many large environments are fetched at once. Try again in a moment.')
    count += 1
    waiting.set(owner, turns)
    await new Promise<void>((resolve) => {
      turns.push({ bytes, start: resolve })
      startNext()
    })
    try {
      return await work()
    } finally {
      bytesNow -= bytes
      startNext()
    }
  }
}
