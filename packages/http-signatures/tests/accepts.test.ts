import { describe, expect, test } from '@jest/globals'
import {
  checkContent,
  checkWindow,
  createVerifyKey,
  generateKeyPair,
  parsePublicKey,
  parseSignedRequest,
  type TimelyRequest,
  type VerifiedRequest,
  verifySignature,
  verifySignatureOffThread,
} from '../src/index.ts'
import {
  AGENT,
  COVERED,
  COVERED_WITH_CONTENT,
  CREATED,
  check,
  craft,
  type Draft,
  digestOf,
  NONCE,
  NOW,
  outcome,
  PARAMS,
  type Situation,
  signingKey,
  verifyKey,
  withField,
} from './support.ts'

function accepted(sentence: string, changes: Partial<Draft>, situation?: Situation): void {
  test(sentence, () => expect(outcome(() => check(craft(changes), situation))).toBe('accepted'))
}

const input = (params: string, covered = COVERED): Partial<Draft> => ({ input: `sig1=${covered}${params}` })

test('a request returns its claims', () => {
  expect(parseSignedRequest(craft()).claims).toEqual({
    project: 'demo',
    publicKeyHex: signingKey.publicKeyHex,
    created: CREATED,
    expires: CREATED + 300,
    nonce: NONCE,
    coversContent: false,
  })
})

test('a nonce and a pubkey in upper case are lower-cased', () => {
  const message = craft({
    ...input(PARAMS.replace(NONCE, NONCE.toUpperCase())),
    agent: `sig1=${AGENT};pubkey="${signingKey.publicKeyHex.toUpperCase()}"`,
  })
  const { claims } = check(message)
  expect([claims.nonce, claims.publicKeyHex]).toEqual([NONCE, signingKey.publicKeyHex])
})

describe('parameters', () => {
  const [created, expires, nonce, keyid] = PARAMS.slice(1).split(';')
  accepted('any order will do', input(`;${keyid};${nonce};${expires};${created}`))
  accepted('alg may be said to be ed25519', input(`${PARAMS};alg="ed25519"`))
  accepted('alg may come first', input(`;alg="ed25519"${PARAMS}`))
  accepted('created may be 0', input(PARAMS.replace(/created=\d+;expires=\d+/, 'created=0;expires=300')), { now: 0 })
})

describe('project names', () => {
  for (const name of ['9lives', '-dash', '_under', 'a.agents.vault.local', 'UPPER', 'a'.repeat(255)]) {
    test(`${name.slice(0, 24)} can be a project`, () => {
      const agent = `${name}.agents.vault.local`
      const message = craft({
        ...input(PARAMS.replace(AGENT, agent)),
        agent: `sig1=${agent};pubkey="${signingKey.publicKeyHex}"`,
      })
      expect(check(message).claims.project).toBe(name)
    })
  }
})

describe('host and target', () => {
  accepted('a host in upper case is signed in lower case', { host: 'VAULT.Test:4200', authority: 'vault.test:4200' })
  accepted('a host in upper case may be signed unchanged', { host: 'VAULT.Test' })
  accepted('port 80 is dropped from http', { host: 'vault.test:80', authority: 'vault.test' })
  accepted('port 443 is dropped from https', { scheme: 'https', host: 'vault.test:443', authority: 'vault.test' })
  accepted('a default port may be signed unchanged', { host: 'vault.test:80' })
  accepted('any other port stays', { host: 'vault.test:443' })
  accepted('an IPv4 address is a host', { host: '127.0.0.1:4200' })
  accepted('an IPv6 address is a host', { host: '[::1]:4200' })
  accepted('percent-encoding is not changed', { target: '/v1/secrets?env=%7e%C3%A9+a&b=%2F' })
  accepted('an empty query is not changed', { target: '/v1/secrets?' })
  accepted('two slashes inside a path are not changed', { target: '/v1//secrets' })
  accepted('a method is not limited to the common ones', { method: 'PURGE' })
  accepted('the case of header names does not matter', {
    headers: (rawHeaders) => rawHeaders.map((entry, i) => (i % 2 === 0 ? entry.toUpperCase() : entry)),
  })
  accepted('headers the signature does not cover may repeat', {
    headers: (rawHeaders) => [...rawHeaders, 'X-Trace', 'é', 'X-Trace', '2'],
  })
})

describe('time', () => {
  accepted('exactly 300 s ago is inside the window', {}, { now: NOW + 300_000 })
  accepted('exactly 300 s ahead is inside the window', {}, { now: NOW - 300_000 })
})

describe('the body', () => {
  const body = '{"key":"A","value":"é"}'
  const covering = (digest: string): Partial<Draft> => ({ ...input(PARAMS, COVERED_WITH_CONTENT), digest })
  const both = `${digestOf('sha-256', body)}, ${digestOf('sha-512', body)}`
  accepted('a sha-256 digest is checked', covering(digestOf('sha-256', body)), { body, contentRequired: true })
  accepted('a sha-512 digest is checked', covering(digestOf('sha-512', body)), { body, contentRequired: true })
  accepted('both digests may be there', covering(both), { body })
  accepted('the digest of an empty body can be covered', covering(digestOf('sha-256', '')), { contentRequired: true })
  accepted('a body need not be covered', {}, { body })
  accepted('a Content-Digest that is not covered is ignored', { digest: 'nonsense' }, { body })
  accepted('a repeated Content-Digest that is not covered is ignored', {
    headers: (rawHeaders) => withField(rawHeaders, 'Content-Digest', 'a', 'b'),
  })
})

describe('keys', () => {
  const other = createVerifyKey(parsePublicKey(generateKeyPair().publicKeyHex))

  test('pubkey selects among the keys given', () => {
    const parsed = parseSignedRequest(craft())
    expect(verifySignature(parsed, [other, verifyKey]).claims.publicKeyHex).toBe(verifyKey.publicKeyHex)
  })

  test('without keys, no signature is accepted', () => {
    expect(outcome(() => verifySignature(parseSignedRequest(craft()), []))).toEqual({
      code: 'invalid_signature',
      message: 'pubkey is not a valid key of the project',
    })
  })

  test('pubkey does not make another key’s signature valid', () => {
    const parsed = parseSignedRequest(craft({ agent: `sig1=${AGENT};pubkey="${other.publicKeyHex}"` }))
    expect(outcome(() => verifySignature(parsed, [other, verifyKey]))).toEqual({
      code: 'invalid_signature',
      message: 'the signature does not verify',
    })
  })
})

test('off the thread, the same signatures verify and the same are refused', async () => {
  const other = createVerifyKey(parsePublicKey(generateKeyPair().publicKeyHex))
  const parsed = parseSignedRequest(craft())
  const borrowed = parseSignedRequest(craft({ agent: `sig1=${AGENT};pubkey="${other.publicKeyHex}"` }))
  expect(await verifySignatureOffThread(parsed, [other, verifyKey])).toEqual(verifySignature(parsed, [verifyKey]))
  await expect(verifySignatureOffThread(borrowed, [other, verifyKey])).rejects.toMatchObject({
    code: 'invalid_signature',
    message: 'the signature does not verify',
  })
  await expect(verifySignatureOffThread(parsed, [other])).rejects.toMatchObject({
    code: 'invalid_signature',
    message: 'pubkey is not a valid key of the project',
  })
})

test('the checks can only run in their order', () => {
  const parsed = parseSignedRequest(craft())
  const verified = verifySignature(parsed, [verifyKey])
  const timely = checkWindow(verified, NOW)
  const accepted = checkContent(timely, new Uint8Array())
  expect([parsed, verified, timely, accepted].map(({ stage }) => stage)).toEqual([
    'parsed',
    'verified',
    'timely',
    'accepted',
  ])

  // For these lines the compiler is the test: an expected error that does not come fails `pnpm types`.
  // @ts-expect-error a parsed request is not verified
  const unverified: VerifiedRequest = parsed
  // @ts-expect-error a verified request is not timely
  const untimely: TimelyRequest = verified
  expect([unverified.stage, untimely.stage]).toEqual(['parsed', 'verified'])
})
