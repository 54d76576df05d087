import { describe, expect, test } from '@jest/globals'
import npmBencode from 'bencode'
import fc from 'fast-check'
import { BencodeError, type BencodeInput, decodeBencode, encodeBencode, RawBencode } from '../src/testing.ts'
import { type Plain, toPlain } from './support/plain.ts'
import { RUNS } from './support/random.ts'

const text = (value: BencodeInput): string => encodeBencode(value).toString('latin1')

function refusal(value: BencodeInput): string | undefined {
  try {
    encodeBencode(value)
    return undefined
  } catch (error) {
    if (!(error instanceof BencodeError)) throw error
    return error.code
  }
}

describe('encodeBencode writes', () => {
  const writings: [string, BencodeInput, string][] = [
    ['integers', [0, 42, -7, Number.MAX_SAFE_INTEGER], 'li0ei42ei-7ei9007199254740991ee'],
    ['negative zero as zero', -0, 'i0e'],
    ['strings as UTF-8', 'é', '2:\xc3\xa9'],
    ['byte arrays as they are', Buffer.from([0, 255]), '2:\x00\xff'],
    ['records by sorted keys', { b: 1, a: 2, 'a b': 3 }, 'd1:ai2e3:a bi3e1:bi1ee'],
    [
      'maps by the bytes of their keys',
      new Map([
        ['\xff', 1],
        ['\x80', 2],
        ['', 3],
      ]),
      'd0:i3e1:\x80i2e1:\xffi1ee',
    ],
    ['undefined values not at all', { a: undefined, b: 1 }, 'd1:bi1ee'],
    ['raw values untouched', { a: new RawBencode(Buffer.from('d1:z0:1:ai1ee')) }, 'd1:ad1:z0:1:ai1eee'],
    ['empty containers', [[], {}, new Map()], 'llededee'],
  ]
  test.each(writings)('%s', (_fact, value, expected) => {
    expect(text(value)).toBe(expected)
  })
})

describe('encodeBencode refuses', () => {
  test.each([
    ['a fraction', 1.5],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['an integer that is not safe', 2 ** 53],
    ['a key that is not bytes', { '\u0100': 1 }],
  ])('%s', (_fact, value) => {
    expect(refusal(value)).toBe('not_encodable')
  })

  test('a value that contains itself', () => {
    const list: BencodeInput[] = []
    list.push(list)
    expect(refusal(list)).toBe('too_deep')
  })
})

/** Values that the npm package can represent too: ASCII keys, and strings as bytes. */
const anyValue: fc.Arbitrary<Exclude<BencodeInput, string | RawBencode>> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.integer(),
    fc.uint8Array({ maxLength: 40 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ unit: 'grapheme-ascii', maxLength: 5 }), tie('value'), { maxKeys: 4 }),
  ),
})).value as fc.Arbitrary<Exclude<BencodeInput, string | RawBencode>>

function npmToPlain(value: unknown): Plain {
  if (typeof value === 'number') return value
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  if (Array.isArray(value)) return value.map(npmToPlain)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, npmToPlain(item)]))
  }
  throw new TypeError(`npm bencode gave a ${typeof value}`)
}

describe(`against the independent npm implementation (FUZZ_SEED=${RUNS.seed})`, () => {
  const values = anyValue.map((value) => [value])
  const runs = { ...RUNS, numRuns: RUNS.numRuns / 8 }

  test('both write the same bytes', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(encodeBencode(value).toString('latin1')).toBe(Buffer.from(npmBencode.encode(value)).toString('latin1'))
      }),
      runs,
    )
  })

  test('each reads what the other writes', () => {
    fc.assert(
      fc.property(values, (value) => {
        const ours = toPlain(decodeBencode(npmBencode.encode(value)))
        const theirs = npmToPlain(npmBencode.decode(encodeBencode(value)))
        expect(ours).toEqual(theirs)
      }),
      runs,
    )
  })
})
