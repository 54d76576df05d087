import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createVaultClient, VaultError } from '../../src/index.ts'
import { startFakeVault } from '../fake-vault.ts'

const { privateJwk, publicKeyHex } = generateKeyPair()

test('puts, reads and removes secrets with signatures the vault accepts', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  await client.put('DATABASE_URL', 'postgres://somewhere', 'staging')
  expect(await client.getAll('staging')).toEqual({ DATABASE_URL: 'postgres://somewhere' })
  await client.remove('DATABASE_URL')
  expect(await client.getAll('staging')).toEqual({})
  expect(vault.seen.map((request) => request.target)).toEqual([
    '/v1/secrets',
    '/v1/secrets?env=staging',
    '/v1/secrets/DATABASE_URL',
    '/v1/secrets?env=staging',
  ])
})

test('a PUT covers the digest of its body, a GET has no body to cover', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  await client.put('A', '1', 'production')
  await client.getAll()
  expect(vault.seen.map((request) => request.covered)).toEqual([true, false])
})

test('the environment is production unless told', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  await createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk }).getAll()
  expect(vault.seen[0]?.target).toBe('/v1/secrets?env=production')
})

test.each(['identity', 'gzip', 'br'] as const)(
  'no more of a response is read than allowed, compressed by %s or not',
  async (coding) => {
    let sent = 0
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding })
      const compress = {
        identity: new PassThrough(),
        gzip: createGzip(),
        br: createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
      }[coding]
      compress.pipe(response)
      const block = Buffer.alloc(1 << 20, ' ')
      const write = (): void => {
        while (sent++ < 4096) if (!compress.write(block)) return void compress.once('drain', write)
      }
      write()
      response.once('close', () => compress.destroy())
      compress.on('error', () => undefined)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
      const options = { url, project: 'shop', privateKey: privateJwk, retries: 0 }
      await expect(createVaultClient(options).getAll()).rejects.toMatchObject({
        code: 'invalid_answer',
        message: expect.stringContaining('longer than 16777216 bytes'),
      })
      // The rest of the four GiB is never made.
      expect(sent).toBeLessThan(4096)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  },
)

test('a secret named __proto__ is a secret like any other', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerWith(200, '{"__proto__":"kept"}')
  const secrets = await createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk }).getAll()
  expect(Object.entries(secrets)).toEqual([['__proto__', 'kept']])
})

test('a refusal carries the code and status of the vault', async () => {
  await using vault = await startFakeVault(generateKeyPair().publicKeyHex)
  const failure = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk }).getAll()
  await expect(failure).rejects.toMatchObject({ name: 'VaultError', code: 'invalid_signature', status: 401 })
})

test.each([
  ['a page of HTML', 200, '<html>', 'invalid_answer'],
  ['a list', 200, '[]', 'invalid_answer'],
  ['a value that is not a string', 200, '{"A":1}', 'invalid_answer'],
  ['an error without a code', 400, '{}', 'invalid_answer'],
])('%s is refused', async (_name, status, body, code) => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerWith(status, body)
  const failure = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk }).getAll()
  await expect(failure).rejects.toMatchObject({ name: 'VaultError', code })
})

test('a vault that does not run refuses connections', async () => {
  const vault = await startFakeVault(publicKeyHex)
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk, retries: 0 })
  await vault[Symbol.asyncDispose]()
  await expect(client.getAll()).rejects.toMatchObject({ code: 'connection_refused', status: undefined })
})

test('a key or URL that cannot be used is refused at once, without repeating it', () => {
  const canary = 'canary-of-a-private-key'
  expect(() => createVaultClient({ url: 'http://localhost', project: 'shop', privateKey: canary })).toThrow(VaultError)
  expect(() => createVaultClient({ url: 'http://localhost', project: 'shop', privateKey: canary })).not.toThrow(canary)
  expect(() => createVaultClient({ url: 'nowhere', project: 'shop', privateKey: privateJwk })).toThrow('begin with')
})

test.each([
  ['127.0.0.1:4200', 'must begin with http:// or https://'],
  ['localhost:4200', 'must begin with http:// or https://'],
  ['vault.example.org', 'must begin with http:// or https://'],
  ['http://[', 'is not a valid URL'],
])('of the URL %s an error says that it %s', (url, message) => {
  const create = (): unknown => createVaultClient({ url, project: 'shop', privateKey: privateJwk })
  expect(create).toThrow(`the URL of the vault ${message}`)
})

test.each(['<html>Not found</html>', '{"message":"Not found"}', '{"error":"NOT_FOUND"}', '[]', 'null'])(
  'an address that answers 404 with %s is no vault',
  async (body) => {
    await using vault = await startFakeVault(publicKeyHex)
    vault.answerWith(404, body)
    const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
    await expect(client.getAll()).rejects.toMatchObject({
      code: 'invalid_answer',
      status: 404,
      message: expect.stringContaining('not a vault'),
    })
  },
)

test('a code of a newer vault is no answer of another server', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerWith(404, '{"error":"unknown_branch","message":"There is no such branch."}')
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  await expect(client.getAll()).rejects.toMatchObject({
    code: 'unknown_branch',
    message: 'the vault returned 404 unknown_branch: There is no such branch.',
  })
})

test('a message of the vault that tells more than its code stands in the error', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerWith(413, '{"error":"payload_too_large","message":"The project would have more than 100 environments."}')
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  await expect(client.put('A', '1')).rejects.toThrow(
    'the vault does not store this: The project would have more than 100 environments.',
  )
})

test('too many requests are told with the seconds to wait', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerNext({ status: 429, body: '{"error":"rate_limited"}', headers: { 'retry-after': '37' } })
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  await expect(client.getAll()).rejects.toThrow(/; try again in 37 s$/)
})

test('a key that is not accepted may have been replaced or revoked', async () => {
  await using vault = await startFakeVault(generateKeyPair().publicKeyHex)
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  await expect(client.getAll()).rejects.toThrow(/, or it was replaced or revoked$/)
})

test('a vault that accepts and never answers is a timeout', async () => {
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const client = createVaultClient({
    url: `http://127.0.0.1:${String(port)}`,
    project: 'shop',
    privateKey: privateJwk,
    timeoutMs: 50,
    retries: 0,
  })
  await expect(client.getAll()).rejects.toMatchObject({ code: 'timeout', status: undefined })
  silent.closeAllConnections()
  await new Promise((resolve) => silent.close(resolve))
})

test.each([
  ['http://user:canary@127.0.0.1:1', 'shop'],
  ['http://127.0.0.1:1', 'no project'],
])('a request to %s as %j cannot be signed, which is a fault of the configuration', async (url, project) => {
  const client = createVaultClient({ url, project, privateKey: generateKeyPair().privateJwk })
  const error: unknown = await client.getAll().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(VaultError)
  expect(error).toMatchObject({ code: 'invalid_configuration', message: expect.not.stringContaining('canary') })
})

test.each(['privateKey', 'project', 'url'])(
  'an option that is not set, such as %s, is a fault of the configuration',
  async (name) => {
    // As a program in JavaScript passes a variable that is not set.
    const options = {
      url: 'http://127.0.0.1:1',
      project: 'shop',
      privateKey: privateJwk,
      retries: 0,
      [name]: undefined,
    }
    const read = async (): Promise<unknown> => createVaultClient(options).getAll()
    await expect(read()).rejects.toMatchObject({ name: 'VaultError', code: 'invalid_configuration' })
  },
)

test.each([301, 302, 307, 308])(
  'a vault that redirects (%d) is not followed, and the error says so',
  async (status) => {
    await using vault = await startFakeVault(publicKeyHex)
    vault.answerNext({ status, headers: { location: 'https://elsewhere.example/v1/secrets' }, body: '' })
    const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
    await expect(client.getAll()).rejects.toMatchObject({
      code: 'invalid_answer',
      message: expect.stringContaining('redirects to another address'),
    })
    expect(vault.seen).toHaveLength(0)
  },
)

test.each([
  { timeoutMs: 0 },
  { timeoutMs: Number.NaN },
  { retries: -1 },
  { retries: 0.5 },
  { maxWaitMs: Number.NaN },
  { cache: { freshMs: Number.NaN } },
])('%j cannot be meant', (options) => {
  const create = (): unknown =>
    createVaultClient({ url: 'http://127.0.0.1:1', project: 'shop', privateKey: privateJwk, ...options })
  expect(create).toThrow(VaultError)
})
