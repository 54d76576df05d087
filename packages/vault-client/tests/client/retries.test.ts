import { generateKeyPairSync } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createVaultClient, type VaultClient, VaultError } from '../../src/index.ts'
import { type ForcedAnswer, startFakeVault } from '../fake-vault.ts'

const { privateJwk, publicKeyHex } = generateKeyPair()

const clientOf = (url: string, options: object = {}): VaultClient =>
  createVaultClient({ url, project: 'shop', privateKey: privateJwk, ...options })

async function failureOf(promise: Promise<unknown>): Promise<VaultError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof VaultError)) throw new Error('not a VaultError', { cause: error })
  return error
}

test.each<[string, ForcedAnswer]>([
  ['a connection that breaks', 'dropped'],
  ['an answer that is lost', 'lost'],
  ['429', { status: 429, body: '{"error":"rate_limited"}' }],
  ['503', { status: 503, body: '{"error":"unavailable","message":"Redis is unavailable"}' }],
  ['502 with the page of a proxy', { status: 502, body: '<html>' }],
  ['a nonce that a proxy spent', { status: 401, body: '{"error":"replayed_nonce"}' }],
])('after %s the request is sent again with a new nonce', async (_name, answer) => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.secrets.set('A', '1')
  const client = clientOf(vault.url)
  vault.answerNext(answer, answer)
  expect(await client.getAll()).toEqual({ A: '1' })
  await client.getAll()
  expect(new Set(vault.seen.map(({ nonce }) => nonce)).size).toBe(vault.seen.length)
})

test.each<[string, ForcedAnswer]>([
  ['invalid_signature', { status: 401, body: '{"error":"invalid_signature"}' }],
  ['forbidden', { status: 403, body: '{"error":"forbidden"}' }],
  ['decryption_failed', { status: 500, body: '{"error":"decryption_failed"}' }],
  ['invalid_answer', { status: 200, body: '<html>' }],
])('%s is not asked again', async (code, answer) => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerNext(answer)
  expect(await failureOf(clientOf(vault.url).getAll())).toMatchObject({ code })
  expect(vault.seen).toHaveLength(0)
})

test('after as many tries as allowed the last error is thrown', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerNext('dropped', 'dropped', { status: 503, body: '{"error":"unavailable"}' })
  expect(await failureOf(clientOf(vault.url, { retries: 2 }).getAll())).toMatchObject({
    code: 'unavailable',
    status: 503,
  })
})

test('Retry-After is obeyed, and where it is too long told instead', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  const limited = { status: 429, body: '{"error":"rate_limited"}' }
  vault.answerNext({ ...limited, headers: { 'retry-after': '1' } })
  const before = performance.now()
  await clientOf(vault.url).getAll()
  // Not a limit on the time it takes, but what the vault asked for.
  expect(performance.now() - before).toBeGreaterThan(990)
  vault.answerNext({ ...limited, headers: { 'retry-after': '60' } })
  expect(await failureOf(clientOf(vault.url).getAll())).toMatchObject({ code: 'rate_limited', retryAfterMs: 60_000 })
})

test('a deletion whose answer was lost is done, and one of nothing is not found', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.secrets.set('A', '1')
  vault.answerNext('lost')
  await clientOf(vault.url).remove('A')
  expect(vault.secrets.has('A')).toBe(false)
  expect(await failureOf(clientOf(vault.url).remove('A'))).toMatchObject({ code: 'not_found' })
})

test('a removal of what is not there is told, also after a connection that was refused', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  let refused = 0
  const refusing: typeof fetch = (input, init) => {
    refused += 1
    if (refused > 1) return fetch(input, init)
    return Promise.reject(
      new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
    )
  }
  const client = clientOf(vault.url, { fetch: refusing })
  expect(await failureOf(client.remove('A'))).toMatchObject({ code: 'not_found' })
  expect(refused).toBe(2)
})

test('a removal that a proxy sent twice is done', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerNext({ status: 401, body: '{"error":"replayed_nonce"}' })
  await clientOf(vault.url).remove('A')
})

test('a clock that is off is told, with the difference', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.clockMs = 405_000
  const behind = await failureOf(clientOf(vault.url).getAll())
  expect(behind).toMatchObject({ code: 'expired', message: expect.stringContaining('clock is 6 min 4') })
  expect(behind.message).toContain('behind the vault')
  expect(Math.round((behind.clockDifferenceMs ?? 0) / 10_000)).toBe(-40)
  vault.clockMs = -7_500_000
  expect((await failureOf(clientOf(vault.url).getAll())).message).toContain('clock is 2 h 5 min ahead of the vault')
})

test("the vault's own message is shown", async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerNext({ status: 400, body: '{"error":"invalid_request","message":"env has 70 characters, 64 at most"}' })
  expect((await failureOf(clientOf(vault.url).getAll())).message).toContain('env has 70 characters')
})

test('a host without an address is told apart', async () => {
  const client = clientOf('http://vault.invalid', { retries: 0 })
  expect(await failureOf(client.getAll())).toMatchObject({
    code: 'unknown_host',
    message: expect.stringContaining('vault.invalid has a name that does not resolve'),
  })
})

test('a server that does not speak TLS is told apart', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  const client = clientOf(vault.url.replace('http:', 'https:'), { retries: 0 })
  expect(await failureOf(client.getAll())).toMatchObject({ code: 'tls_failed' })
})

test('a TLS server without a certificate that is trusted is told apart', async () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const server = createServer({ key: privateKey.export({ format: 'pem', type: 'pkcs8' }) }, (socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = clientOf(`https://127.0.0.1:${String(port)}`, { retries: 0 })
  expect(await failureOf(client.getAll())).toMatchObject({ code: 'tls_failed' })
  await new Promise((resolve) => server.close(resolve))
})

test('what JSON.parse would quote of an answer is in no error', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerNext({ status: 200, body: '{"A":"canary-value' })
  const error = await failureOf(clientOf(vault.url).getAll())
  expect(`${error.message} ${String(error.cause)}`).not.toContain('canary')
})
