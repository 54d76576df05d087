import type { KeyObject } from 'node:crypto'
import { DecryptionError, decrypt, encrypt } from './aead.ts'
import { uint32 } from './keyring.ts'

/** The place of a value. It is authenticated with the ciphertext: in the row of another place, it does not decrypt. */
export type ValuePlace = Readonly<{ projectUid: string; env: string; key: string; version: number }>

/** Format 1, algorithm 1 (AES-256-GCM), then the version of the data key in four bytes. */
const HEADER_LENGTH = 6
const LABEL = Buffer.from('vault/value/1')

/**
 * Encrypts a value for its row.
 *
 * @returns format, algorithm, version of the data key, nonce, ciphertext, tag
 */
export function encryptValue(dataKey: KeyObject, dekV: number, place: ValuePlace, value: string): Buffer {
  const header = Buffer.concat([Buffer.from([1, 1]), uint32(dekV)])
  return Buffer.concat([header, encrypt(dataKey, Buffer.from(value), additionalDataOf(header, place))])
}

/**
 * The version of the data key that decrypts a stored value.
 *
 * @throws DecryptionError when the format or the algorithm is unknown
 */
export function dataKeyVersionOf(blob: Buffer): number {
  if (blob.length < HEADER_LENGTH || blob[0] !== 1 || blob[1] !== 1)
    throw new DecryptionError('the stored value has an unknown format')
  return blob.readUInt32BE(2)
}

/**
 * Decrypts a value that `encryptValue` returned for this row.
 *
 * @throws DecryptionError when it was encrypted for another row or with another key, or was changed
 */
export function decryptValue(dataKey: KeyObject, place: ValuePlace, blob: Buffer): string {
  const additionalData = additionalDataOf(blob.subarray(0, HEADER_LENGTH), place)
  return decrypt(dataKey, blob.subarray(HEADER_LENGTH), additionalData).toString('utf8')
}

/** Label, header, then project, environment and key with their lengths, then the version. One buffer, as it is hot. */
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
