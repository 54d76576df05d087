import type { Clock } from 'service-kit/clock'
import type { Registration } from '../projects/projects.ts'

/** What signatures are checked against, kept for a short while. */
export type Registrations = {
  /** The project's registration, undefined when there is none. `fresh` has it read from the database now. */
  find(name: string, fresh: boolean): Promise<Registration | undefined>
  /** Drops what is known of a project that was changed here. */
  forget(name: string): void
}

/** Whoever acts on a kept registration confirms it in his own statement, so it may be kept for long. */
const KNOWN_MS = 60_000
/** Nobody confirms an absence: a project created through another replica is unknown here for a second at most. */
const UNKNOWN_MS = 1_000
const MAX_KEPT = 10_000

/**
 * Keeps registrations so that a fetch needs no query but its own. At most 10,000, the longest unused goes first;
 * simultaneous reads of one project share one query.
 */
export function createRegistrations(deps: {
  read: (name: string) => Promise<Registration | undefined>
  clock: Clock
}): Registrations {
  const kept = new Map<string, { registration: Registration | undefined; until: number }>()
  const reading = new Map<string, Promise<Registration | undefined>>()

  async function read(name: string): Promise<Registration | undefined> {
    const registration = await deps.read(name)
    kept.delete(name)
    kept.set(name, { registration, until: deps.clock.now() + (registration ? KNOWN_MS : UNKNOWN_MS) })
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value ?? '')
    return registration
  }

  /** Joins a read under way. Such a read may have begun before a change that the caller knows of. */
  function joinOrStart(name: string): Promise<Registration | undefined> {
    const underWay = reading.get(name)
    if (underWay !== undefined) return underWay
    const promise = read(name).finally(() => {
      if (reading.get(name) === promise) reading.delete(name)
    })
    reading.set(name, promise)
    return promise
  }

  return {
    find: async (name, fresh) => {
      if (fresh) return read(name)
      const entry = kept.get(name)
      if (entry === undefined || entry.until <= deps.clock.now()) return joinOrStart(name)
      // The most recently used stand last.
      kept.delete(name)
      kept.set(name, entry)
      return entry.registration
    },

    forget: (name) => {
      kept.delete(name)
      reading.delete(name)
    },
  }
}
