import type { Clock } from '@vault-and-tracker/service-kit/clock'
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
 * Keeps registrations so that a fetch needs no query but its own. At most 10,000, the longest unused goes first; names
 * that are unknown have a place of their own, so that a stranger who tries many pushes nobody out. Simultaneous reads
 * of one project share one query.
 */
export function createRegistrations(deps: {
  read: (name: string) => Promise<Registration | undefined>
  clock: Clock
}): Registrations {
  const { clock } = deps
  const kept = new Map<string, { registration: Registration; until: number }>()
  const unknown = new Map<string, number>()
  const reading = new Map<string, Promise<Registration | undefined>>()
  let changes = 0

  async function read(name: string): Promise<Registration | undefined> {
    const before = changes
    const registration = await deps.read(name)
    // What was changed here meanwhile may not be what was read.
    if (changes !== before) return registration
    drop(name)
    if (registration === undefined) put(unknown, name, clock.now() + UNKNOWN_MS)
    else put(kept, name, { registration, until: clock.now() + KNOWN_MS })
    return registration
  }

  function drop(name: string): void {
    kept.delete(name)
    unknown.delete(name)
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
      if ((unknown.get(name) ?? 0) > clock.now()) return undefined
      const entry = kept.get(name)
      if (entry === undefined || entry.until <= clock.now()) return joinOrStart(name)
      // The most recently used stand last.
      kept.delete(name)
      kept.set(name, entry)
      return entry.registration
    },

    forget: (name) => {
      changes++
      drop(name)
      reading.delete(name)
    },
  }
}

function put<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.set(name, value)
  if (map.size > MAX_KEPT) map.delete(map.keys().next().value ?? '')
}
