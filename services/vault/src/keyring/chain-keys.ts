import { generateKeySync, type KeyObject } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type Keyring, KeyringError, unwrapKey, type WrappedKey, wrapKey } from './keyring.ts'

/** A key of the audit chain as it is stored. */
export type StoredChainKey = WrappedKey & { readonly keyNo: number }

/** The store of the wrapped keys of the audit chain. */
export type ChainKeyStore = {
  find(keyNo: number): Promise<StoredChainKey | undefined>
  /** Inserts the key, unless a key with its number exists. */
  addFirst(key: StoredChainKey, now: Date): Promise<void>
}

/**
 * The key of the audit chain. It is random and wrapped like a data key, so a rotation of the KEK keeps it. No other than
 * the first is used: whoever may insert rows could insert a newer one that does not unwrap.
 */
export type ChainKeys = {
  /** The key, with its number. The first call of all creates it. */
  current(): Promise<{ keyNo: number; key: KeyObject }>
  /** The key, which the codes of rows are derived from too. */
  first(): Promise<KeyObject>
}

const FIRST = 1

/** Unwraps the key of the audit chain and caches it in this process. */
export function createChainKeys(deps: { keyring: Keyring; store: ChainKeyStore; clock: Clock }): ChainKeys {
  const { keyring, store, clock } = deps
  let unwrapped: KeyObject | undefined

  async function create(): Promise<StoredChainKey> {
    const wrapped = await wrapKey(keyring, generateKeySync('aes', { length: 256 }), chainKeyOwner(FIRST))
    await store.addFirst({ keyNo: FIRST, ...wrapped }, new Date(clock.now()))
    // Another replica may have inserted the key at the same time; then that one is used.
    const stored = await store.find(FIRST)
    if (stored === undefined) throw new KeyringError(['the key of the audit log was not stored'])
    return stored
  }

  async function first(): Promise<KeyObject> {
    unwrapped ??= await unwrapKey(keyring, (await store.find(FIRST)) ?? (await create()), chainKeyOwner(FIRST))
    return unwrapped
  }

  return { first, current: async () => ({ keyNo: FIRST, key: await first() }) }
}

/** The owner that a key of the audit chain is wrapped for. */
export function chainKeyOwner(keyNo: number) {
  return { purpose: 'audit', owner: 'audit', version: keyNo } as const
}
