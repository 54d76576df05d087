import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type RequestToSign, signRequest } from '../src/index.ts'
import { AGENT, CREATED, check, digestOf, NONCE, outcome, signingKey } from './support.ts'

const request: RequestToSign = {
  method: 'GET',
  url: 'http://vault.test:4200/v1/secrets?env=production',
  project: 'demo',
  key: signingKey,
  created: CREATED,
  nonce: NONCE,
}

describe('the headers', () => {
  test('they are the three of the specification, byte for byte', () => {
    expect(signRequest(request)).toEqual({
      Signature: 'sig1=:LIzsgtrclBQEtIJCq6lLxu5PIsUo4pBTZCyg6a9XswsrQwP+P/67VzNSUZ+1hM3L7+7ioDbrnUKVm88clUr2Ag==:',
      'Signature-Input':
        'sig1=("@method" "@authority" "@target-uri");created=1700000000;expires=1700000300;' +
        'nonce="00112233445566778899aabbccddeeff";keyid="demo.agents.vault.local"',
      'Signature-Agent':
        'sig1=demo.agents.vault.local;pubkey="26b40b8f93fff3d897112f7ebc582b232dbd72517d082fe83cfb30ddce43d1bb"',
    })
  })

  test('a body adds its digest and covers it', () => {
    const headers = signRequest({ ...request, method: 'PUT', body: '{"é":1}' })
    expect(headers['Content-Digest']).toBe(digestOf('sha-256', '{"é":1}'))
    expect(headers['Signature-Input']).toContain('"@target-uri" "content-digest");')
  })

  test('an empty body is a body', () => {
    expect(signRequest({ ...request, body: '' })['Content-Digest']).toBe(digestOf('sha-256', ''))
  })

  test('the digest can be sha-512', () => {
    const headers = signRequest({ ...request, body: new Uint8Array([1, 2]), digest: 'sha-512' })
    expect(headers['Content-Digest']).toBe(digestOf('sha-512', '\u0001\u0002'))
  })

  test('the keyid names the project’s agent', () => {
    expect(signRequest(request)['Signature-Input']).toContain(`;keyid="${AGENT}"`)
  })
})

describe('what cannot be signed', () => {
  const refused = (sentence: string, message: string, changes: Partial<RequestToSign>): void => {
    test(sentence, () => {
      expect(outcome(() => signRequest({ ...request, ...changes }))).toEqual({ code: 'invalid_input', message })
    })
  }
  refused('a relative URL is refused', 'the URL is not absolute', { url: '/v1/secrets' })
  refused('a URL of another scheme is refused', 'the URL is neither http nor https', { url: 'ftp://vault.test/' })
  refused('a URL with a user is refused', 'the URL contains credentials', { url: 'http://me@vault.test/' })
  refused('a URL with a password is refused', 'the URL contains credentials', { url: 'http://:x@vault.test/' })
  refused('a path starting with two slashes is refused', 'the path starts with two slashes', { url: 'http://a//b' })
  refused('an empty query is refused', 'the URL ends with an empty query', { url: 'http://a/b?' })
  refused('an empty query before a fragment is refused', 'the URL ends with an empty query', { url: 'http://a/b?#c' })
  refused('a method that is no token is refused', 'the method is not a token', { method: 'GET /' })
  refused('a project with a quote is refused', 'the project is not a name', { project: 'a"b' })
  refused('an empty project is refused', 'the project is not a name', { project: '' })
  refused('a nonce of 31 digits is refused', 'the nonce is not 32 hex digits', { nonce: NONCE.slice(1) })
  refused('created in fractions is refused', 'created is not in whole seconds', { created: CREATED + 0.5 })
  refused('created below zero is refused', 'created is not in whole seconds', { created: -1 })
  refused('created that would need 16 digits is refused', 'created is not in whole seconds', { created: 1e15 - 300 })
})

describe('over a real connection', () => {
  const server = createServer()
  let origin = ''

  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('no port')
    origin = `http://LOCALHOST:${address.port}`
  })
  afterAll(() => void server.close())

  /** Sends what is signed with fetch, and checks it as it arrives. */
  async function send(path: string, method: string, body?: string) {
    const url = `${origin}${path}`
    const arrival = once(server, 'request')
    const headers = { ...signRequest({ ...request, url, method, ...(body === undefined ? {} : { body }) }) }
    const response = fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })
    const [incoming, reply] = (await arrival) as [IncomingMessage, { end: () => void }]
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    reply.end()
    await response
    const { method: received = '', url: target = '', rawHeaders } = incoming
    const message = { method: received, scheme: 'http', target, rawHeaders } as const
    return outcome(() =>
      check(message, { body: Buffer.concat(chunks).toString(), contentRequired: body !== undefined }),
    )
  }

  for (const path of [
    '',
    '/v1/secrets?env=production',
    '/v1/secrets#fragment',
    '/a b/é/%7e?q=a b+c&é=ü|"\'`{}^\\<>',
    '/a/../b/./%2e%2E/c\\d',
    '/v1/secrets/\t/[x]?[y]=1',
  ]) {
    test(`fetch sends ${JSON.stringify(path)} as it was signed`, async () => {
      expect(await send(path, 'GET')).toBe('accepted')
    })
  }

  for (const method of ['get', 'Put', 'delete', 'PATCH', 'PURGE']) {
    test(`fetch sends the method ${method} as it was signed`, async () => {
      expect(await send('/v1/secrets', method, method === 'get' ? undefined : '{"é":"\u{1f511}"}')).toBe('accepted')
    })
  }
})
