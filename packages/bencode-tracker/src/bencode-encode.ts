import { BencodeError } from './bencode-error.ts'

/** A value that is bencoded already and goes into the output as it is. */
export class RawBencode {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** A dictionary to encode: a record, whose undefined values are left out, or a map. */
export type BencodeInputDict = Map<string, BencodeInput> | { readonly [key: string]: BencodeInput | undefined }

/**
 * What {@link encodeBencode} takes. Strings are encoded as UTF-8, byte arrays as they are. Dictionary keys have one
 * character U+0000 to U+00FF for each byte, as the decoder gives them.
 */
export type BencodeInput = number | string | Uint8Array | RawBencode | readonly BencodeInput[] | BencodeInputDict

const MAX_DEPTH = 64
const DICT = Buffer.from('d')
const LIST = Buffer.from('l')
const END = Buffer.from('e')

/**
 * Encodes a value (BEP 3, "bencoding"), keys in ascending byte order whatever bytes they hold.
 *
 * @throws {BencodeError} `not_encodable` for a number that is not a safe integer and a key beyond U+00FF,
 *   `too_deep` for more than 64 levels.
 */
export function encodeBencode(value: BencodeInput): Buffer {
  const chunks: Uint8Array[] = []
  append(chunks, value, 0)
  return Buffer.concat(chunks)
}

function append(chunks: Uint8Array[], value: BencodeInput, depth: number): void {
  if (depth > MAX_DEPTH) throw new BencodeError('too_deep', 0)
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new BencodeError('not_encodable', 0)
    // String(-0) is "0", so negative zero cannot leave here as i-0e.
    chunks.push(Buffer.from(`i${value}e`, 'latin1'))
  } else if (typeof value === 'string') {
    appendBytes(chunks, Buffer.from(value, 'utf8'))
  } else if (value instanceof Uint8Array) {
    appendBytes(chunks, value)
  } else if (value instanceof RawBencode) {
    chunks.push(value.bytes)
  } else if (isList(value)) {
    chunks.push(LIST)
    for (const item of value) append(chunks, item, depth + 1)
    chunks.push(END)
  } else {
    appendDict(chunks, value instanceof Map ? [...value] : Object.entries(value), depth)
  }
}

function appendDict(chunks: Uint8Array[], entries: [string, BencodeInput | undefined][], depth: number): void {
  chunks.push(DICT)
  // UTF-16 code units compare like bytes as long as none is above 0xff, which appendKey makes sure of.
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [key, value] of entries) {
    if (value === undefined) continue
    appendKey(chunks, key)
    append(chunks, value, depth + 1)
  }
  chunks.push(END)
}

function appendKey(chunks: Uint8Array[], key: string): void {
  for (let i = 0; i < key.length; i++) {
    if (key.charCodeAt(i) > 0xff) throw new BencodeError('not_encodable', 0)
  }
  appendBytes(chunks, Buffer.from(key, 'latin1'))
}

function appendBytes(chunks: Uint8Array[], bytes: Uint8Array): void {
  chunks.push(Buffer.from(`${bytes.byteLength}:`, 'latin1'), bytes)
}

function isList(value: readonly BencodeInput[] | BencodeInputDict): value is readonly BencodeInput[] {
  return Array.isArray(value)
}
