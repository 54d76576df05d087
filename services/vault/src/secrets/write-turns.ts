import { createTurns, type InTurn } from '@vault-and-tracker/service-kit/turns'
import { apiError } from '../errors.ts'

/** Runs writes of one owner one after another. @throws ApiError unavailable when too many wait already */
export type WriteTurns = <T>(owner: string, work: () => Promise<T>) => Promise<T>

/** Far more than one application writes at once, and a second or two of work. */
const MOST_OF_AN_OWNER = 100
const MOST_OF_ALL = 1_000

/**
 * Lets the writes of one project take turns in this process. In the database they wait for each other anyway, and each
 * of them would hold a connection meanwhile: those of one project would take them all.
 */
export function createWriteTurns(): WriteTurns {
  const owners = new Map<string, { readonly inTurn: InTurn; writes: number }>()
  let all = 0
  return async (owner, work) => {
    const own = owners.get(owner) ?? { inTurn: createTurns(1), writes: 0 }
    if (own.writes >= MOST_OF_AN_OWNER || all >= MOST_OF_ALL)
      throw apiError('unavailable', 'Too many writes at once. Try again in a moment.')
    owners.set(owner, own)
    own.writes += 1
    all += 1
    try {
      return await own.inTurn(work)
    } finally {
      all -= 1
      own.writes -= 1
      if (own.writes === 0) owners.delete(owner)
    }
  }
}
