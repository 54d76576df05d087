import { createLookupCache } from '@vault-and-tracker/service-kit/cache'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { SigningProject } from '../projects/projects.ts'

/** What signatures are verified against, cached for a short time. */
export type SigningProjects = {
  /** The project, undefined when there is none. `fresh` reads it from the database now. */
  find(name: string, fresh: boolean): Promise<SigningProject | undefined>
  /** Drops what is cached of a project that was changed by this process. */
  forget(name: string): void
}

/** Every statement for a caller compares them with the stored project, so a cached one may be old. */
const PRESENT_TTL_MS = 60_000
/** No statement checks an absence: a project created through another replica is unknown here for a second at most. */
const ABSENT_TTL_MS = 1_000
const MAX_CACHED = 10_000

/** Caches projects and their keys, so that a signed fetch needs no query but its own. */
export function createSigningProjects(deps: {
  read: (name: string) => Promise<SigningProject | undefined>
  clock: Clock
}): SigningProjects {
  const cache = createLookupCache<string, SigningProject>({
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
