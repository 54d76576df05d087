import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { DecryptionError, encodeColumns } from './envelope.ts'
import {
  type KeyName,
  type KeyProvider,
  KeyringError,
  type OwnedKey,
  ownerOf,
  type WrappedKey,
  wrapHeader,
} from './keyring.ts'

/** A key of the service, with the time at which each version was created, in seconds since the Unix epoch. */
export type TransitKey = {
  readonly type: string
  readonly derived: boolean
  readonly versions: ReadonlyMap<number, number>
}

/** A service with the transit API of HashiCorp Vault and OpenBao. Each method sends one request. */
export type TransitClient = {
  readKey(): Promise<TransitKey>
  /** Returns `vault:v<version>:<base64>` for each. */
  encrypt(plaintexts: readonly Buffer[], version: number): Promise<readonly string[]>
  /** @throws DecryptionError if the service refuses any of them */
  decrypt(ciphertexts: readonly string[]): Promise<readonly Buffer[]>
  /** Encrypts again with another version, without revealing the plaintext. @throws DecryptionError */
  rewrap(ciphertexts: readonly string[], version: number): Promise<readonly string[]>
}

/**
 * A ciphertext of the service, after a check value of the data key that the service never sees. If the service returns a
 * wrong key, this is noticed before anything is encrypted with it.
 */
const ALGORITHM = 3
/** The format of earlier releases, without a check value. */
const UNCHECKED = 2
const CHECK_LENGTH = 16

/** The types of keys with authenticated encryption, which binds a data key to its owner. */
const TYPES = ['aes256-gcm96', 'aes128-gcm96', 'chacha20-poly1305', 'xchacha20-poly1305']

/** Longer names would exceed the length of an id. */
const KEY_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/

/** Whether a text can be the name of a transit key. */
export function isTransitKeyName(text: string): boolean {
  return KEY_NAME.test(text)
}

/**
 * Wraps data keys with a key that never leaves a transit service. Each version is a separate key-encryption key,
 * `transit.<name>.v<version>`; the newest one at the start wraps.
 *
 * A digest of the owner is encrypted with the data key instead of being sent as associated data, because the service
 * cannot rewrap ciphertexts with associated data.
 *
 * @throws KeyringError if the key cannot be used; UnavailableError if the service does not respond
 */
export async function createTransitKeys(client: TransitClient, name: string): Promise<KeyProvider> {
  const { keys, newest } = await readVersions()
  const activeId = idOf(newest)

  function idOf(version: number): string {
    return `transit.${name}.v${String(version)}`
  }

  function versionOf(id: string): number | undefined {
    const prefix = `transit.${name}.v`
    return id.startsWith(prefix) && /^[1-9]\d{0,8}$/.test(id.slice(prefix.length))
      ? Number(id.slice(prefix.length))
      : undefined
  }

  async function readVersions(): Promise<{ keys: readonly KeyName[]; newest: number }> {
    const { type, derived, versions } = await client.readKey()
    if (!TYPES.includes(type)) throw new KeyringError([`the transit key ${name} must be of type ${TYPES.join(' or ')}`])
    if (derived) throw new KeyringError([`the transit key ${name} must not be derived`])
    const known = [...versions].map(([version, createdAt]) => ({
      id: idOf(version),
      fingerprint: fingerprintOf(version, createdAt),
    }))
    const last = Math.max(0, ...versions.keys())
    if (last === 0) throw new KeyringError([`the transit key ${name} has no version`])
    return { keys: known, newest: last }
  }

  /** Distinguishes a key from a later one of the same name. */
  function fingerprintOf(version: number, createdAt: number): string {
    const text = encodeColumns(['vault/transit-fp/1', name, String(version), String(createdAt)])
    return createHash('sha256').update(text).digest('hex').slice(0, 16)
  }

  function toWrapped(ciphertext: string, check: Buffer | undefined): Buffer {
    if (!ciphertext.startsWith(`vault:v${String(newest)}:`))
      throw new KeyringError([`the transit key ${name} did not encrypt with version ${String(newest)}`])
    return join(activeId, { check, ciphertext })
  }

  return {
    activeId,
    keys,
    isRemote: true,
    has: (id) => versionOf(id) !== undefined,

    wrap: async (dataKeys) => {
      const plaintexts = dataKeys.map(withOwner)
      const ciphertexts = await client.encrypt(plaintexts, newest)
      for (const plaintext of plaintexts) plaintext.fill(0)
      return ciphertexts.map((ciphertext, i) => toWrapped(ciphertext, dataKeys[i] && checkOf(dataKeys[i])))
    },

    unwrap: async (stored) => {
      const parts = stored.map(partsOf)
      const plaintexts = await client.decrypt(parts.map(({ ciphertext }) => ciphertext))
      return plaintexts.map((plaintext, i) => {
        const { owner } = stored[i] ?? {}
        if (owner === undefined) throw new KeyringError([`the transit key ${name} returned too many results`])
        const key = withoutOwner(plaintext, digestOf(owner))
        const check = parts[i]?.check
        if (check !== undefined && !timingSafeEqual(check, checkOf({ key, owner })))
          throw new DecryptionError('the transit service returned a wrong key')
        return key
      })
    },

    withCheck: (stored, key) => {
      const { check, ciphertext } = partsOf(stored)
      return check === undefined ? join(stored.kekId, { check: checkOf({ ...stored, key }), ciphertext }) : undefined
    },

    rewrap: async (stored) => {
      const parts = stored.map(partsOf)
      const ciphertexts = await client.rewrap(
        parts.map(({ ciphertext }) => ciphertext),
        newest,
      )
      return ciphertexts.map((ciphertext, i) => toWrapped(ciphertext, parts[i]?.check))
    },

    check: async () => {
      await readVersions()
    },
  }
}

function digestOf(owner: OwnedKey['owner']): Buffer {
  return createHash('sha256')
    .update('vault/transit/1')
    .update(ownerOf(owner, Buffer.alloc(0)))
    .digest()
}

/** A digest of the owner (32 bytes), then the key. */
function withOwner({ key, owner }: OwnedKey): Buffer {
  const material = key.export()
  const plaintext = Buffer.concat([digestOf(owner), material])
  material.fill(0)
  return plaintext
}

function withoutOwner(plaintext: Buffer, digest: Buffer): KeyObject {
  if (plaintext.length !== 64 || !timingSafeEqual(plaintext.subarray(0, 32), digest))
    throw new DecryptionError('the data key was wrapped for another owner')
  const key = createSecretKey(plaintext.subarray(32))
  plaintext.fill(0)
  return key
}

/** A check value reveals nothing about the key, which is random. */
function checkOf({ key, owner }: OwnedKey): Buffer {
  const whole = createHmac('sha256', key)
    .update('vault/data-key-check/1')
    .update(ownerOf(owner, Buffer.alloc(0)))
    .digest()
  return whole.subarray(0, CHECK_LENGTH)
}

type Parts = { readonly check: Buffer | undefined; readonly ciphertext: string }

function join(kekId: string, { check, ciphertext }: Parts): Buffer {
  const header = wrapHeader(check === undefined ? UNCHECKED : ALGORITHM, kekId)
  return Buffer.concat([header, ...(check === undefined ? [] : [check]), Buffer.from(ciphertext)])
}

function partsOf({ kekId, wrapped }: WrappedKey): Parts {
  const header = wrapHeader(ALGORITHM, kekId)
  const start = wrapped.subarray(0, header.length)
  const rest = wrapped.subarray(header.length)
  if (start.equals(wrapHeader(UNCHECKED, kekId))) return { check: undefined, ciphertext: rest.toString('latin1') }
  if (!start.equals(header) || rest.length < CHECK_LENGTH)
    throw new DecryptionError('the wrapped data key has an unknown format')
  return { check: rest.subarray(0, CHECK_LENGTH), ciphertext: rest.subarray(CHECK_LENGTH).toString('latin1') }
}
