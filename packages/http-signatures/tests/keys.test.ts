import { inspect } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { createVerifyKey, generateKeyPair, importPrivateKey, parsePublicKey, publicKeyToHex } from '../src/index.ts'
import { outcome, PRIVATE_JWK } from './support.ts'

const HEX = '26b40b8f93fff3d897112f7ebc582b232dbd72517d082fe83cfb30ddce43d1bb'
const X = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs'
const D = 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU'
const JWK = { kty: 'OKP', crv: 'Ed25519', x: X }
const P = 2n ** 255n - 19n

/** 32 bytes, little-endian: a y coordinate and the sign of x in the top bit. */
function encode(y: bigint, sign: 0n | 1n): string {
  const big = (y | (sign << 255n)).toString(16).padStart(64, '0')
  return Buffer.from(big, 'hex').reverse().toString('hex')
}

describe('a public key', () => {
  const same = (sentence: string, input: string): void => {
    test(sentence, () => expect(publicKeyToHex(parsePublicKey(input))).toBe(HEX))
  }
  same('can be 64 hex digits', HEX)
  same('can be in upper case', HEX.toUpperCase())
  same('can be a JWK', JSON.stringify(JWK))
  same(
    'can be a JWK with other members',
    JSON.stringify({ kid: 'a', use: 'sig', alg: 'EdDSA', key_ops: ['verify'], ...JWK }),
  )

  test('of another length can be neither written nor imported', () => {
    const refusal = { code: 'invalid_public_key', message: 'a public key has 32 bytes' }
    for (const use of [publicKeyToHex, createVerifyKey]) {
      expect([31, 33].map((length) => outcome(() => use(new Uint8Array(length))))).toEqual([refusal, refusal])
    }
  })

  const refused = (message: string) => (sentence: string, input: string) => {
    test(sentence, () => expect(outcome(() => parsePublicKey(input))).toEqual({ code: 'invalid_public_key', message }))
  }
  const form = refused('neither 64 hex digits nor an Ed25519 JWK')
  form('of 63 digits is refused', HEX.slice(1))
  form('of 65 digits is refused', `${HEX}0`)
  form('of 64 characters that are not all hex is refused', HEX.replace('f', 'g'))
  form('with a space around is refused', ` ${HEX}`)
  form('with a line break at the end is refused', `${HEX}\n`)
  form('of no characters is refused', '')
  form('in PEM is refused', '-----BEGIN PUBLIC KEY-----')
  form('in bare base64url is refused', X)
  form('as JSON null is refused', 'null')
  form('as a JSON string is refused', JSON.stringify(HEX))
  form('as a JSON array is refused', JSON.stringify([JWK]))
  form('as a JWK inside a JWK set is refused', JSON.stringify({ keys: [JWK] }))
  form('as a JWK over 4 KiB is refused', JSON.stringify({ ...JWK, kid: 'a'.repeat(4096) }))
  form('as a JWK of another kty is refused', JSON.stringify({ ...JWK, kty: 'EC' }))
  form('as a JWK of another crv is refused', JSON.stringify({ ...JWK, crv: 'X25519' }))
  form('as a JWK without kty is refused', JSON.stringify({ crv: 'Ed25519', x: X }))
  form('as a JWK without x is refused', JSON.stringify({ kty: 'OKP', crv: 'Ed25519' }))
  form('as a JWK with x of a number is refused', JSON.stringify({ ...JWK, x: 1 }))
  form('as a JWK with a padded x is refused', JSON.stringify({ ...JWK, x: `${X}=` }))
  form('as a JWK with garbage after x is refused', JSON.stringify({ ...JWK, x: `${X}!!` }))
  form('as a JWK with x in standard base64 is refused', JSON.stringify({ ...JWK, x: X.replace('_', '/') }))
  form('as a JWK with spare bits set in x is refused', JSON.stringify({ ...JWK, x: X.replace(/.$/, 't') }))
  form('as a JWK with a short x is refused', JSON.stringify({ ...JWK, x: X.slice(1) }))
  form('as a JWK with a d that is no key is refused', JSON.stringify({ ...JWK, d: null }))
  refused('the JWK contains a private key')('as a private JWK is refused', PRIVATE_JWK)

  const order = refused('the point is not of prime order')
  const point = refused('the key encodes no point of the curve')
  // The eight points of small order, and the further encodings lenient decoders take for them.
  order('that is the identity is refused', encode(1n, 0n))
  point('that is the identity with a sign is refused', encode(1n, 1n))
  order('of order 2 is refused', encode(P - 1n, 0n))
  point('of order 2 with a sign is refused', encode(P - 1n, 1n))
  order('of order 4 is refused', encode(0n, 0n))
  order('of order 4 with a sign is refused', encode(0n, 1n))
  order('of order 8 is refused', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')
  order('of order 8 with a sign is refused', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85')
  order('of order 8, the other y, is refused', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a')
  order(
    'of order 8, the other y, with a sign is refused',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  )
  point('with y of p is refused', encode(P, 0n))
  point('with y of p and a sign is refused', encode(P, 1n))
  point('with y of p + 1 is refused', encode(P + 1n, 0n))
  point('with y of p + 1 and a sign is refused', encode(P + 1n, 1n))
  point('with y of 2^255 - 1 is refused', encode(2n ** 255n - 1n, 0n))
  point('off the curve is refused', encode(2n, 0n))
  order('as a JWK of a bad point is refused', JSON.stringify({ ...JWK, x: 'A'.repeat(43) }))

  test('with y of p + 3 to p + 18 is refused, though the reduced y may be on the curve', () => {
    const refusal = { code: 'invalid_public_key', message: 'the key encodes no point of the curve' }
    for (let k = 3n; k < 19n; k += 1n) expect(outcome(() => parsePublicKey(encode(P + k, 0n)))).toEqual(refusal)
  })

  test('that node:crypto generates is admitted, its negative too, and neither with the point of order 2 added', () => {
    for (let i = 0; i < 20; i += 1) {
      const encoded = BigInt(`0x${Buffer.from(generateKeyPair().publicKeyHex, 'hex').reverse().toString('hex')}`)
      const y = encoded % 2n ** 255n
      // (x, y) + (0, -1) = (-x, -y), which for the four signs gives two keys and two keys with torsion.
      const verdicts = [encode(y, 0n), encode(y, 1n), encode(P - y, 0n), encode(P - y, 1n)].map((key) =>
        outcome(() => parsePublicKey(key)),
      )
      const refusal = { code: 'invalid_public_key', message: 'the point is not of prime order' }
      expect(verdicts).toEqual(['accepted', 'accepted', refusal, refusal])
    }
  })
})

describe('a private key', () => {
  test('is generated as hex and a JWK that belong together', () => {
    const { publicKeyHex, privateJwk } = generateKeyPair()
    expect(privateJwk).toMatch(/^{"kty":"OKP","crv":"Ed25519","d":"[\w-]{43}","x":"[\w-]{43}"}$/)
    expect(importPrivateKey(privateJwk).publicKeyHex).toBe(publicKeyHex)
  })

  test('is never generated twice', () => {
    expect(generateKeyPair().privateJwk).not.toBe(generateKeyPair().privateJwk)
  })

  test('is imported from its seed as from its JWK', () => {
    const seed = Buffer.from(D, 'base64url')
    expect(importPrivateKey(seed).publicKeyHex).toBe(HEX)
    expect(outcome(() => importPrivateKey(seed.subarray(1)))).toEqual({
      code: 'invalid_private_key',
      message: 'a seed has 32 bytes',
    })
  })

  test('cannot be read from the key that signs with it', () => {
    const key = importPrivateKey(PRIVATE_JWK)
    expect(JSON.stringify(key)).toBe(`{"publicKeyHex":"${HEX}"}`)
    expect(inspect(key, { depth: 9, showHidden: true })).not.toContain(D)
  })

  const refused = (message: string) => (sentence: string, input: string) => {
    test(sentence, () =>
      expect(outcome(() => importPrivateKey(input))).toEqual({ code: 'invalid_private_key', message }),
    )
  }
  const form = refused('not an Ed25519 private JWK')
  form('in hex is refused', HEX)
  form('without d is refused', JSON.stringify(JWK))
  form('without x is refused', JSON.stringify({ kty: 'OKP', crv: 'Ed25519', d: D }))
  form('with a padded d is refused', JSON.stringify({ ...JWK, d: `${D}=` }))
  form('of another curve is refused', JSON.stringify({ ...JWK, crv: 'X25519', d: D }))
  form('that is not JSON is refused, and the error does not repeat it', `{"d":"${D}"`)
  refused('d and x do not belong together')('with another key’s x is refused', JSON.stringify({ ...JWK, d: X }))
})
