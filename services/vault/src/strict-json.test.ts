import { expect, test } from '@jest/globals'
import { parseStrictJson } from './strict-json.ts'

const parse = (text: string) => parseStrictJson(Buffer.from(text))

test.each([
  '{}',
  '[]',
  'null',
  '1.5e3',
  '"a\\"b"',
  '{"a":{"a":1},"b":[{"a":1},{"a":2}]}',
  '{"a":"{\\"a\\":1}","b":":,{"}',
  ' {"a" : "\\\\"} ',
])('parses %s like JSON.parse', (text) => {
  expect(parse(text)).toEqual(JSON.parse(text))
})

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":2}',
  '{"b":{"a":1,"c":2,"a":3}}',
  '[{"a":1},{"a":1,"a":2}]',
  '{"":1,"":2}',
  '{"__proto__":1,"__proto__":2}',
])('refuses the duplicate member of %s', (text) => {
  expect(() => parse(text)).toThrow('duplicate')
})

test.each(['{"a":"\\ud800"}', '{"\\udfff":1}', '["\\ude00\\ud83d"]'])('refuses the lone surrogate of %s', (text) => {
  expect(() => parse(text)).toThrow('lone surrogate')
})

test('accepts an escaped surrogate pair', () => {
  expect(parse('"\\ud83d\\ude00"')).toBe('😀')
})

test.each(['', '{', '{"a":1}x', "{'a':1}", '\ufeff{}', 'undefined'])('refuses %j', (text) => {
  expect(() => parse(text)).toThrow('not JSON')
})

test('refuses bytes that are not UTF-8', () => {
  expect(() => parseStrictJson(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toThrow('not UTF-8')
})

test('parses half a megabyte, however nested or escaped', () => {
  expect(parse(`"${'\\"'.repeat(250_000)}"`)).toBe('"'.repeat(250_000))
  expect(parse(`${'['.repeat(250_000)}${']'.repeat(250_000)}`)).toHaveLength(1)
  expect(parse(`[${'0,'.repeat(250_000)}0]`)).toHaveLength(250_001)
})
