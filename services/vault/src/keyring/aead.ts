import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto'

const NONCE_LENGTH = 12
const TAG_LENGTH = 16
const ALGORITHM = 'aes-256-gcm'
// Without it Node 20 accepts tags truncated to 4, 8 or 12 bytes.
const OPTIONS = { authTagLength: TAG_LENGTH }

/** A ciphertext that does not decrypt with this key and additional data. Does not tell which of them differs. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError'
}

/**
 * Encrypts with AES-256-GCM (NIST SP 800-38D) and a random 96-bit nonce.
 *
 * @param additionalData authenticated and not stored: what the plaintext belongs to
 * @returns nonce (12 bytes), ciphertext, tag (16 bytes)
 */
export function encrypt(key: KeyObject, plaintext: Uint8Array, additionalData: Uint8Array): Buffer {
  const nonce = randomFillSync(Buffer.allocUnsafe(NONCE_LENGTH))
  const cipher = createCipheriv(ALGORITHM, key, nonce, OPTIONS).setAAD(additionalData)
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/**
 * Decrypts what `encrypt` returned.
 *
 * @throws DecryptionError when a bit of the ciphertext, the key or the additional data differs
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
