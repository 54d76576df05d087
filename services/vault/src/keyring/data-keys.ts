import { generateKeySync, type KeyObject } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { type Keyring, unwrapKey, type WrappedKey, wrapKey } from './keyring.ts'

/** A project's data key as it is stored. */
export type StoredDataKey = WrappedKey & Readonly<{ dekV: number }>

/** The store that wrapped data keys are read from. */
export type DataKeyStore = {
  /** The wrapped key; undefined when the project or the version was deleted. */
  findDataKey(projectUid: string, dekV: number): Promise<StoredDataKey | undefined>
}

/** The data keys of projects, unwrapped on demand. */
export type DataKeys = {
  /** A new data key for a project, wrapped with the active key-encryption key. */
  create(projectUid: string, dekV: number): StoredDataKey
  /** The unwrapped key of a stored one. */
  unwrap(projectUid: string, stored: StoredDataKey): KeyObject
  /** The unwrapped key by its version, if it is in the cache. */
  cached(projectUid: string, dekV: number): KeyObject | undefined
  /** The unwrapped key by its version; undefined when it is not stored any more. */
  find(projectUid: string, dekV: number): Promise<KeyObject | undefined>
}

const MAX_CACHED = 1_000
const CACHED_MS = 300_000

/**
 * Unwraps data keys and caches up to 1,000 of them for five minutes, in this process only.
 *
 * The material of one version of a data key never changes, so the cache is never outdated. Whether the project still
 * exists is checked by the query that reads the values.
 */
export function createDataKeys(deps: { keyring: Keyring; store: DataKeyStore; clock: Clock }): DataKeys {
  const cache = new Map<string, { key: KeyObject; until: number }>()

  function keep(id: string, key: KeyObject): KeyObject {
    cache.delete(id)
    cache.set(id, { key, until: deps.clock.now() + CACHED_MS })
    if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value ?? '')
    return key
  }

  function cached(id: string): KeyObject | undefined {
    const entry = cache.get(id)
    if (entry !== undefined && entry.until > deps.clock.now()) return entry.key
    cache.delete(id)
    return undefined
  }

  function unwrap(projectUid: string, stored: StoredDataKey): KeyObject {
    const id = `${projectUid}/${stored.dekV}`
    return cached(id) ?? keep(id, unwrapKey(deps.keyring, stored, dataKeyOwner(projectUid, stored.dekV)))
  }

  return {
    unwrap,
    cached: (projectUid, dekV) => cached(`${projectUid}/${dekV}`),
    create: (projectUid, dekV) => {
      const key = generateKeySync('aes', { length: 256 })
      return { dekV, ...wrapKey(deps.keyring, key, dataKeyOwner(projectUid, dekV)) }
    },
    find: async (projectUid, dekV) => {
      const known = cached(`${projectUid}/${dekV}`)
      if (known !== undefined) return known
      const stored = await deps.store.findDataKey(projectUid, dekV)
      return stored && unwrap(projectUid, stored)
    },
  }
}

/** The owner that a data key is wrapped for. */
export function dataKeyOwner(projectUid: string, version: number) {
  return { purpose: 'dek', owner: projectUid, version } as const
}
