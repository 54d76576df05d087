import { createLookupCache } from '@vault-and-tracker/service-kit/cache'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Registration } from '../projects/projects.ts'

/** What signatures are checked against, cached for a short time. */
export type Registrations = {
  /** The project's registration, undefined when there is none. `fresh` reads it from the database now. */
  find(name: string, fresh: boolean): Promise<Registration | undefined>
  /** Drops what is cached of a project that was changed by this process. */
  forget(name: string): void
}

/** Whoever acts on a cached registration confirms it in their own statement, so it may be cached for long. */
const PRESENT_TTL_MS = 60_000
/** Nobody confirms an absence: a project created through another replica is unknown here for a second at most. */
const ABSENT_TTL_MS = 1_000
const MAX_CACHED = 10_000

/** Caches registrations, so that a signed fetch needs no query but its own. */
export function createRegistrations(deps: {
  read: (name: string) => Promise<Registration | undefined>
  clock: Clock
}): Registrations {
  const cache = createLookupCache<string, Registration>({
    load: deps.read,
    clock: deps.clock,
    maxValues: MAX_CACHED,
    maxAbsences: MAX_CACHED,
    valueTtlMs: PRESENT_TTL_MS,
    absenceTtlMs: ABSENT_TTL_MS,
    serveStale: false,
  })
  return {
    find: async (name, fresh) => (fresh ? cache.reload(name) : cache.get(name)),
    forget: (name) => cache.forget(name),
  }
}
