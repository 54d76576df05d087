import { generateKeySync, type KeyObject } from 'node:crypto'
import { createLookupCache, type Lookup } from '@vault-and-tracker/service-kit/cache'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { type Keyring, unwrapKey, type WrappedKey, wrapKey } from './keyring.ts'

/** A project's data key as it is stored. */
export type StoredDataKey = WrappedKey & { readonly dekV: number }

/** The store that wrapped data keys are read from. */
export type DataKeyStore = {
  /** The wrapped key; undefined when the project or the version was deleted. */
  findDataKey(projectUid: string, dekV: number): Promise<StoredDataKey | undefined>
}

/** The data keys of projects, unwrapped on demand. */
export type DataKeys = {
  /** A new data key for a project, wrapped with the active key-encryption key. */
  create(projectUid: string, dekV: number): StoredDataKey
  /**
   * Unwraps a stored key, to encrypt with it. Never from the cache: no value may be encrypted with a key whose stored
   * form does not unwrap any more.
   *
   * @throws DecryptionError when it was damaged; KeyringError when its key-encryption key is missing
   */
  unwrap(projectUid: string, stored: StoredDataKey): KeyObject
  /** The unwrapped key by its version, at once where it is cached; undefined when it is not stored any more. */
  find(projectUid: string, dekV: number): Lookup<KeyObject>
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

  function unwrap(projectUid: string, stored: StoredDataKey): KeyObject {
    return unwrapKey(keyring, stored, dataKeyOwner(projectUid, stored.dekV))
  }

  const cache = createLookupCache<`${string}/${number}`, KeyObject>({
    load: async (id) => {
      const [projectUid = '', dekV] = id.split('/')
      const stored = await store.findDataKey(projectUid, Number(dekV))
      return stored && unwrap(projectUid, stored)
    },
    clock,
    maxValues: MAX_CACHED,
    valueTtlMs: CACHED_MS,
    // A key that is missing is looked for again.
    maxAbsences: 1,
    absenceTtlMs: 0,
    serveStale: false,
  })

  return {
    unwrap,
    create: (projectUid, dekV) => {
      const key = generateKeySync('aes', { length: 256 })
      return { dekV, ...wrapKey(keyring, key, dataKeyOwner(projectUid, dekV)) }
    },
    find: (projectUid, dekV) => cache.get(`${projectUid}/${dekV}`),
  }
}

/** The owner that a data key is wrapped for. */
export function dataKeyOwner(projectUid: string, version: number) {
  return { purpose: 'dek', owner: projectUid, version } as const
}
