import { expect, test } from '@jest/globals'
import { base32, stepOf, totpOf, totpUri } from './totp.ts'

/** The secret of RFC 6238, appendix B. */
const SECRET = Buffer.from('12345678901234567890')

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('the code at second %d is that of RFC 6238', (second, code) => {
  expect(totpOf(SECRET, Math.floor(second / 30))).toBe(code)
  expect(stepOf(SECRET, code, second * 1_000)).toBe(Math.floor(second / 30))
})

test('accepts the codes of three steps, and no other text', () => {
  const at = (step: number, code: string) => stepOf(SECRET, code, step * 30_000)
  const code = totpOf(SECRET, 100)
  expect([98, 99, 100, 101, 102].map((step) => at(step, code))).toEqual([undefined, 100, 100, 100, undefined])
  for (const text of ['', '0', `${code}0`, code.slice(1), 'ⅠⅠ']) expect(at(100, text)).toBeUndefined()
})

test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('%j is %j in Base32, as in RFC 4648', (text, encoded) => {
  expect(base32(Buffer.from(text))).toBe(encoded)
})

test('the URI escapes names', () => {
  expect(totpUri(SECRET, 'Films & Friends', 'a.b')).toBe(
    'otpauth://totp/Films%20%26%20Friends:a.b?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Films%20%26%20Friends',
  )
})
