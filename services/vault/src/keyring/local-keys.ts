import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { parseStrictJson } from '../strict-json.ts'
import { decrypt, encrypt } from './envelope.ts'
import {
  createKeyring,
  isKeyId,
  type KeyProvider,
  type Keyring,
  KeyringError,
  type OwnedKey,
  type OwnedWrappedKey,
  ownerOf,
  wrapHeader,
} from './keyring.ts'

/** A key-encryption key (KEK) in this process. It wraps data keys, never values. */
type LocalKey = { readonly id: string; readonly fingerprint: string; readonly key: KeyObject }

/** AES-256-GCM, in this process. */
const ALGORITHM = 1

/**
 * Parses VAULT_KEYRING: `{"active":"2026-11","keys":{"2026-11":"<base64 of 32 bytes>"}}`, or `id:base64,id:base64` with
 * VAULT_KEYRING_ACTIVE.
 *
 * @throws KeyringError listing every problem, without key material
 */
export function parseKeyring(text: string, active: string): Keyring {
  return text.trimStart().startsWith('{') ? parseKeyringFile(text) : parseKeyringList(text, active)
}

/** Parses the content of a keyring file that commands can change. @throws KeyringError like `parseKeyring` */
export function parseKeyringFile(text: string): Keyring {
  const file = parseJsonObject(text)
  const keys = file?.['keys']
  const active = file?.['active']
  if (typeof keys !== 'object' || keys === null || Array.isArray(keys) || typeof active !== 'string')
    throw new KeyringError([
      'VAULT_KEYRING: must be JSON without duplicate names, like {"active":"id","keys":{"id":"<base64>"}}',
    ])
  return readKeys(Object.entries(keys), active)
}

function parseKeyringList(list: string, active: string): Keyring {
  const entries = list.split(',').map((entry): [string, unknown] => {
    const colon = entry.indexOf(':')
    return [entry.slice(0, colon).trim(), colon === -1 ? undefined : entry.slice(colon + 1).trim()]
  })
  return readKeys(entries, active)
}

function readKeys(entries: readonly (readonly [string, unknown])[], activeId: string): Keyring {
  const problems: string[] = []
  const keys = new Map<string, LocalKey>()
  for (const [id, encoded] of entries) {
    const problem = problemOf(id, encoded, keys)
    if (problem === undefined) keys.set(id, createKek(id, Buffer.from(String(encoded), 'base64')))
    else problems.push(problem)
  }
  const duplicate = [...keys.values()].find((a) => [...keys.values()].some((b) => a.id < b.id && a.key.equals(b.key)))
  if (duplicate) problems.push(`key ${duplicate.id} occurs under a second id; every id needs its own key`)
  if (activeId === '') problems.push('no active key is set')
  else if (entries.every(([id]) => id !== activeId)) problems.push('the active key is not in the keyring')
  if (problems.length > 0) throw new KeyringError(problems.map((problem) => `VAULT_KEYRING: ${problem}`))
  return createKeyring([createLocalKeys(keys, activeId)])
}

function problemOf(id: string, encoded: unknown, keys: ReadonlyMap<string, unknown>): string | undefined {
  if (!isKeyId(id)) return 'a key id must be 1 to 64 letters, digits, dots, dashes and underscores'
  if (keys.has(id)) return `key ${id} occurs twice`
  const material = typeof encoded === 'string' ? Buffer.from(encoded, 'base64') : Buffer.alloc(0)
  if (material.length !== 32 || material.toString('base64') !== encoded)
    return `key ${id} must be the base64 of exactly 32 bytes; create one with: openssl rand -base64 32`
  if (new Set(material).size < 12) return `key ${id} is not random; create one with: openssl rand -base64 32`
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

function createKek(id: string, material: Buffer): LocalKey {
  const key = createSecretKey(material)
  material.fill(0)
  return { id, fingerprint: fingerprintOf(key), key }
}

/** 16 hex digits that identify a key without revealing anything about it. */
function fingerprintOf(key: KeyObject): string {
  return createHmac('sha256', key).update('vault/kek-fp/1').digest('hex').slice(0, 16)
}

/** Wraps data keys in this process. The id of the wrapping key is authenticated. */
function createLocalKeys(keys: ReadonlyMap<string, LocalKey>, activeId: string): KeyProvider {
  function find(id: string): LocalKey {
    const kek = keys.get(id)
    if (kek === undefined) throw new KeyringError([`key ${id} is not in the keyring`])
    return kek
  }

  function wrap({ key: dataKey, owner }: OwnedKey): Buffer {
    const { id, key } = find(activeId)
    const header = wrapHeader(ALGORITHM, id)
    const material = dataKey.export()
    const encrypted = encrypt(key, material, ownerOf(owner, header))
    material.fill(0)
    return Buffer.concat([header, encrypted])
  }

  function unwrap({ kekId, wrapped, owner }: OwnedWrappedKey): KeyObject {
    const { id, key } = find(kekId)
    const { length } = wrapHeader(ALGORITHM, id)
    const material = decrypt(key, wrapped.subarray(length), ownerOf(owner, wrapped.subarray(0, length)))
    const dataKey = createSecretKey(material)
    material.fill(0)
    return dataKey
  }

  return {
    activeId,
    keys: [...keys.values()].map(({ id, fingerprint }) => ({ id, fingerprint })),
    isRemote: false,
    has: (id) => keys.has(id),
    wrap: (dataKeys) => later(() => dataKeys.map(wrap)),
    unwrap: (stored) => later(() => stored.map(unwrap)),
    check: () => Promise.resolve(),
  }
}

/** Runs synchronous work, and turns its errors into rejections. */
function later<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()))
}
