import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { createVerifyKey, importPrivateKey, parsePublicKey } from '../src/index.ts'
import { signatureBase } from '../src/profile.ts'
import { outcome, PRIVATE_JWK } from './support.ts'

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8'))
}

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex')

describe('RFC 9421 appendix B.2.6, signing a request using ed25519', () => {
  const params =
    '("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"'
  const base = signatureBase(
    [
      ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
      ['@method', 'POST'],
      ['@path', '/foo'],
      ['@authority', 'example.com'],
      ['content-type', 'application/json'],
      ['content-length', '18'],
    ],
    params,
  )
  const signature = 'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=='
  const key = importPrivateKey(PRIVATE_JWK)

  test('the signature base is the one printed', () => {
    expect(base.split('\n')).toEqual([
      '"date": Tue, 20 Apr 2021 02:07:55 GMT',
      '"@method": POST',
      '"@path": /foo',
      '"@authority": example.com',
      '"content-type": application/json',
      '"content-length": 18',
      `"@signature-params": ${params}`,
    ])
  })

  test('the printed signature verifies', () => {
    const verifyKey = createVerifyKey(parsePublicKey(key.publicKeyHex))
    expect(verifyKey.verify(Buffer.from(base), Buffer.from(signature, 'base64'))).toBe(true)
  })

  test('signing again gives the printed signature', () => {
    expect(Buffer.from(key.sign(Buffer.from(base))).toString('base64')).toBe(signature)
  })
})

type Wycheproof = {
  readonly testGroups: readonly {
    readonly publicKey: { readonly pk: string }
    readonly tests: readonly {
      readonly tcId: number
      readonly msg: string
      readonly sig: string
      readonly result: 'valid' | 'invalid'
    }[]
  }[]
}

describe('Wycheproof, Ed25519', () => {
  const { testGroups } = fixture('ed25519_test.json') as Wycheproof
  const cases = testGroups.flatMap(({ publicKey, tests }) => tests.map((vector) => ({ pk: publicKey.pk, ...vector })))

  test('agrees with all 151 verdicts', () => {
    const wrong = cases.filter(({ pk, msg, sig, result }) => {
      return createVerifyKey(parsePublicKey(pk)).verify(bytes(msg), bytes(sig)) !== (result === 'valid')
    })
    expect([cases.length, wrong]).toEqual([151, []])
  })
})

type Speccheck = readonly { readonly message: string; readonly pub_key: string; readonly signature: string }[]

describe('ed25519-speccheck, "Taming the many EdDSAs"', () => {
  const cases = fixture('speccheck_cases.json') as Speccheck
  // Each case, whether its key is admitted, and whether node:crypto alone accepts the signature. Undefined where that
  // depends on the version: Node 20 accepts what the key's order makes forgeable, later ones refuse (nodejs/node#64026).
  const ADMITTED = 'accepted'
  const ORDER = { code: 'invalid_public_key', message: 'the point is not of prime order' }
  const NO_POINT = { code: 'invalid_public_key', message: 'the key encodes no point of the curve' }
  const table = [
    ['0', 'small-order A and R', ORDER, undefined],
    ['1', 'small-order A', ORDER, undefined],
    ['2', 'A with torsion, small-order R', ORDER, undefined],
    ['3', 'A and R with torsion', ORDER, true],
    ['4', 'A with torsion, valid only with the cofactor', ORDER, false],
    ['5', 'A with torsion, valid only with the cofactor, reduced late', ORDER, false],
    ['6', 'S above L', ADMITTED, false],
    ['7', 'S far above L', ADMITTED, false],
    ['8', 'A with torsion, non-canonical R', ORDER, false],
    ['9', 'A with torsion, non-canonical R, reduced for the hash', ORDER, false],
    ['10', 'non-canonical A', NO_POINT, false],
    ['11', 'non-canonical A, reduced for the hash', NO_POINT, undefined],
  ] as const

  test('there are twelve cases', () => expect(cases).toHaveLength(table.length))

  for (const [number, what, admission, accepted] of table) {
    const { message, pub_key, signature } = cases[Number(number)] ?? { message: '', pub_key: '', signature: '' }

    test(`case ${number}, ${what}: the key is ${admission === ADMITTED ? 'admitted' : 'refused'}`, () => {
      expect(outcome(() => parsePublicKey(pub_key))).toEqual(admission)
    })

    if (accepted === undefined) continue
    test(`case ${number}, ${what}: node:crypto alone ${accepted ? 'accepts' : 'refuses'} the signature`, () => {
      expect(createVerifyKey(bytes(pub_key)).verify(bytes(message), bytes(signature))).toBe(accepted)
    })
  }
})
