import { createVerifyKey, type VerifyKey } from '@vault-and-tracker/http-signatures'
import { createLookupCache } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { PROJECT_NAME } from '../access/names.ts'
import type { Scope } from '../access/project-caller.ts'
import { type AuthenticRows, fingerprintOf, type SealedProject } from '../integrity/rows.ts'
import { isExpired } from './project-keys.ts'

/** A project with the keys that its signatures are verified with. */
export type SigningProject = {
  readonly uid: string
  readonly name: string
  readonly requireContentDigest: boolean
  /** Every statement for a caller compares it with the stored one. */
  readonly generation: number
  readonly keys: readonly { id: string; fingerprint: string; key: VerifyKey; notAfter: Date | null; scope: Scope }[]
}

/** Every statement for a caller compares it with the stored project, so a cached one may be old. */
const PRESENT_TTL_MS = 60_000
/** A project that another replica creates is unknown here for up to a second. */
const ABSENT_TTL_MS = 1_000
const MAX_CACHED = 10_000

/** A cache of signing projects. */
export type SigningProjects = ReturnType<typeof createSigningProjects>

/** Caches projects and their keys, so that a signed fetch needs only its own query. */
export function createSigningProjects(deps: {
  store: { find(name: string): Promise<SealedProject | undefined> }
  rows: Pick<AuthenticRows, 'openProject'>
  clock: Clock
}) {
  const { store, rows, clock } = deps

  async function load(name: string): Promise<SigningProject | undefined> {
    const sealed = PROJECT_NAME.test(name) ? await store.find(name) : undefined
    if (sealed === undefined) return undefined
    const { uid, requireContentDigest, generation, keys } = rows.openProject(sealed)
    const now = new Date(clock.now())
    return {
      ...{ uid, name: sealed.name, requireContentDigest, generation },
      keys: keys
        .filter((key) => !isExpired(key, now))
        .map(({ id, publicKey, notAfter, scope }) => ({
          ...{ id, notAfter, scope, fingerprint: fingerprintOf(publicKey) },
          key: createVerifyKey(publicKey),
        })),
    }
  }

  const cache = createLookupCache<string, SigningProject>({
    load,
    clock,
    maxValues: MAX_CACHED,
    maxAbsences: MAX_CACHED,
    valueTtlMs: PRESENT_TTL_MS,
    absenceTtlMs: ABSENT_TTL_MS,
    serveStale: false,
  })

  return {
    /** Returns a project, undefined if it does not exist. */
    find: async (name: string): Promise<SigningProject | undefined> => cache.get(name),

    /** Reads a project from the database instead of the cache. */
    findFresh: (name: string): Promise<SigningProject | undefined> => cache.reload(name),

    /** Drops a project that this process changed. */
    forget: (name: string): void => cache.forget(name),
  }
}
