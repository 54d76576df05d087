import { generateKeySync, type KeyObject } from 'node:crypto'
import { createLookupCache, type Lookup } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { decryptValue, type ValuePlace } from './envelope.ts'
import { isRemote, type Keyring, KeyringError, unwrapKey, type WrappedKey, withCheck, wrapKey } from './keyring.ts'

/** A project's data key as it is stored. */
export type StoredDataKey = WrappedKey & { readonly dekV: number }

/** The store that wrapped data keys are read from. */
export type DataKeyStore = {
  /** The wrapped key; undefined when the project or the version was deleted. */
  findDataKey(projectUid: string, dekV: number): Promise<StoredDataKey | undefined>
  /** The newest key of a project, which encrypts its values; undefined when the project was deleted. */
  findNewestDataKey(projectUid: string): Promise<StoredDataKey | undefined>
  /** Any value that a key has encrypted; undefined when there is none. */
  findValue(projectUid: string, dekV: number): Promise<{ place: ValuePlace; blob: Buffer } | undefined>
  /** Stores other bytes of the same wrapped key, unless it was changed. */
  replaceWrapped(projectUid: string, key: StoredDataKey, wrapped: Buffer): Promise<void>
}

/** The data keys of projects, unwrapped on demand. */
export type DataKeys = {
  /** A new data key for a project, wrapped with the active key-encryption key. */
  create(projectUid: string, dekV: number): Promise<StoredDataKey>
  /**
   * Unwraps a stored key, to encrypt with it. No value may be encrypted with a key whose stored form does not unwrap any
   * more, so what a service has unwrapped is remembered for exactly these bytes, and nothing else is.
   *
   * @throws DecryptionError when it was damaged; KeyringError when its key-encryption key is missing;
   *   UnavailableError when a service does not respond
   */
  unwrap(projectUid: string, stored: StoredDataKey): Promise<KeyObject>
  /** Unwraps the key that the next write of a project uses, so that no transaction waits for a service, and checks it. */
  prepare(projectUid: string): Promise<void>
  /** The unwrapped key by its version, at once where it is cached; undefined when it is not stored any more. */
  find(projectUid: string, dekV: number): Lookup<KeyObject>
  /** Forgets keys that were unwrapped more than five minutes ago. */
  dropStale(): void
}

const MAX_CACHED = 1_000
const CACHED_MS = 300_000

/**
 * Unwraps data keys and caches up to 1,000 of those that are read, for five minutes, in this process only.
 *
 * The material of one version of a data key never changes, so the cache is never outdated. Whether the project still
 * exists is checked by the query that reads the values.
 */
export function createDataKeys(deps: { keyring: Keyring; store: DataKeyStore; clock: Clock }): DataKeys {
  const { keyring, store, clock } = deps
  const cacheOf = <Key extends string>(load: (key: Key) => Promise<KeyObject | undefined>) =>
    createLookupCache<Key, KeyObject>({
      load,
      clock,
      maxValues: MAX_CACHED,
      valueTtlMs: CACHED_MS,
      // A key that is missing is looked for again.
      maxAbsences: 1,
      absenceTtlMs: 0,
      serveStale: false,
    })

  const byVersion = cacheOf<`${string}/${number}`>(async (id) => {
    const [projectUid = '', dekV] = id.split('/')
    const stored = await store.findDataKey(projectUid, Number(dekV))
    return stored && unwrap(projectUid, stored)
  })

  /** Everything that unwrapping depends on is in the key of the cache. */
  const byBytes = cacheOf<string>((text) => {
    const { projectUid, dekV, kekId, wrapped } = JSON.parse(text) as Described
    const stored = { dekV, kekId, wrapped: Buffer.from(wrapped, 'base64') }
    return unwrapKey(keyring, stored, dataKeyOwner(projectUid, dekV))
  })

  async function unwrap(projectUid: string, stored: StoredDataKey): Promise<KeyObject> {
    const { dekV, kekId, wrapped } = stored
    if (!isRemote(keyring)) return unwrapKey(keyring, stored, dataKeyOwner(projectUid, dekV))
    const described: Described = { projectUid, dekV, kekId, wrapped: wrapped.toString('base64') }
    const key = await byBytes.get(JSON.stringify(described))
    if (key === undefined) throw new KeyringError([`data key ${String(dekV)} was not unwrapped`])
    return key
  }

  /** Of a key of an earlier release, a value that it decrypts shows that it is the right one; then it can be checked. */
  async function addCheck(projectUid: string, stored: StoredDataKey, key: KeyObject): Promise<void> {
    const checked = withCheck(keyring, stored, dataKeyOwner(projectUid, stored.dekV), key)
    if (checked === undefined) return
    const value = await store.findValue(projectUid, stored.dekV)
    if (value !== undefined) decryptValue(key, value.place, value.blob)
    await store.replaceWrapped(projectUid, stored, checked)
  }

  return {
    unwrap,

    create: async (projectUid, dekV) => {
      const key = generateKeySync('aes', { length: 256 })
      return { dekV, ...(await wrapKey(keyring, key, dataKeyOwner(projectUid, dekV))) }
    },

    prepare: async (projectUid) => {
      if (!isRemote(keyring)) return
      const newest = await store.findNewestDataKey(projectUid)
      if (newest !== undefined) await addCheck(projectUid, newest, await unwrap(projectUid, newest))
    },

    find: (projectUid, dekV) => byVersion.get(`${projectUid}/${dekV}`),

    dropStale: () => {
      byVersion.dropStale()
      byBytes.dropStale()
    },
  }
}

type Described = {
  readonly projectUid: string
  readonly dekV: number
  readonly kekId: string
  readonly wrapped: string
}

/** The owner that a data key is wrapped for. */
export function dataKeyOwner(projectUid: string, version: number) {
  return { purpose: 'dek', owner: projectUid, version } as const
}
