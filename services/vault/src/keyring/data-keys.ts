import { generateKeySync, type KeyObject } from 'node:crypto'
import { createLookupCache, type Lookup } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { decryptValue, type ValuePlace } from './envelope.ts'
import { isRemote, type Keyring, KeyringError, unwrapKey, type WrappedKey, withCheck, wrapKey } from './keyring.ts'

/** A stored data key of a project. */
export type StoredDataKey = WrappedKey & { readonly dekV: number }

/** The wrapped data keys. */
export type DataKeyStore = {
  /** The wrapped key; undefined if the project or the version was deleted. */
  findDataKey(projectUid: string, dekV: number): Promise<StoredDataKey | undefined>
  /** The newest key of a project, which encrypts its values; undefined if the project was deleted. */
  findNewestDataKey(projectUid: string): Promise<StoredDataKey | undefined>
  /** Any value that a key has encrypted. */
  findValue(projectUid: string, dekV: number): Promise<{ place: ValuePlace; blob: Buffer } | undefined>
  /** Replaces the bytes of a wrapped key, unless they were changed meanwhile. */
  replaceWrapped(projectUid: string, key: StoredDataKey, wrapped: Buffer): Promise<void>
}

/** The data keys of projects. */
export type DataKeys = ReturnType<typeof createDataKeys>

const MAX_CACHED = 1_000
const CACHED_MS = 300_000

/**
 * Unwraps data keys, and caches up to 1,000 of them for five minutes.
 *
 * The material of a version never changes, so the cache is never outdated. The query that reads the values checks that the
 * project exists.
 */
export function createDataKeys(deps: { keyring: Keyring; store: DataKeyStore; clock: Clock }) {
  const { keyring, store, clock } = deps
  const cacheOf = <Key extends string>(load: (key: Key) => Promise<KeyObject | undefined>) =>
    createLookupCache<Key, KeyObject>({
      load,
      clock,
      maxValues: MAX_CACHED,
      valueTtlMs: CACHED_MS,
      // Missing keys are looked up again.
      maxAbsences: 1,
      absenceTtlMs: 0,
      serveStale: false,
    })

  const byVersion = cacheOf<`${string}/${number}`>(async (id) => {
    const [projectUid = '', dekV] = id.split('/')
    const stored = await store.findDataKey(projectUid, Number(dekV))
    return stored && unwrap(projectUid, stored)
  })

  /** The key of the cache contains everything that unwrapping depends on. */
  const byBytes = cacheOf<string>((text) => {
    const { projectUid, dekV, kekId, wrapped } = JSON.parse(text) as Described
    const stored = { dekV, kekId, wrapped: Buffer.from(wrapped, 'base64') }
    return unwrapKey(keyring, stored, dataKeyOwner(projectUid, dekV))
  })

  /**
   * Unwraps a stored key to encrypt with it. A value must never be encrypted with a key whose stored form no longer
   * unwraps, so the cache is by the exact bytes.
   *
   * @throws DecryptionError if it was damaged; KeyringError if its key-encryption key is missing; UnavailableError if a
   *   service does not respond
   */
  async function unwrap(projectUid: string, stored: StoredDataKey): Promise<KeyObject> {
    const { dekV, kekId, wrapped } = stored
    if (!isRemote(keyring)) return unwrapKey(keyring, stored, dataKeyOwner(projectUid, dekV))
    const described: Described = { projectUid, dekV, kekId, wrapped: wrapped.toString('base64') }
    const key = await byBytes.get(JSON.stringify(described))
    if (key === undefined) throw new KeyringError([`data key ${String(dekV)} was not unwrapped`])
    return key
  }

  /** Adds a check value to a key of an earlier release, once a value that it decrypts proves that it is the right key. */
  async function addCheck(projectUid: string, stored: StoredDataKey, key: KeyObject): Promise<void> {
    const checked = withCheck(keyring, stored, dataKeyOwner(projectUid, stored.dekV), key)
    if (checked === undefined) return
    const value = await store.findValue(projectUid, stored.dekV)
    if (value !== undefined) decryptValue(key, value.place, value.blob)
    await store.replaceWrapped(projectUid, stored, checked)
  }

  return {
    unwrap,

    /** Returns a new data key, wrapped with the active key-encryption key. */
    create: async (projectUid: string, dekV: number): Promise<StoredDataKey> => {
      const key = generateKeySync('aes', { length: 256 })
      return { dekV, ...(await wrapKey(keyring, key, dataKeyOwner(projectUid, dekV))) }
    },

    /** Unwraps and checks the key for a project's next write, so that no transaction waits for a service. */
    prepare: async (projectUid: string): Promise<void> => {
      if (!isRemote(keyring)) return
      const newest = await store.findNewestDataKey(projectUid)
      if (newest !== undefined) await addCheck(projectUid, newest, await unwrap(projectUid, newest))
    },

    /** Returns the unwrapped key, synchronously if it is cached; undefined if it is no longer stored. */
    find: (projectUid: string, dekV: number): Lookup<KeyObject> => byVersion.get(`${projectUid}/${dekV}`),

    /** Drops keys that were unwrapped more than five minutes ago. */
    dropStale: (): void => {
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
