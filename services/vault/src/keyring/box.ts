import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto'

const NONCE_LENGTH = 12
const TAG_LENGTH = 16
const ALGORITHM = 'aes-256-gcm'
// Without it Node 20 accepts tags cut to 4, 8 or 12 bytes.
const OPTIONS = { authTagLength: TAG_LENGTH }

/** A ciphertext that does not open under this key and context. Says nothing about why. */
export class BoxError extends Error {
  override readonly name = 'BoxError'
}

/**
 * Encrypts with AES-256-GCM under a fresh random nonce.
 *
 * @param context additional data that is authenticated and not stored: what the plaintext belongs to
 * @returns 12 bytes of nonce, the ciphertext, 16 bytes of tag
 */
export function sealBox(key: KeyObject, plaintext: Uint8Array, context: Uint8Array): Buffer {
  const nonce = randomFillSync(Buffer.allocUnsafe(NONCE_LENGTH))
  const cipher = createCipheriv(ALGORITHM, key, nonce, OPTIONS).setAAD(context)
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/**
 * Decrypts what `sealBox` made.
 *
 * @throws BoxError when a bit of the box, the key or the context differs
 */
export function openBox(key: KeyObject, box: Uint8Array, context: Uint8Array): Buffer {
  const end = box.length - TAG_LENGTH
  if (end < NONCE_LENGTH) throw new BoxError('the ciphertext is too short')
  try {
    const decipher = createDecipheriv(ALGORITHM, key, box.subarray(0, NONCE_LENGTH), OPTIONS)
    decipher.setAAD(context).setAuthTag(box.subarray(end))
    const plaintext = decipher.update(box.subarray(NONCE_LENGTH, end))
    decipher.final()
    return plaintext
  } catch (error) {
    throw new BoxError('the ciphertext does not open under this key and context', { cause: error })
  }
}
