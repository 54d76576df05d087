import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import * as node from '../src/index.ts'
import * as portable from '../src/portable.ts'
import { CREATED, NONCE, outcome, PRIVATE_JWK } from './support.ts'

describe('the portable entry', () => {
  for (const [what, body, digest] of [
    ['without a body', undefined, undefined],
    ['with a body', '{"é":1}', undefined],
    ['with an empty body', '', undefined],
    ['with bytes under sha-512', new Uint8Array([0, 255]), 'sha-512'],
  ] as const) {
    test(`signs a request ${what} to the same bytes as the main entry`, async () => {
      const request = {
        method: 'PUT',
        url: 'https://Vault.test:443/v1/secrets?env=é',
        project: 'demo',
        created: CREATED,
        nonce: NONCE,
        ...(body === undefined ? {} : { body }),
        ...(digest === undefined ? {} : { digest }),
      }
      const headers = await portable.signRequest({ ...request, key: portable.importPrivateKey(PRIVATE_JWK) })
      expect(headers).toEqual(node.signRequest({ ...request, key: node.importPrivateKey(PRIVATE_JWK) }))
    })
  }

  test('generates keys that both entries import', () => {
    const { publicKeyHex, privateJwk } = portable.generateKeyPair()
    expect(portable.importPrivateKey(privateJwk).publicKeyHex).toBe(publicKeyHex)
    expect(node.importPrivateKey(privateJwk).publicKeyHex).toBe(publicKeyHex)
    expect(node.publicKeyToHex(node.parsePublicKey(publicKeyHex))).toBe(publicKeyHex)
  })

  test('imports keys that the main entry generates', () => {
    const { publicKeyHex, privateJwk } = node.generateKeyPair()
    expect(portable.importPrivateKey(privateJwk).publicKeyHex).toBe(publicKeyHex)
  })

  test('imports a seed as the main entry does', () => {
    const seed = Uint8Array.from({ length: 32 }, (_, i) => i)
    expect(portable.importPrivateKey(seed).publicKeyHex).toBe(node.importPrivateKey(seed).publicKeyHex)
  })

  test('refuses d and x that do not belong together', () => {
    const { x } = JSON.parse(node.generateKeyPair().privateJwk) as { x: string }
    const mixed = JSON.stringify({ ...(JSON.parse(PRIVATE_JWK) as object), x })
    expect(outcome(() => portable.importPrivateKey(mixed))).toEqual({
      code: 'invalid_private_key',
      message: 'd and x do not belong together',
    })
  })

  test('rejects invalid requests with the same errors', async () => {
    const key = portable.importPrivateKey(PRIVATE_JWK)
    const request = { method: 'GET', url: 'nowhere', project: 'demo', key, created: CREATED, nonce: NONCE }
    await expect(portable.signRequest(request)).rejects.toMatchObject({ name: 'SignatureError', code: 'invalid_input' })
  })

  test('imports no node: module and uses no Node global', () => {
    const reached = reachableFrom(new URL('../src/portable.ts', import.meta.url))
    expect(reached.size).toBeGreaterThan(6)
    for (const source of reached.values()) expect(source).not.toMatch(/node:|\bBuffer\b|\bprocess\b|\brequire\(/)
  })
})

/** The sources a module imports, and what they import. */
function reachableFrom(url: URL, seen = new Map<string, string>()): ReadonlyMap<string, string> {
  if (seen.has(url.href)) return seen
  // Comments may speak of Node; code may not.
  const source = readFileSync(url, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
  seen.set(url.href, source)
  for (const [, path = ''] of source.matchAll(/from '(\.[^']+)'/g)) reachableFrom(new URL(path, url), seen)
  return seen
}
