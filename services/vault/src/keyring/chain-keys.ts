import { generateKeySync, type KeyObject } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type Keyring, KeyringError, unwrapKey, type WrappedKey, wrapKey } from './keyring.ts'

/** A stored key of the audit chain. */
export type StoredChainKey = WrappedKey & { readonly keyNo: number }

/** The wrapped keys of the audit chain. */
export type ChainKeyStore = {
  find(keyNo: number): Promise<StoredChainKey | undefined>
  /** Inserts the key unless a key with its number exists. */
  addFirst(key: StoredChainKey, now: Date): Promise<void>
}

/** A key of the audit chain. */
export type ChainKey = { readonly keyNo: number; readonly key: KeyObject }

/** The keys of the audit chain. */
export type ChainKeys = ReturnType<typeof createChainKeys>

const FIRST = 1

/**
 * Unwraps the key of the audit chain and caches it. It is random and wrapped like a data key, so it survives rotations of
 * the KEK. Only the first key is used, because anyone who can insert rows could insert a newer one that does not unwrap.
 */
export function createChainKeys(deps: { keyring: Keyring; store: ChainKeyStore; clock: Clock }) {
  const { keyring, store, clock } = deps
  let unwrapped: KeyObject | undefined

  async function create(): Promise<StoredChainKey> {
    const wrapped = await wrapKey(keyring, generateKeySync('aes', { length: 256 }), chainKeyOwner(FIRST))
    await store.addFirst({ keyNo: FIRST, ...wrapped }, new Date(clock.now()))
    // Another replica may have inserted its key first.
    const stored = await store.find(FIRST)
    if (stored === undefined) throw new KeyringError(['the key of the audit log was not stored'])
    return stored
  }

  /** Returns the key, and creates it if there is none. */
  async function first(): Promise<KeyObject> {
    unwrapped ??= await unwrapKey(keyring, (await store.find(FIRST)) ?? (await create()), chainKeyOwner(FIRST))
    return unwrapped
  }

  return {
    first,
    /** Returns the key with its number. */
    current: async (): Promise<ChainKey> => ({ keyNo: FIRST, key: await first() }),
  }
}

/** The owner that a key of the audit chain is wrapped for. */
export function chainKeyOwner(keyNo: number) {
  return { purpose: 'audit', owner: 'audit', version: keyNo } as const
}
