import type { KeyObject } from 'node:crypto'
import { BoxError, openBox, sealBox } from './box.ts'
import { uint32 } from './keyring.ts'

/** What a value belongs to. All of it is bound into the ciphertext: moved to another row, it does not open. */
export type ValuePlace = Readonly<{ projectUid: string; env: string; key: string; version: number }>

/** Format 1, algorithm 1 (AES-256-GCM), then the data key's version in four bytes. */
const HEADER_LENGTH = 6
const LABEL = Buffer.from('vault/value/1')

/**
 * Encrypts a value for its row.
 *
 * @returns format, algorithm, data key version, nonce, ciphertext, tag
 */
export function sealValue(dataKey: KeyObject, dekV: number, place: ValuePlace, value: string): Buffer {
  const header = Buffer.concat([Buffer.from([1, 1]), uint32(dekV)])
  return Buffer.concat([header, sealBox(dataKey, Buffer.from(value), contextOf(header, place))])
}

/**
 * The version of the data key that a stored value needs.
 *
 * @throws BoxError when the blob is not one of ours
 */
export function dataKeyVersionOf(blob: Buffer): number {
  if (blob.length < HEADER_LENGTH || blob[0] !== 1 || blob[1] !== 1)
    throw new BoxError('the stored value has an unknown format')
  return blob.readUInt32BE(2)
}

/**
 * Decrypts a value that `sealValue` made for this very row.
 *
 * @throws BoxError when it was made for another one, or with another key, or was changed
 */
export function openValue(dataKey: KeyObject, place: ValuePlace, blob: Buffer): string {
  const context = contextOf(blob.subarray(0, HEADER_LENGTH), place)
  return openBox(dataKey, blob.subarray(HEADER_LENGTH), context).toString('utf8')
}

/** Label, header, then project, environment and key with their lengths, then the version: written in one go. */
function contextOf(header: Buffer, place: ValuePlace): Buffer {
  const { projectUid, env, key, version } = place
  // A character of UTF-16 takes three bytes of UTF-8 at most.
  const room = LABEL.length + HEADER_LENGTH + 3 * (projectUid.length + env.length + key.length) + 16
  const context = Buffer.allocUnsafe(room)
  let end = LABEL.copy(context)
  end += header.copy(context, end, 0, HEADER_LENGTH)
  for (const text of [projectUid, env, key]) {
    const length = context.write(text, end + 4, 'utf8')
    end = context.writeUInt32BE(length, end) + length
  }
  return context.subarray(0, context.writeUInt32BE(version, end))
}
