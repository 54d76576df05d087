import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { parseStrictJson } from '../json/strict-json.ts'
import { decrypt, encrypt, uint32 } from './envelope.ts'

/** A keyring that cannot be used, or a key that cannot be used as asked. Lists every problem; holds no key material. */
export class KeyringError extends Error {
  override readonly name = 'KeyringError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[], options?: { cause?: unknown }) {
    super(problems.join('; '), options)
    this.problems = problems
  }
}

/** A key-encryption key (KEK): wraps data keys, never values. */
export type KeyEncryptionKey = { readonly id: string; readonly fingerprint: string; readonly key: KeyObject }

/** The key-encryption keys of this process by id. The active one wraps new data keys; each of them unwraps its own. */
export type Keyring = { readonly activeId: string; readonly keys: ReadonlyMap<string, KeyEncryptionKey> }

/** A data key as it is stored: encrypted with the key-encryption key `kekId`. */
export type WrappedKey = { readonly kekId: string; readonly wrapped: Buffer }

const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Whether a text can be the id of a key-encryption key. */
export function isKeyId(text: string): boolean {
  return KEY_ID.test(text)
}

/**
 * Reads a keyring file: `{"active":"2026-11","keys":{"2026-11":"<base64 of 32 bytes>"}}`.
 *
 * @throws KeyringError listing every problem, without key material
 */
export function parseKeyringFile(text: string): Keyring {
  const file = parseJsonObject(text)
  const keys = file?.['keys']
  const active = file?.['active']
  if (typeof keys !== 'object' || keys === null || Array.isArray(keys) || typeof active !== 'string')
    throw new KeyringError([
      'VAULT_KEYRING_FILE: must be JSON, no name twice, like {"active":"id","keys":{"id":"<base64>"}}',
    ])
  return createKeyring('VAULT_KEYRING_FILE', Object.entries(keys), active)
}

/**
 * Reads VAULT_KEYRING, `id:base64,id:base64`, and VAULT_KEYRING_ACTIVE.
 *
 * @throws KeyringError listing every problem, without key material
 */
export function parseKeyringList(list: string, active: string): Keyring {
  const entries = list.split(',').map((entry): [string, unknown] => {
    const colon = entry.indexOf(':')
    return [entry.slice(0, colon).trim(), colon === -1 ? undefined : entry.slice(colon + 1).trim()]
  })
  return createKeyring('VAULT_KEYRING', entries, active)
}

function createKeyring(source: string, entries: readonly (readonly [string, unknown])[], activeId: string): Keyring {
  const problems: string[] = []
  const keys = new Map<string, KeyEncryptionKey>()
  for (const [id, encoded] of entries) {
    const problem = problemOf(id, encoded, keys)
    if (problem === undefined) keys.set(id, createKek(id, Buffer.from(String(encoded), 'base64')))
    else problems.push(`${source}: ${problem}`)
  }
  const duplicate = [...keys.values()].find((a) => [...keys.values()].some((b) => a.id < b.id && a.key.equals(b.key)))
  if (duplicate)
    problems.push(`${source}: key ${duplicate.id} occurs under a second id; every id needs a key of its own`)
  if (activeId === '') problems.push(`${source}: no key is named as the active one`)
  else if (entries.every(([id]) => id !== activeId)) problems.push(`${source}: the active key is not in the keyring`)
  if (problems.length > 0) throw new KeyringError(problems)
  return Object.freeze({ activeId, keys })
}

function problemOf(id: string, encoded: unknown, keys: ReadonlyMap<string, unknown>): string | undefined {
  if (!isKeyId(id)) return 'a key id must be 1 to 64 letters, digits, dots, dashes and underscores'
  if (keys.has(id)) return `key ${id} occurs twice`
  const material = typeof encoded === 'string' ? Buffer.from(encoded, 'base64') : Buffer.alloc(0)
  if (material.length !== 32 || material.toString('base64') !== encoded)
    return `key ${id} must be the base64 of exactly 32 bytes; make one with: openssl rand -base64 32`
  if (new Set(material).size < 12) return `key ${id} is not random; make one with: openssl rand -base64 32`
  return undefined
}

function parseJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseStrictJson(Buffer.from(text))
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : undefined
  } catch {
    return undefined
  }
}

function createKek(id: string, material: Buffer): KeyEncryptionKey {
  const key = createSecretKey(material)
  material.fill(0)
  return { id, fingerprint: fingerprintOf(key), key }
}

/** 16 hex digits that identify a key and reveal nothing about it. */
function fingerprintOf(key: KeyObject): string {
  return createHmac('sha256', key).update('vault/kek-fp/1').digest('hex').slice(0, 16)
}

/** What a data key belongs to. It is authenticated with the wrapped key, which unwraps for no other owner. */
export type DataKeyOwner = { purpose: 'dek' | 'audit'; owner: string; version: number }

/** Wraps a data key with the active key-encryption key. */
export function wrapKey(keyring: Keyring, dataKey: KeyObject, owner: DataKeyOwner): WrappedKey {
  const kek = keyring.keys.get(keyring.activeId)
  if (kek === undefined) throw new KeyringError([`the active key ${keyring.activeId} is not in the keyring`])
  const header = wrapHeader(kek.id)
  const material = dataKey.export()
  const encrypted = encrypt(kek.key, material, additionalDataOf(header, owner))
  material.fill(0)
  return { kekId: kek.id, wrapped: Buffer.concat([header, encrypted]) }
}

/**
 * Unwraps a data key.
 *
 * @throws KeyringError when its key-encryption key is not in the keyring; DecryptionError when the wrapped key was
 *   changed or has another owner
 */
export function unwrapKey(keyring: Keyring, stored: WrappedKey, owner: DataKeyOwner): KeyObject {
  const kek = keyring.keys.get(stored.kekId)
  if (kek === undefined) throw new KeyringError([`key ${stored.kekId} is not in the keyring`])
  const header = wrapHeader(kek.id)
  const material = decrypt(
    kek.key,
    stored.wrapped.subarray(header.length),
    additionalDataOf(stored.wrapped.subarray(0, header.length), owner),
  )
  const key = createSecretKey(material)
  material.fill(0)
  return key
}

/** Format 1, algorithm 1 (AES-256-GCM), then the id of the key-encryption key with its length. */
function wrapHeader(kekId: string): Buffer {
  return Buffer.concat([Buffer.from([1, 1, kekId.length]), Buffer.from(kekId, 'latin1')])
}

function additionalDataOf(header: Buffer, owner: DataKeyOwner): Buffer {
  return Buffer.concat([
    Buffer.from(`vault/${owner.purpose}/1`),
    header,
    lengthPrefixed(owner.owner),
    uint32(owner.version),
  ])
}

/** A text after its length. With a delimiter instead, `a:b` and `c` would give the same bytes as `a` and `b:c`. */
function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([uint32(bytes.length), bytes])
}
