import { BencodeError } from './error.ts'
import { BencodeWriter } from './writer.ts'

/** An encoded value that is written unchanged. */
export class RawBencode {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** A dictionary to encode: a map, or a record, whose undefined values are omitted. */
export type BencodeInputDict = Map<string, BencodeInput> | { readonly [key: string]: BencodeInput | undefined }

/**
 * The input of {@link encodeBencode}. Strings are encoded as UTF-8, byte arrays unchanged. Dictionary keys have one
 * character U+0000 to U+00FF per byte, as from the decoder.
 */
export type BencodeInput = number | string | Uint8Array | RawBencode | readonly BencodeInput[] | BencodeInputDict

const MAX_DEPTH = 64
const INITIAL_CAPACITY = 1024
const DICT = Buffer.from('d')
const LIST = Buffer.from('l')
const END = Buffer.from('e')

/**
 * Encodes a value (BEP 3, "bencoding") with keys in ascending byte order.
 *
 * @throws {BencodeError} `not_encodable` for a number that is not a safe integer and a key beyond U+00FF,
 *   `too_deep` for more than 64 levels.
 */
export function encodeBencode(value: BencodeInput): Buffer {
  const writer = new BencodeWriter(INITIAL_CAPACITY)
  write(writer, value, 0)
  return writer.finish()
}

function write(writer: BencodeWriter, value: BencodeInput, depth: number): void {
  if (depth > MAX_DEPTH) throw new BencodeError('too_deep', 0)
  if (typeof value === 'number') {
    writer.integer(value)
  } else if (typeof value === 'string') {
    writer.text(value)
  } else if (value instanceof Uint8Array) {
    writer.bytes(value)
  } else if (value instanceof RawBencode) {
    writer.raw(value.bytes)
  } else if (isList(value)) {
    writer.raw(LIST)
    for (const item of value) write(writer, item, depth + 1)
    writer.raw(END)
  } else {
    writeDict(writer, value instanceof Map ? [...value] : Object.entries(value), depth)
  }
}

function writeDict(writer: BencodeWriter, entries: [string, BencodeInput | undefined][], depth: number): void {
  writer.raw(DICT)
  // UTF-16 code units up to 0xff compare like bytes, and writeKey refuses others.
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [key, value] of entries) {
    if (value === undefined) continue
    writeKey(writer, key)
    write(writer, value, depth + 1)
  }
  writer.raw(END)
}

function writeKey(writer: BencodeWriter, key: string): void {
  for (let i = 0; i < key.length; i++) {
    if (key.charCodeAt(i) > 0xff) throw new BencodeError('not_encodable', 0)
  }
  writer.latin1(key)
}

function isList(value: readonly BencodeInput[] | BencodeInputDict): value is readonly BencodeInput[] {
  return Array.isArray(value)
}
