import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { createVaultClient } from '../../src/index.ts'
import { createVaultClient as createPortableClient } from '../../src/portable.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const jwk = privateKey.export({ format: 'jwk' })
const hex = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex')
const seed = Buffer.from(jwk.d ?? '', 'base64url')
const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
const withPublicKey = Buffer.concat([
  Buffer.from('3051020101300506032b657004220420', 'hex'),
  seed,
  Buffer.from('812100', 'hex'),
  Buffer.from(hex, 'hex'),
])

const publicKeyOf = (text: string): string[] =>
  [createVaultClient, createPortableClient].map(
    (create) => create({ url: 'http://127.0.0.1', project: 'shop', privateKey: text }).publicKey,
  )

test.each([
  ['a JWK', JSON.stringify(jwk)],
  ['a JWK with white space around it', `\n ${JSON.stringify(jwk, null, 2)}\n`],
  ['hex', seed.toString('hex')],
  ['upper-case hex with a line break', `${seed.toString('hex').toUpperCase()}\n`],
  ['PKCS#8', pem],
  ['PKCS#8 with Windows line breaks', pem.replaceAll('\n', '\r\n')],
  [
    'PKCS#8 with the public key',
    `-----BEGIN PRIVATE KEY-----\n${withPublicKey.toString('base64')}\n-----END PRIVATE KEY-----`,
  ],
])('both entries read %s', (_name, text) => {
  expect(publicKeyOf(text)).toEqual([hex, hex])
})

test('reads keys of openssl', () => {
  const made = execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519'], { encoding: 'utf8' })
  const shown = execFileSync('openssl', ['pkey', '-pubout', '-outform', 'DER'], { input: made })
  const expected = shown.subarray(-32).toString('hex')
  expect(publicKeyOf(made)).toEqual([expected, expected])
})

test.each([
  ['nothing', ''],
  ['hex that is too short', seed.toString('hex').slice(1)],
  ['a public PEM', publicKey.export({ format: 'pem', type: 'spki' }).toString()],
  [
    'an RSA key',
    generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  ],
  ['PKCS#8 with trailing data', pem.replace('\n-----END', 'AAAA\n-----END')],
  ['invalid base64', '-----BEGIN PRIVATE KEY-----\n====\n-----END PRIVATE KEY-----'],
])('refuses %s without repeating it', (_name, text) => {
  expect(() => publicKeyOf(text)).toThrow(
    expect.objectContaining({
      code: 'invalid_configuration',
      message: 'the private key is not an Ed25519 key: a JWK with d, 64 hex digits or a PKCS#8 PEM',
    }),
  )
})
