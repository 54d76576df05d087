import type { KeyObject } from 'node:crypto'
import { uint32 } from './envelope.ts'

/** An unusable keyring or key. Lists every problem, without key material. */
export class KeyringError extends Error {
  override readonly name = 'KeyringError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[], options?: { cause?: unknown }) {
    super(problems.join('; '), options)
    this.problems = problems
  }
}

/** The id of a key-encryption key (KEK), and a fingerprint that distinguishes it from others of the same id. */
export type KeyName = { readonly id: string; readonly fingerprint: string }

/** The owner of a data key. It is authenticated with the wrapped key, which unwraps for no other owner. */
export type DataKeyOwner = { purpose: 'dek' | 'audit'; owner: string; version: number }

/** A stored data key, encrypted with the key-encryption key `kekId`. */
export type WrappedKey = { readonly kekId: string; readonly wrapped: Buffer }

/** A data key with its owner. */
export type OwnedKey = { readonly key: KeyObject; readonly owner: DataKeyOwner }

/** A stored data key with its owner. */
export type OwnedWrappedKey = WrappedKey & { readonly owner: DataKeyOwner }

/**
 * Key-encryption keys in this process or in a service. To support another kind of service, implement this and add it in
 * `context/keyring.ts`.
 */
export type KeyProvider = {
  /** The key that wraps new data keys. */
  readonly activeId: string
  /** The known keys. */
  readonly keys: readonly KeyName[]
  /** Whether it sends requests to another machine, which take time and may fail. */
  readonly isRemote: boolean
  /** Whether it can unwrap data keys that the key with this id wrapped. */
  has(id: string): boolean
  /** Wraps data keys with the active key. @throws UnavailableError, KeyringError */
  wrap(keys: readonly OwnedKey[]): Promise<readonly Buffer[]>
  /**
   * Unwraps data keys.
   *
   * @throws DecryptionError if one was changed or has another owner; UnavailableError, KeyringError
   */
  unwrap(keys: readonly OwnedWrappedKey[]): Promise<readonly KeyObject[]>
  /** Wraps its data keys again with the active key, if it can without revealing them to this process. */
  rewrap?(keys: readonly OwnedWrappedKey[]): Promise<readonly Buffer[]>
  /** Adds a check value to a wrapped key of an earlier release; undefined if it has one. */
  withCheck?(stored: OwnedWrappedKey, key: KeyObject): Buffer | undefined
  /** Fails if it cannot wrap and unwrap now. @throws UnavailableError, KeyringError */
  check(): Promise<void>
}

/** All key-encryption keys. The active one wraps new data keys. */
export type Keyring = {
  readonly activeId: string
  readonly keys: ReadonlyMap<string, KeyName>
  /** The first one wraps. */
  readonly providers: readonly KeyProvider[]
}

const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Whether a text can be the id of a key-encryption key. */
export function isKeyId(text: string): boolean {
  return KEY_ID.test(text)
}

/** Joins providers. The first one wraps new data keys. */
export function createKeyring(providers: readonly KeyProvider[]): Keyring {
  return Object.freeze({
    activeId: providers[0]?.activeId ?? '',
    keys: new Map(providers.flatMap(({ keys }) => keys.map((key) => [key.id, key] as const))),
    providers,
  })
}

/** Whether a keyring can unwrap data keys that the key with this id wrapped. */
export function canUnwrap(keyring: Keyring, id: string): boolean {
  return keyring.providers.some((provider) => provider.has(id))
}

/** Whether some of the keys are on another machine. */
export function isRemote(keyring: Keyring): boolean {
  return keyring.providers.some((provider) => provider.isRemote)
}

/** Wraps a data key with the active key-encryption key. @throws UnavailableError, KeyringError */
export async function wrapKey(keyring: Keyring, key: KeyObject, owner: DataKeyOwner): Promise<WrappedKey> {
  return first(await wrapKeys(keyring, [{ key, owner }]))
}

/**
 * Unwraps a data key.
 *
 * @throws KeyringError if its key-encryption key is not in the keyring; DecryptionError if the wrapped key was changed or
 *   has another owner; UnavailableError if a service does not respond
 */
export async function unwrapKey(keyring: Keyring, stored: WrappedKey, owner: DataKeyOwner): Promise<KeyObject> {
  return first(await providerOf(keyring, stored.kekId).unwrap([{ ...stored, owner }]))
}

/** Adds a check value to a wrapped key that needs one; undefined for any other. */
export function withCheck(
  keyring: Keyring,
  stored: WrappedKey,
  owner: DataKeyOwner,
  key: KeyObject,
): Buffer | undefined {
  return providerOf(keyring, stored.kekId).withCheck?.({ ...stored, owner }, key)
}

/**
 * Wraps stored data keys again with the active key-encryption key, in the given order.
 *
 * @throws like `unwrapKey`
 */
export async function rewrapKeys(keyring: Keyring, stored: readonly OwnedWrappedKey[]): Promise<readonly WrappedKey[]> {
  const rewrapped = new Map<OwnedWrappedKey, WrappedKey>()
  for (const [provider, own] of byProvider(keyring, stored)) {
    const made =
      provider === keyring.providers[0] && provider.rewrap !== undefined
        ? (await provider.rewrap(own)).map((wrapped) => ({ kekId: keyring.activeId, wrapped }))
        : await wrapKeys(keyring, withOwners(await provider.unwrap(own), own))
    own.forEach((each, i) => rewrapped.set(each, at(made, i)))
  }
  return stored.map((each) => first([rewrapped.get(each)]))
}

async function wrapKeys(keyring: Keyring, keys: readonly OwnedKey[]): Promise<readonly WrappedKey[]> {
  const [active] = keyring.providers
  if (active === undefined) throw new KeyringError(['the keyring has no active key'])
  const wrapped = await active.wrap(keys)
  return keys.map((_key, i) => ({ kekId: active.activeId, wrapped: at(wrapped, i) }))
}

function withOwners(keys: readonly KeyObject[], stored: readonly OwnedWrappedKey[]): OwnedKey[] {
  return stored.map(({ owner }, i) => ({ key: at(keys, i), owner }))
}

function byProvider(keyring: Keyring, stored: readonly OwnedWrappedKey[]): Map<KeyProvider, OwnedWrappedKey[]> {
  const groups = new Map<KeyProvider, OwnedWrappedKey[]>()
  for (const each of stored) {
    const provider = providerOf(keyring, each.kekId)
    groups.set(provider, [...(groups.get(provider) ?? []), each])
  }
  return groups
}

function providerOf(keyring: Keyring, kekId: string): KeyProvider {
  const provider = keyring.providers.find((each) => each.has(kekId))
  if (provider === undefined) throw new KeyringError([`key ${kekId} is not in the keyring`])
  return provider
}

function first<T>(items: readonly (T | undefined)[]): T {
  return at(items, 0)
}

function at<T>(items: readonly (T | undefined)[], i: number): T {
  const item = items[i]
  if (item === undefined) throw new KeyringError(['a key provider returned too few results'])
  return item
}

/** Format 1, the algorithm, and the id of the key-encryption key with its length. */
export function wrapHeader(algorithm: number, kekId: string): Buffer {
  return Buffer.concat([Buffer.from([1, algorithm, kekId.length]), Buffer.from(kekId, 'latin1')])
}

/** The additional data of a wrapped key: its owner and its header. */
export function ownerOf({ purpose, owner, version }: DataKeyOwner, header: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`vault/${purpose}/1`), header, lengthPrefixed(owner), uint32(version)])
}

/** A text after its length. With a delimiter, `a:b` and `c` would give the same bytes as `a` and `b:c`. */
function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([uint32(bytes.length), bytes])
}
