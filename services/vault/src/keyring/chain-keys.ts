import { generateKeySync, type KeyObject } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { type Keyring, KeyringError, unwrapKey, type WrappedKey, wrapKey } from './keyring.ts'

/** A key of the audit chain as it is stored. */
export type StoredChainKey = WrappedKey & { readonly keyNo: number }

/** The store of the wrapped keys of the audit chain. */
export type ChainKeyStore = {
  find(keyNo: number): Promise<StoredChainKey | undefined>
  newest(): Promise<StoredChainKey | undefined>
  /** Inserts the key, unless a key with its number exists. */
  addFirst(key: StoredChainKey, now: Date): Promise<void>
}

/** The keys of the audit chain. They are random and wrapped like data keys, so a rotation of the KEK keeps them. */
export type ChainKeys = {
  /** The key for new seals. The first call of all creates it. */
  current(): Promise<{ keyNo: number; key: KeyObject }>
  /** The first key, which the codes of rows are derived from. Created where there is none yet. */
  first(): Promise<KeyObject>
  /** @throws KeyringError when there is no such key */
  byNumber(keyNo: number): Promise<KeyObject>
}

const FIRST = 1

/** Unwraps the keys of the audit chain and caches them in this process. */
export function createChainKeys(deps: { keyring: Keyring; store: ChainKeyStore; clock: Clock }): ChainKeys {
  const { keyring, store, clock } = deps
  const unwrapped = new Map<number, KeyObject>()
  let current: number | undefined

  async function unwrap(stored: StoredChainKey): Promise<KeyObject> {
    const key = unwrapped.get(stored.keyNo) ?? (await unwrapKey(keyring, stored, chainKeyOwner(stored.keyNo)))
    unwrapped.set(stored.keyNo, key)
    return key
  }

  async function firstKey(): Promise<StoredChainKey> {
    const wrapped = await wrapKey(keyring, generateKeySync('aes', { length: 256 }), chainKeyOwner(FIRST))
    await store.addFirst({ keyNo: FIRST, ...wrapped }, new Date(clock.now()))
    // Another replica may have inserted the first key at the same time; then that one is used.
    const stored = await store.newest()
    if (stored === undefined) throw new KeyringError(['the key of the audit log was not stored'])
    return stored
  }

  async function byNumber(keyNo: number): Promise<KeyObject> {
    const known = unwrapped.get(keyNo)
    if (known !== undefined) return known
    const stored = await store.find(keyNo)
    if (stored === undefined) throw new KeyringError([`key ${keyNo} of the audit log is missing`])
    return unwrap(stored)
  }

  async function newest(): Promise<{ keyNo: number; key: KeyObject }> {
    if (current === undefined) {
      const stored = (await store.newest()) ?? (await firstKey())
      await unwrap(stored)
      current = stored.keyNo
    }
    return { keyNo: current, key: await byNumber(current) }
  }

  return {
    byNumber,
    current: newest,
    first: async () => {
      if ((await store.find(FIRST)) === undefined) await newest()
      return byNumber(FIRST)
    },
  }
}

/** The owner that a key of the audit chain is wrapped for. */
export function chainKeyOwner(keyNo: number) {
  return { purpose: 'audit', owner: 'audit', version: keyNo } as const
}
