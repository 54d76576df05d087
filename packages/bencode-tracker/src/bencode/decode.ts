import { BencodeError } from './error.ts'

/** `start` and `end` are the byte range of the encoded value, including prefix and terminator. */
type Span = {
  readonly start: number
  readonly end: number
}

/** An integer between -(2^53 - 1) and 2^53 - 1. */
export type BencodeInteger = {
  readonly kind: 'integer'
  readonly value: number
} & Span

/** A byte string; `value` is a view of the input, not a copy. */
export type BencodeBytes = {
  readonly kind: 'bytes'
  readonly value: Buffer
} & Span

export type BencodeList = {
  readonly kind: 'list'
  readonly items: readonly BencodeValue[]
} & Span

/** A dictionary in the order of its keys. A key has one character U+0000 to U+00FF per byte. */
export type BencodeDict = {
  readonly kind: 'dict'
  readonly entries: ReadonlyMap<string, BencodeValue>
} & Span

export type BencodeValue = BencodeInteger | BencodeBytes | BencodeList | BencodeDict

/** Bounds of {@link decodeBencode}. */
export type BencodeOptions = {
  /** Largest input in bytes. Default 10 MiB. */
  readonly maxBytes?: number
  /** Deepest nesting of lists and dictionaries; a bare string has depth 0. Default 64. */
  readonly maxDepth?: number
  /** Longest byte string, including keys. Default: `maxBytes`. */
  readonly maxStringLength?: number
  /** Maximum number of values, without keys. Bounds the memory for small hostile inputs. Default 500,000. */
  readonly maxValues?: number
  /** Refuse dictionaries with unsorted keys (BEP 3). Default true. Duplicates are always refused. */
  readonly requireSortedKeys?: boolean
}

const END = 0x65
const DICT = 0x64
const INTEGER = 0x69
const LIST = 0x6c
const COLON = 0x3a
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39

/**
 * Strictly decodes exactly one bencoded value (BEP 3, "bencoding"): canonical integers and lengths, sorted and unique
 * keys, no trailing data, and limits on everything. Each value has its byte range in the input, so that
 * {@link rawSlice} can return, for example, the exact bytes for the info hash.
 *
 * @throws {BencodeError} and no other error.
 */
export function decodeBencode(bytes: Uint8Array, options: BencodeOptions = {}): BencodeValue {
  const decoder = new Decoder(bytes, options)
  return decoder.decode()
}

/** The exact bytes from which `value` was decoded: a view of `source`, which must be the decoder's input. */
export function rawSlice(source: Uint8Array, value: BencodeValue): Buffer {
  return Buffer.from(source.buffer, source.byteOffset + value.start, value.end - value.start)
}

class Decoder {
  private readonly bytes: Buffer
  private readonly maxBytes: number
  private readonly maxDepth: number
  private readonly maxStringLength: number
  private readonly maxValues: number
  private readonly requireSortedKeys: boolean
  private position = 0
  private values = 0

  constructor(bytes: Uint8Array, options: BencodeOptions) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.maxBytes = options.maxBytes ?? 10 * 1024 * 1024
    this.maxDepth = options.maxDepth ?? 64
    this.maxStringLength = options.maxStringLength ?? this.maxBytes
    this.maxValues = options.maxValues ?? 500_000
    this.requireSortedKeys = options.requireSortedKeys ?? true
  }

  decode(): BencodeValue {
    if (this.bytes.length > this.maxBytes) throw new BencodeError('input_too_large', this.maxBytes)
    const value = this.value(0)
    if (this.position !== this.bytes.length) throw new BencodeError('trailing_data', this.position)
    return value
  }

  private value(depth: number): BencodeValue {
    this.values += 1
    if (this.values > this.maxValues) throw new BencodeError('too_many_values', this.position)
    const first = this.peek()
    if (first === INTEGER) return this.integer()
    if (first === LIST) return this.list(depth + 1)
    if (first === DICT) return this.dict(depth + 1)
    if (isDigit(first)) return this.byteString()
    throw new BencodeError('unexpected_byte', this.position)
  }

  private integer(): BencodeInteger {
    const start = this.position
    this.position += 1
    const negative = this.peek() === MINUS
    if (negative) this.position += 1
    const value = this.digits(END, 'integer_not_canonical', Number.MAX_SAFE_INTEGER, 'integer_out_of_range')
    if (negative && value === 0) throw new BencodeError('integer_not_canonical', start)
    return { kind: 'integer', value: negative ? -value : value, start, end: this.position }
  }

  private byteString(): BencodeBytes {
    const start = this.position
    const length = this.digits(COLON, 'length_not_canonical', this.maxStringLength, 'string_too_long')
    const from = this.position
    // Checked before allocating, because an attacker can claim any length. The subtraction cannot overflow.
    if (length > this.bytes.length - from) throw new BencodeError('unexpected_end', this.bytes.length)
    this.position = from + length
    return { kind: 'bytes', value: this.bytes.subarray(from, this.position), start, end: this.position }
  }

  private list(depth: number): BencodeList {
    const start = this.enter(depth)
    const items: BencodeValue[] = []
    while (this.peek() !== END) items.push(this.value(depth))
    this.position += 1
    return { kind: 'list', items, start, end: this.position }
  }

  private dict(depth: number): BencodeDict {
    const start = this.enter(depth)
    const entries = new Map<string, BencodeValue>()
    let previous: string | undefined
    while (this.peek() !== END) {
      const at = this.position
      if (!isDigit(this.peek())) throw new BencodeError('key_not_a_string', at)
      // Latin-1 strings compare like their bytes, which is the order of BEP 3.
      const key = this.byteString().value.toString('latin1')
      if (entries.has(key)) throw new BencodeError('duplicate_key', at)
      if (this.requireSortedKeys && previous !== undefined && key < previous) {
        throw new BencodeError('keys_not_sorted', at)
      }
      entries.set(key, this.value(depth))
      previous = key
    }
    this.position += 1
    return { kind: 'dict', entries, start, end: this.position }
  }

  private enter(depth: number): number {
    const start = this.position
    if (depth > this.maxDepth) throw new BencodeError('too_deep', start)
    this.position += 1
    return start
  }

  /** Reads digits up to and including `terminator`. */
  private digits(
    terminator: number,
    malformed: 'integer_not_canonical' | 'length_not_canonical',
    max: number,
    tooLarge: 'integer_out_of_range' | 'string_too_long',
  ): number {
    const start = this.position
    let value = 0
    for (;;) {
      const byte = this.peek()
      if (byte === terminator) break
      if (!isDigit(byte)) throw new BencodeError(malformed, this.position)
      if (this.position > start && value === 0) throw new BencodeError(malformed, start)
      value = value * 10 + (byte - ZERO)
      // Checked at each digit, so that a megabyte of digits fails at the seventeenth.
      if (value > max) throw new BencodeError(tooLarge, start)
      this.position += 1
    }
    if (this.position === start) throw new BencodeError(malformed, start)
    this.position += 1
    return value
  }

  private peek(): number {
    const byte = this.bytes[this.position]
    if (byte === undefined) throw new BencodeError('unexpected_end', this.position)
    return byte
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE
}
