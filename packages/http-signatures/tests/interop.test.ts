import { createPrivateKey, createPublicKey, type JsonWebKey, sign, verify } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { createSignature, verifySignature as verifyWithMessageSig } from 'http-message-sig'
import { createSigner, createVerifier, httpbis } from 'http-message-signatures'
import { signRequest } from '../src/index.ts'
import { AGENT, CREATED, check, digestOf, NONCE, NOW, outcome, PRIVATE_JWK, signingKey } from './support.ts'

const privateKey = createPrivateKey({ key: JSON.parse(PRIVATE_JWK) as JsonWebKey, format: 'jwk' })
const publicKey = createPublicKey(privateKey)
const agent = `sig1=${AGENT};pubkey="${signingKey.publicKeyHex}"`
const body = '{"key":"A","value":"1","env":"production"}'
const digest = digestOf('sha-256', body)
const params = { created: CREATED, expires: CREATED + 300, nonce: NONCE, keyid: AGENT }

// The same two requests throughout: a fetch, and a write whose body is covered.
const requests = [
  {
    what: 'GET',
    method: 'GET',
    target: '/v1/secrets?env=production',
    covered: ['@method', '@authority', '@target-uri'],
  },
  {
    what: 'PUT with content-digest',
    method: 'PUT',
    target: '/v1/secrets',
    covered: ['@method', '@authority', '@target-uri', 'content-digest'],
  },
]

/** The vault's verdict on a request with these headers. */
function received(method: string, target: string, headers: Readonly<Record<string, string | string[]>>) {
  const rawHeaders = [
    'Host',
    'vault.test:4200',
    ...Object.entries(headers).flatMap(([name, value]) => [name, String(value)]),
  ]
  return outcome(() => check({ method, scheme: 'http', target, rawHeaders }, { body: method === 'PUT' ? body : '' }))
}

for (const { what, method, target, covered } of requests) {
  const url = `http://vault.test:4200${target}`
  const digestHeader: Record<string, string> = method === 'PUT' ? { 'Content-Digest': digest } : {}
  const ours = signRequest({
    method,
    url,
    project: 'demo',
    key: signingKey,
    created: CREATED,
    nonce: NONCE,
    ...(method === 'PUT' ? { body } : {}),
  })

  describe(`http-message-sig, ${what}`, () => {
    const fields = Object.entries(digestHeader).map(([name, value]) => ({ name, value }))

    test('produces the same bytes, which we accept', async () => {
      const made = await createSignature(
        { kind: 'request', method, targetUri: url, fields },
        {
          label: 'sig1',
          components: covered,
          parameters: params,
          signer: { algorithm: 'ed25519', sign: (data) => new Uint8Array(sign(null, data, privateKey)) },
        },
      )
      const headers = { Signature: made.signature, 'Signature-Input': made.signatureInput, ...digestHeader }
      expect(received(method, target, { ...headers, 'Signature-Agent': agent })).toBe('accepted')
      expect(ours).toEqual({ ...headers, 'Signature-Agent': agent })
    })

    test('verifies what we sign', async () => {
      const sent = Object.entries(ours).map(([name, value]) => ({ name, value }))
      const verified = await verifyWithMessageSig(
        { kind: 'request', method, targetUri: url, fields: sent },
        {
          label: 'sig1',
          policy: {
            algorithms: ['ed25519'],
            requiredComponents: covered,
            requiredParameters: ['created', 'expires', 'nonce', 'keyid'],
            maxAge: 300,
            now: CREATED,
          },
          resolveVerifier: () => ({
            algorithm: 'ed25519',
            verify: (data, signature) => verify(null, data, publicKey, signature),
          }),
        },
      )
      expect(verified.parameters).toMatchObject(params)
    })
  })

  describe(`http-message-signatures, ${what}`, () => {
    beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(NOW))
    afterEach(() => void jest.restoreAllMocks())

    test('signs what we accept', async () => {
      const made = await httpbis.signMessage(
        {
          key: createSigner(privateKey, 'ed25519', AGENT),
          name: 'sig1',
          fields: covered,
          params: ['created', 'expires', 'nonce', 'keyid'],
          paramValues: { ...params, created: new Date(NOW), expires: new Date(NOW + 300_000) },
        },
        { method, url, headers: { 'Signature-Agent': agent, ...digestHeader } },
      )
      expect(received(method, target, made.headers)).toBe('accepted')
    })

    test('verifies what we sign', async () => {
      const keyLookup = () =>
        Promise.resolve({ id: AGENT, algs: ['ed25519'], verify: createVerifier(publicKey, 'ed25519') })
      const message = { method, url, headers: { ...ours } }
      expect(await httpbis.verifyMessage({ keyLookup, requiredFields: covered, maxAge: 300 }, message)).toBe(true)
    })
  })
}
