import { expect, test } from '@jest/globals'
import { bearerToken } from './admin.guard.ts'
import { createTokenCheck } from './tokens.ts'

test('accepts exactly the configured tokens', () => {
  const isToken = createTokenCheck(['current-token', 'previous-token'])
  expect(['current-token', 'previous-token'].map(isToken)).toEqual([true, true])
  expect(['', 'current-toke', 'current-token ', 'Current-token', 'current-tokenprevious-token'].map(isToken)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ])
})

test.each([
  ['Bearer abc', 'abc'],
  ['bearer a+b/c==', 'a+b/c=='],
  ['BEARER   abc', 'abc'],
  [undefined, undefined],
  ['', undefined],
  ['Bearer', undefined],
  ['Bearer ', undefined],
  ['Bearer a b', undefined],
  ['Bearerabc', undefined],
  ['Basic abc', undefined],
  ['Bearer abc, Bearer def', undefined],
])('the token of the header %j is %j', (header, expected) => {
  expect(bearerToken(header)).toBe(expected)
})
