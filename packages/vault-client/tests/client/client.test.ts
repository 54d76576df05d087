import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createVaultClient, VaultError } from '../../src/index.ts'
import { startFakeVault } from '../fake-vault.ts'

const { privateJwk, publicKeyHex } = generateKeyPair()

test('stores, reads and deletes secrets with signatures that the vault accepts', async () => {
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

test('the signature of a PUT covers the digest of its body', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  await client.put('A', '1', 'production')
  await client.getAll()
  expect(vault.seen.map((request) => request.covered)).toEqual([true, false])
})

test('the default environment is production', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  await createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk }).getAll()
  expect(vault.seen[0]?.target).toBe('/v1/secrets?env=production')
})

test.each(['identity', 'gzip', 'br'] as const)(
  'no response over the limit is read to its end, content-encoding %s',
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
        message: expect.stringContaining('16777216 bytes'),
      })
      // The rest of the 4 GiB is never generated.
      expect(sent).toBeLessThan(4096)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  },
)

test('a secret can be named __proto__', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerWith(200, '{"__proto__":"kept"}')
  const secrets = await createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk }).getAll()
  expect(Object.entries(secrets)).toEqual([['__proto__', 'kept']])
})

test('an error has the code and status from the vault', async () => {
  await using vault = await startFakeVault(generateKeyPair().publicKeyHex)
  const failure = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk }).getAll()
  await expect(failure).rejects.toMatchObject({ name: 'VaultError', code: 'invalid_signature', status: 401 })
})

test('an error has the description that a code of the specification may not have in its body', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  const headers = { 'www-authenticate': 'Signature error="invalid_signature", error_description="The cause."' }
  vault.answerNext({ status: 401, body: '{"error":"invalid_signature"}', headers })
  const failure = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk }).getAll()
  await expect(failure).rejects.toMatchObject({
    code: 'invalid_signature',
    message: expect.stringMatching(/: The cause\.$/),
  })
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

test('reports a vault that is not running as connection_refused', async () => {
  const vault = await startFakeVault(publicKeyHex)
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk, retries: 0 })
  await vault[Symbol.asyncDispose]()
  await expect(client.getAll()).rejects.toMatchObject({ code: 'connection_refused', status: undefined })
})

test('refuses an invalid key or URL immediately, without repeating it', () => {
  const canary = 'canary-of-a-private-key'
  expect(() => createVaultClient({ url: 'http://localhost', project: 'shop', privateKey: canary })).toThrow(VaultError)
  expect(() => createVaultClient({ url: 'http://localhost', project: 'shop', privateKey: canary })).not.toThrow(canary)
  expect(() => createVaultClient({ url: 'nowhere', project: 'shop', privateKey: privateJwk })).toThrow(VaultError)
})

test.each([
  ['127.0.0.1:4200', 'http:// or https://'],
  ['localhost:4200', 'http:// or https://'],
  ['vault.example.org', 'http:// or https://'],
  ['http://[', 'not valid'],
  ['https://vault.example.org/prefix', 'without a path'],
  ['https://vault.example.org/?x=1', 'without a path'],
  ['https://user:canary@vault.example.org', 'without a path or credentials'],
])('refuses the URL %s', (url, reason) => {
  const create = (): unknown => createVaultClient({ url, project: 'shop', privateKey: privateJwk })
  expect(create).toThrow(
    expect.objectContaining({ code: 'invalid_configuration', message: expect.stringContaining(reason) }),
  )
  expect(create).not.toThrow(/canary/)
})

test.each(['<html>Not found</html>', '{"message":"Not found"}', '{"error":"NOT_FOUND"}', '[]', 'null'])(
  'recognizes another kind of server by a 404 with %s',
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

test('passes on an error code of a newer vault', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerWith(404, '{"error":"unknown_branch","message":"There is no such branch."}')
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  await expect(client.getAll()).rejects.toMatchObject({
    code: 'unknown_branch',
    message: expect.stringContaining('There is no such branch.'),
  })
})

test('an error contains a message of the vault that is more specific than its code', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerWith(413, '{"error":"payload_too_large","message":"The project would have more than 100 environments."}')
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  await expect(client.put('A', '1')).rejects.toThrow('The project would have more than 100 environments.')
})

test('the error for too many requests contains the time to wait', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerNext({ status: 429, body: '{"error":"rate_limited"}', headers: { 'retry-after': '37' } })
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  await expect(client.getAll()).rejects.toThrow('37 s')
})

test('reports a vault that never responds as timeout', async () => {
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

test('reports a project that cannot be signed for as invalid_configuration', async () => {
  const settings = { url: 'http://127.0.0.1:1', project: 'no project', privateKey: generateKeyPair().privateJwk }
  const error: unknown = await createVaultClient(settings)
    .getAll()
    .catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(VaultError)
  expect(error).toMatchObject({ code: 'invalid_configuration' })
})

test.each(['privateKey', 'project', 'url'])('reports a missing %s as invalid_configuration', async (name) => {
  // Programs in JavaScript can pass undefined.
  const options = {
    url: 'http://127.0.0.1:1',
    project: 'shop',
    privateKey: privateJwk,
    retries: 0,
    [name]: undefined,
  }
  const read = async (): Promise<unknown> => createVaultClient(options).getAll()
  await expect(read()).rejects.toMatchObject({ name: 'VaultError', code: 'invalid_configuration' })
})

test.each([301, 302, 307, 308])('does not follow a redirect (%d), and reports it', async (status) => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerNext({ status, headers: { location: 'https://elsewhere.example/v1/secrets' }, body: '' })
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  await expect(client.getAll()).rejects.toMatchObject({
    code: 'invalid_answer',
    message: expect.stringContaining('redirects'),
  })
  expect(vault.seen).toHaveLength(0)
})

test.each([
  { timeoutMs: 0 },
  { timeoutMs: Number.NaN },
  { retries: -1 },
  { retries: 0.5 },
  { maxWaitMs: Number.NaN },
  { cache: { freshMs: Number.NaN } },
])('refuses the option %j', (options) => {
  const create = (): unknown =>
    createVaultClient({ url: 'http://127.0.0.1:1', project: 'shop', privateKey: privateJwk, ...options })
  expect(create).toThrow(VaultError)
})
