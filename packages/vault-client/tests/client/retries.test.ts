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
  ['a broken connection', 'dropped'],
  ['a lost response', 'lost'],
  ['429', { status: 429, body: '{"error":"rate_limited"}' }],
  ['503', { status: 503, body: '{"error":"unavailable","message":"Redis is unavailable"}' }],
  ['502 with the page of a proxy', { status: 502, body: '<html>' }],
  ['a replayed nonce', { status: 401, body: '{"error":"replayed_nonce"}' }],
])('after %s the request is retried with a new nonce', async (_name, answer) => {
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
])('does not retry after %s', async (code, answer) => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerNext(answer)
  expect(await failureOf(clientOf(vault.url).getAll())).toMatchObject({ code })
  expect(vault.seen).toHaveLength(0)
})

test('after the last retry, the last error is thrown', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerNext('dropped', 'dropped', { status: 503, body: '{"error":"unavailable"}' })
  expect(await failureOf(clientOf(vault.url, { retries: 2 }).getAll())).toMatchObject({
    code: 'unavailable',
    status: 503,
  })
})

test('waits for Retry-After, or fails if that is too long', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  const limited = { status: 429, body: '{"error":"rate_limited"}' }
  vault.answerNext({ ...limited, headers: { 'retry-after': '1' } })
  const before = performance.now()
  await clientOf(vault.url).getAll()
  // A lower bound only: the vault asked for 1 s.
  expect(performance.now() - before).toBeGreaterThan(990)
  vault.answerNext({ ...limited, headers: { 'retry-after': '60' } })
  expect(await failureOf(clientOf(vault.url).getAll())).toMatchObject({ code: 'rate_limited', retryAfterMs: 60_000 })
})

test('a deletion with a lost response succeeds, and one of a missing secret fails', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.secrets.set('A', '1')
  vault.answerNext('lost')
  await clientOf(vault.url).remove('A')
  expect(vault.secrets.has('A')).toBe(false)
  expect(await failureOf(clientOf(vault.url).remove('A'))).toMatchObject({ code: 'not_found' })
})

test('a deletion of a missing secret fails, even after a refused connection', async () => {
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

test('a deletion that a proxy sent twice succeeds', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerNext({ status: 401, body: '{"error":"replayed_nonce"}' })
  await clientOf(vault.url).remove('A')
})

test('reports a wrong clock with the difference', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.clockMs = 405_000
  const behind = await failureOf(clientOf(vault.url).getAll())
  expect(behind).toMatchObject({ code: 'expired', message: expect.stringContaining('clock is 6 min 4') })
  expect(behind.message).toContain('behind the vault')
  expect(Math.round((behind.clockDifferenceMs ?? 0) / 10_000)).toBe(-40)
  vault.clockMs = -7_500_000
  expect((await failureOf(clientOf(vault.url).getAll())).message).toContain('clock is 2 h 5 min ahead of the vault')
})

test('reports a host name that does not resolve as unknown_host', async () => {
  const client = clientOf('http://vault.invalid', { retries: 0 })
  expect(await failureOf(client.getAll())).toMatchObject({
    code: 'unknown_host',
    message: expect.stringContaining('vault.invalid'),
  })
})

test('reports a server without TLS as tls_failed', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  const client = clientOf(vault.url.replace('http:', 'https:'), { retries: 0 })
  expect(await failureOf(client.getAll())).toMatchObject({ code: 'tls_failed' })
})

test('reports a server without a trusted certificate as tls_failed', async () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const server = createServer({ key: privateKey.export({ format: 'pem', type: 'pkcs8' }) }, (socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = clientOf(`https://127.0.0.1:${String(port)}`, { retries: 0 })
  expect(await failureOf(client.getAll())).toMatchObject({ code: 'tls_failed' })
  await new Promise((resolve) => server.close(resolve))
})

test('no error quotes a response that is not JSON', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.answerNext({ status: 200, body: '{"A":"canary-value' })
  const error = await failureOf(clientOf(vault.url).getAll())
  expect(`${error.message} ${String(error.cause)}`).not.toContain('canary')
})
