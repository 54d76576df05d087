import { createVerifyKey, publicKeyToHex, type VerifyKey } from '@vault-and-tracker/http-signatures'
import { boundedMap, createLookupCache } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { PROJECT_NAME } from '../access/names.ts'
import type { ExchangedRef } from '../access/project-caller.ts'
import { type AuthenticRows, fingerprintOf, type ProjectKey, type SealedProject } from '../integrity/rows.ts'
import { type EndedExchangedKey, EXPIRED, type ExchangedKey, isRemembered, REVOKED } from './project-keys.ts'

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
  /** Of a key that was admitted for an ID token. */
  readonly exchanged: ExchangedRef | undefined
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
const MAX_CACHED_EXCHANGED = 10_000

const NO_SCOPE = { access: 'read', envs: [] } as const

/** Where the keys that signatures are verified with are stored. */
export type SigningStore = {
  find(name: string): Promise<SealedProject | undefined>
  /** The uid and generation of a project, and whether it has a row of a key with this public key, authentic or not. */
  peek(name: string, publicKey: Buffer): Promise<{ uid: string; generation: number; hasKey: boolean } | undefined>
  /** A project, and its exchanged key with this public key, in one statement. */
  findWithExchangedKey(
    name: string,
    publicKey: Buffer,
  ): Promise<
    | {
        project: SealedProject
        exchanged: ExchangedKey | undefined
        /** One that ended in the last 30 days. */
        ended: Pick<EndedExchangedKey, 'name' | 'revoked'> | undefined
      }
    | undefined
  >
}

/** A cache of signing projects. */
export type SigningProjects = ReturnType<typeof createSigningProjects>

/**
 * Caches projects and their keys, so that a signed fetch needs only its own query. Keys that were admitted for ID tokens
 * are loaded one at a time, each with the project: a key that is in neither cache costs one query.
 */
export function createSigningProjects(deps: {
  store: SigningStore
  rows: Pick<AuthenticRows, 'openProject'> & { exchangedKeys: Pick<AuthenticRows['exchangedKeys'], 'accept'> }
  clock: Clock
}) {
  const { store, rows, clock } = deps
  /** By the name of the project and the public key. */
  const exchanged = boundedMap<string, { readonly signer: SigningProject; readonly until: number }>(
    MAX_CACHED_EXCHANGED,
  )

  /** @param place the name of a project, and optionally a public key after a space */
  async function load(place: string): Promise<SigningProject | undefined> {
    const [name = '', publicKeyHex] = place.split(' ')
    if (!PROJECT_NAME.test(name)) return undefined
    if (publicKeyHex === undefined) return open(await store.find(name))
    const found = await store.findWithExchangedKey(name, Buffer.from(publicKeyHex, 'hex'))
    exchanged.delete(place)
    const project = open(found?.project)
    if (found === undefined || project === undefined || project.keys.has(publicKeyHex)) return project
    const key = keyOf(found, Buffer.from(publicKeyHex, 'hex'))
    if (key === undefined) return project
    const signer = { ...project, keys: new Map([[publicKeyHex, key]]) }
    // An expired or revoked key may be admitted again.
    exchanged.set(place, {
      signer,
      until: clock.now() + (key.exchanged === undefined ? ABSENT_TTL_MS : PRESENT_TTL_MS),
    })
    return signer
  }

  type Found = NonNullable<Awaited<ReturnType<SigningStore['findWithExchangedKey']>>>
  function keyOf({ exchanged: row, ended }: Found, publicKey: Buffer): SigningKey | undefined {
    if (row !== undefined && rows.exchangedKeys.accept(row)) return exchangedKey(row)
    return ended && endedKey(ended, publicKey)
  }

  function open(sealed: SealedProject | undefined): SigningProject | undefined {
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
    // A project with an exchanged key instead of its own keys is cached separately.
    keysOf: (signer, place) => (exchanged.peek(place)?.signer === signer ? [] : [signer.name]),
    maxAbsences: MAX_CACHED,
    valueTtlMs: PRESENT_TTL_MS,
    absenceTtlMs: ABSENT_TTL_MS,
    serveStale: false,
  })

  const findFreshWithKey = (name: string, publicKeyHex: string): Promise<SigningProject | undefined> =>
    cache.reload(`${name} ${publicKeyHex}`)

  return {
    /** Returns a project, undefined if it does not exist. */
    find: async (name: string): Promise<SigningProject | undefined> => cache.get(name),

    /** Reads a project from the database instead of the cache. */
    findFresh: (name: string): Promise<SigningProject | undefined> => cache.reload(name),

    /**
     * Returns a project with a key that the cached project does not have: its own keys, which may have just changed
     * through another replica, or a key that was admitted for an ID token. The project is only read again if there is
     * anything new: a request with an unknown key has to cost little, and a project has up to hundreds of keys.
     */
    findWithKey: async (cached: SigningProject, publicKeyHex: string): Promise<SigningProject | undefined> => {
      const { name, uid, generation, keys } = cached
      const known = exchanged.get(`${name} ${publicKeyHex}`)
      if (known !== undefined && known.until > clock.now()) return known.signer
      const stored = await store.peek(name, Buffer.from(publicKeyHex, 'hex'))
      const isCurrent = stored?.uid === uid && stored.generation === generation
      return isCurrent && (!stored.hasKey || keys.has(publicKeyHex)) ? cached : findFreshWithKey(name, publicKeyHex)
    },

    /** The same from the database instead of the cache. */
    findFreshWithKey,

    /** Drops a project that this process changed. */
    forget: (name: string): void => cache.forget(name),
  }
}

function exchangedKey({ id, code, rule, publicKey, expiresAt, scope }: ExchangedKey): SigningKey {
  const key = { id, name: rule, publicKey, notAfter: expiresAt, scope }
  return { ...signingKey(key), exchanged: { id, code } }
}

/** Is never valid, but requests that it signed are recognised. */
function endedKey({ name, revoked }: Pick<EndedExchangedKey, 'name' | 'revoked'>, publicKey: Buffer): SigningKey {
  return signingKey({ id: '', name, publicKey, notAfter: revoked ? REVOKED : EXPIRED, scope: NO_SCOPE })
}

function signingKey(key: Pick<ProjectKey, 'id' | 'name' | 'publicKey' | 'notAfter' | 'scope'>): SigningKey {
  const { id, name, publicKey, notAfter, scope } = key
  return {
    ...{ id, name, notAfter, scope, exchanged: undefined },
    verifyKey: once(() => createVerifyKey(publicKey)),
    fingerprint: once(() => fingerprintOf(publicKey)),
  }
}

function once<T extends object | string>(create: () => T): () => T {
  let created: T | undefined
  return () => (created ??= create())
}

/** Stores when keys were last used. */
export type KeyUseStore = {
  write(uses: readonly { keyId: string; at: Date }[]): Promise<void>
}

/** Beyond this number between two writes, the least recently used keys are not recorded. */
const MAX_KEYS = 10_000

/** Records when keys are used. */
export type KeyUses = ReturnType<typeof createKeyUses>

/** Records when keys are used, in memory, so that requests do not write. */
export function createKeyUses(deps: { store: KeyUseStore; clock: Clock }) {
  const { store, clock } = deps
  let uses = boundedMap<string, { at: Date }>(MAX_KEYS)
  return {
    note: (keyId: string): void => {
      uses.set(keyId, { at: new Date(clock.now()) })
    },

    /** Stores the recorded uses. If the store fails, they are lost. */
    flush: async (): Promise<void> => {
      const noted = [...uses.entries()].map(([keyId, { at }]) => ({ keyId, at }))
      uses = boundedMap(MAX_KEYS)
      if (noted.length > 0) await store.write(noted)
    },
  }
}
