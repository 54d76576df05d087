import { describe, expect, test } from '@jest/globals'
import { BENCODE_ERRORS } from '../src/bencode/error.ts'
import { BencodeError, type BencodeErrorCode, type BencodeOptions, decodeBencode, rawSlice } from '../src/testing.ts'
import { toPlain } from './support/plain.ts'

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

function refusal(text: string, options?: BencodeOptions): { code: BencodeErrorCode; offset: number } | undefined {
  try {
    decodeBencode(bytes(text), options)
    return undefined
  } catch (error) {
    if (!(error instanceof BencodeError)) throw error
    expect(error.message).toContain(BENCODE_ERRORS[error.code])
    return { code: error.code, offset: error.offset }
  }
}

describe('decodeBencode reads', () => {
  const readings: [string, unknown][] = [
    ['i0e', 0],
    ['i42e', 42],
    ['i-1e', -1],
    ['i9007199254740991e', Number.MAX_SAFE_INTEGER],
    ['i-9007199254740991e', Number.MIN_SAFE_INTEGER],
    ['0:', ''],
    ['4:spam', 'spam'],
    ['4:\x00\x80\xfe\xff', '\x00\x80\xfe\xff'],
    ['le', []],
    ['l4:spami-3elee', ['spam', -3, []]],
    ['de', {}],
    ['d3:cow3:moo4:spaml1:a1:bee', { cow: 'moo', spam: ['a', 'b'] }],
    ['d0:i1e1:\x80i2e1:\xffi3ee', { '': 1, '\x80': 2, '\xff': 3 }],
  ]
  test.each(readings)('%j', (text, value) => {
    expect(toPlain(decodeBencode(bytes(text)))).toEqual(value)
  })

  test('only the bytes of a view into a larger buffer', () => {
    const larger = bytes('xxi42exx')
    expect(toPlain(decodeBencode(new Uint8Array(larger.buffer, larger.byteOffset + 2, 4)))).toBe(42)
  })

  test('a key named __proto__ as an ordinary key', () => {
    const value = decodeBencode(bytes('d9:__proto__i1ee'))
    expect(value.kind === 'dict' && [...value.entries.keys()]).toEqual(['__proto__'])
  })

  test('nesting up to the bound', () => {
    expect(refusal('l'.repeat(64) + 'e'.repeat(64))).toBeUndefined()
    expect(refusal('lllleeee', { maxDepth: 4 })).toBeUndefined()
  })

  test('unsorted keys when the caller asks for it', () => {
    const value = decodeBencode(bytes('d1:bi1e1:ai2ee'), { requireSortedKeys: false })
    expect(value.kind === 'dict' && [...value.entries.keys()]).toEqual(['b', 'a'])
  })

  test('each value with the exact bytes it was read from', () => {
    const source = bytes('d4:infod1:ai1e1:b2:xye1:zlee')
    const root = decodeBencode(source)
    if (root.kind !== 'dict') throw new TypeError('not a dictionary')
    expect(rawSlice(source, root).toString()).toBe(source.toString())
    const slices = [...root.entries].map(([key, value]) => [key, rawSlice(source, value).toString()])
    expect(slices).toEqual([
      ['info', 'd1:ai1e1:b2:xye'],
      ['z', 'le'],
    ])
  })
})

describe('decodeBencode refuses', () => {
  const refusals: [string, string, BencodeErrorCode, number][] = [
    ['empty input', '', 'unexpected_end', 0],
    ['a foreign byte', 'x', 'unexpected_byte', 0],
    ['a stray end', 'e', 'unexpected_byte', 0],
    ['a minus sign where a value starts', '-1:a', 'unexpected_byte', 0],
    ['an integer without digits', 'ie', 'integer_not_canonical', 1],
    ['an integer of a minus sign alone', 'i-e', 'integer_not_canonical', 2],
    ['a leading zero', 'i01e', 'integer_not_canonical', 1],
    ['a double zero', 'i00e', 'integer_not_canonical', 1],
    ['a negative leading zero', 'i-01e', 'integer_not_canonical', 2],
    ['negative zero', 'i-0e', 'integer_not_canonical', 0],
    ['a plus sign', 'i+1e', 'integer_not_canonical', 1],
    ['a space in an integer', 'i 1e', 'integer_not_canonical', 1],
    ['a fraction', 'i1.5e', 'integer_not_canonical', 2],
    ['an exponent spelled with a foreign letter', 'i1E5e', 'integer_not_canonical', 2],
    ['an integer of 2^53', 'i9007199254740992e', 'integer_out_of_range', 1],
    ['an integer of -(2^53)', 'i-9007199254740992e', 'integer_out_of_range', 2],
    ['an integer that does not end', 'i12', 'unexpected_end', 3],
    ['a string length with a leading zero', '01:a', 'length_not_canonical', 0],
    ['a string length with a foreign character', '1x:a', 'length_not_canonical', 1],
    ['a string length that does not end', '12', 'unexpected_end', 2],
    ['a string cut off', '5:spam', 'unexpected_end', 6],
    ['a string length of nine digits without the bytes', '9999999:a', 'unexpected_end', 9],
    ['a string length beyond the input bound', '99999999999:a', 'string_too_long', 0],
    ['a list that does not end', 'li1e', 'unexpected_end', 4],
    ['a dictionary that does not end', 'd1:ai1e', 'unexpected_end', 7],
    ['a dictionary that ends behind a key', 'd1:ae', 'unexpected_byte', 4],
    ['an integer for a key', 'di1ei1ee', 'key_not_a_string', 1],
    ['a list for a key', 'dlei1ee', 'key_not_a_string', 1],
    ['unsorted keys', 'd1:bi1e1:ai2ee', 'keys_not_sorted', 7],
    ['keys sorted by length instead of bytes', 'd1:bi1e2:aai2ee', 'keys_not_sorted', 7],
    ['keys sorted as signed bytes', 'd1:\xffi1e1:\x01i2ee', 'keys_not_sorted', 7],
    ['a key given twice', 'd1:ai1e1:ai2ee', 'duplicate_key', 7],
    ['a second value', 'i1ei2e', 'trailing_data', 3],
    ['a line break at the end', 'i1e\n', 'trailing_data', 3],
    ['nesting one level too deep', 'l'.repeat(65) + 'e'.repeat(65), 'too_deep', 64],
    ['an abyss of lists', 'l'.repeat(1_000_000), 'too_deep', 64],
  ]
  test.each(refusals)('%s', (_fact, text, code, offset) => {
    expect(refusal(text)).toEqual({ code, offset })
  })

  test('a key given twice even when keys need not be sorted', () => {
    const options = { requireSortedKeys: false }
    expect(refusal('d1:bi1e1:ai2e1:bi3ee', options)).toEqual({ code: 'duplicate_key', offset: 13 })
  })

  test('input above its bound', () => {
    expect(refusal('4:spam', { maxBytes: 6 })).toBeUndefined()
    expect(refusal('4:spam', { maxBytes: 5 })?.code).toBe('input_too_large')
  })

  test('strings and keys above their bound', () => {
    expect(refusal('4:spam', { maxStringLength: 4 })).toBeUndefined()
    expect(refusal('4:spam', { maxStringLength: 3 })?.code).toBe('string_too_long')
    expect(refusal('d4:spami1ee', { maxStringLength: 3 })?.code).toBe('string_too_long')
  })

  test('more values than its bound', () => {
    expect(refusal('llelelee', { maxValues: 4 })).toBeUndefined()
    expect(refusal('llelelee', { maxValues: 3 })?.code).toBe('too_many_values')
  })

  test('a megabyte of digits without reading them all', () => {
    expect(refusal(`i${'9'.repeat(1_000_000)}e`)).toEqual({ code: 'integer_out_of_range', offset: 1 })
    expect(refusal('9'.repeat(1_000_000))).toEqual({ code: 'string_too_long', offset: 0 })
  })
})
