import { generateKeySync, type KeyObject } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { type Keyring, unwrapKey, type WrappedKey, wrapKey } from './keyring.ts'

/** A project's data key as it is stored. */
export type StoredDataKey = WrappedKey & Readonly<{ dekV: number }>

/** Where wrapped data keys are read. */
export type DataKeyStore = {
  /** The wrapped key, or undefined when the project or the version is gone. */
  findDataKey(projectUid: string, dekV: number): Promise<StoredDataKey | undefined>
}

/** The data keys of projects, unwrapped as needed. */
export type DataKeys = {
  /** A new data key for a project, wrapped by the active key-encryption key. */
  create(projectUid: string, dekV: number): StoredDataKey
  /** The key behind a stored one. */
  unwrap(projectUid: string, stored: StoredDataKey): KeyObject
  /** The key by its version, if it is at hand. */
  cached(projectUid: string, dekV: number): KeyObject | undefined
  /** The key by its version; undefined when it is not stored any more. */
  find(projectUid: string, dekV: number): Promise<KeyObject | undefined>
}

const MAX_CACHED = 1_000
const CACHED_MS = 300_000

/**
 * Unwraps data keys and keeps up to 1,000 of them for five minutes, in this process only.
 *
 * A version of a data key never changes its material, so a kept one is never wrong; whether its project still exists
 * is for the query that reads the values to say.
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

/** What a data key is bound to. */
export function dataKeyOwner(projectUid: string, version: number) {
  return { purpose: 'dek', owner: projectUid, version } as const
}
