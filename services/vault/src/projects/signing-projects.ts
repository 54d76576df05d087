import { createVerifyKey, publicKeyToHex, type VerifyKey } from '@vault-and-tracker/http-signatures'
import { createLookupCache } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { PROJECT_NAME } from '../access/names.ts'
import { type AuthenticRows, fingerprintOf, type ProjectKey, type SealedProject } from '../integrity/rows.ts'
import { isRemembered } from './project-keys.ts'

/** A project with the keys that its signatures are verified with. */
export type SigningProject = {
  readonly uid: string
  readonly name: string
  readonly requireContentDigest: boolean
  /** Every statement for a caller compares it with the stored one. */
  readonly generation: number
  /** By public key in hex: valid ones, and those that ended at most 30 days ago. */
  readonly keys: ReadonlyMap<string, SigningKey>
}

/** A key that signatures are verified with. */
export type SigningKey = Pick<ProjectKey, 'id' | 'name' | 'notAfter' | 'scope'> & {
  /** Imported when it is first used, because a project has up to hundreds of keys. */
  readonly verifyKey: () => VerifyKey
  readonly fingerprint: () => string
}

/** Every statement for a caller compares it with the stored project, so a cached one may be old. */
const PRESENT_TTL_MS = 60_000
/** A project that another replica creates is unknown here for up to a second. */
const ABSENT_TTL_MS = 1_000
/** Keys of projects, and names without a project. */
const MAX_CACHED = 20_000

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
      keys: new Map(
        keys.filter((key) => isRemembered(key, now)).map((key) => [publicKeyToHex(key.publicKey), signingKey(key)]),
      ),
    }
  }

  const cache = createLookupCache<string, SigningProject>({
    load,
    clock,
    maxValues: MAX_CACHED,
    sizeOf: ({ keys }) => Math.max(1, keys.size),
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

function signingKey({ id, name, publicKey, notAfter, scope }: ProjectKey): SigningKey {
  return {
    ...{ id, name, notAfter, scope },
    verifyKey: once(() => createVerifyKey(publicKey)),
    fingerprint: once(() => fingerprintOf(publicKey)),
  }
}

function once<T extends object | string>(create: () => T): () => T {
  let created: T | undefined
  return () => (created ??= create())
}
