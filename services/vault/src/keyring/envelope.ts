import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto'

const NONCE_LENGTH = 12
const TAG_LENGTH = 16
const ALGORITHM = 'aes-256-gcm'
// By default, Node 20 accepts tags truncated to 4, 8 or 12 bytes.
const OPTIONS = { authTagLength: TAG_LENGTH }

/** A ciphertext that does not decrypt with this key and additional data. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError'
}

/**
 * Encrypts with AES-256-GCM (NIST SP 800-38D) and a random 96-bit nonce.
 *
 * @param additionalData is authenticated but not stored
 * @returns nonce (12 bytes), ciphertext, tag (16 bytes)
 */
export function encrypt(key: KeyObject, plaintext: Uint8Array, additionalData: Uint8Array): Buffer {
  const nonce = randomFillSync(Buffer.allocUnsafe(NONCE_LENGTH))
  const cipher = createCipheriv(ALGORITHM, key, nonce, OPTIONS).setAAD(additionalData)
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/**
 * Decrypts the result of `encrypt`.
 *
 * @throws DecryptionError if the ciphertext, the key or the additional data differs
 */
export function decrypt(key: KeyObject, encrypted: Uint8Array, additionalData: Uint8Array): Buffer {
  const tagStart = encrypted.length - TAG_LENGTH
  if (tagStart < NONCE_LENGTH) throw new DecryptionError('the ciphertext is too short')
  try {
    const decipher = createDecipheriv(ALGORITHM, key, encrypted.subarray(0, NONCE_LENGTH), OPTIONS)
    decipher.setAAD(additionalData).setAuthTag(encrypted.subarray(tagStart))
    const plaintext = decipher.update(encrypted.subarray(NONCE_LENGTH, tagStart))
    decipher.final()
    return plaintext
  } catch (error) {
    throw new DecryptionError('the ciphertext does not decrypt with this key and additional data', { cause: error })
  }
}

/** The place of a value. It is authenticated with the ciphertext, which does not decrypt at any other place. */
export type ValuePlace = {
  readonly projectUid: string
  readonly env: string
  readonly key: string
  readonly version: number
}

/** A value as it is, or one that refers to others. The format is authenticated, so neither can be made the other. */
export type ValueFormat = 'plain' | 'template'

/** Format 1 or 2 (a template), algorithm 1 (AES-256-GCM), then the version of the data key in four bytes. */
const HEADER_LENGTH = 6
const FORMATS: readonly (ValueFormat | undefined)[] = [undefined, 'plain', 'template']
const LABEL = Buffer.from('vault/value/1')

/**
 * Encrypts a value for its place.
 *
 * @returns format, algorithm, version of the data key, nonce, ciphertext, tag
 */
export function encryptValue(
  dataKey: KeyObject,
  dekV: number,
  place: ValuePlace,
  value: string,
  format: ValueFormat = 'plain',
): Buffer {
  const header = Buffer.concat([Buffer.from([FORMATS.indexOf(format), 1]), uint32(dekV)])
  return Buffer.concat([header, encrypt(dataKey, Buffer.from(value), additionalDataOf(header, place))])
}

/**
 * Returns the version of the data key that decrypts a stored value.
 *
 * @throws DecryptionError if the format or the algorithm is unknown
 */
export function dataKeyVersionOf(blob: Buffer): number {
  formatOf(blob)
  return blob.readUInt32BE(2)
}

/**
 * Returns the format of a stored value, which is only certain once the value has been decrypted.
 *
 * @throws DecryptionError if the format or the algorithm is unknown
 */
export function formatOf(blob: Buffer): ValueFormat {
  const format = blob.length < HEADER_LENGTH || blob[1] !== 1 ? undefined : FORMATS[blob[0] ?? 0]
  if (format === undefined) throw new DecryptionError('the stored value has an unknown format')
  return format
}

/** Whether a stored value is a template. That is only certain once the value has been decrypted. */
export function isTemplate(blob: Buffer): boolean {
  return FORMATS[blob[0] ?? 0] === 'template'
}

/**
 * Decrypts a value that `encryptValue` returned for this place.
 *
 * @throws DecryptionError if it was encrypted for another place or with another key, or was changed
 */
export function decryptValue(dataKey: KeyObject, place: ValuePlace, blob: Buffer): string {
  const additionalData = additionalDataOf(blob.subarray(0, HEADER_LENGTH), place)
  return decrypt(dataKey, blob.subarray(HEADER_LENGTH), additionalData).toString('utf8')
}

/** Label, header, then project, environment and key with their lengths, then the version. In one buffer, for speed. */
function additionalDataOf(header: Buffer, place: ValuePlace): Buffer {
  const { projectUid, env, key, version } = place
  // A UTF-16 code unit takes at most three bytes of UTF-8.
  const size = LABEL.length + HEADER_LENGTH + 3 * (projectUid.length + env.length + key.length) + 16
  const data = Buffer.allocUnsafe(size)
  let end = LABEL.copy(data)
  end += header.copy(data, end, 0, HEADER_LENGTH)
  for (const text of [projectUid, env, key]) {
    const length = data.write(text, end + 4, 'utf8')
    end = data.writeUInt32BE(length, end) + length
  }
  return data.subarray(0, data.writeUInt32BE(version, end))
}

/** Four bytes, big-endian. */
export function uint32(n: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(n)
  return bytes
}

/** Each text with its length, so that different lists never give the same result; null differs from an empty text. */
export function encodeColumns(columns: readonly (string | null)[]): string {
  let text = ''
  for (const column of columns) text += column === null ? '-;' : `${String(Buffer.byteLength(column))}:${column}`
  return text
}
