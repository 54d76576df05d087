import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  type PrivateServer,
  removeTemporaryFolder,
  startRedis,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import { admin, createProject, newKey, send, statusAndError } from './support/client.ts'
import { type OidcIssuer, startOidcIssuer } from './support/oidc-issuer.ts'
import { startVault, type TestVault } from './support/vault.ts'
import { statusOf } from './support/vault-process.ts'

let folder: string
let redis: PrivateServer
let issuer: OidcIssuer
let vault: TestVault

beforeAll(async () => {
  folder = temporaryFolder('exchange-limits')
  redis = await startRedis({ dataDir: `${folder}/redis`, durable: true })
  issuer = await startOidcIssuer()
  vault = await startVault(
    { OIDC_ALLOW_LOOPBACK: 'true', SIGNATURE_FAILURE_LIMIT: '20', TRUSTED_PROXIES: '127.0.0.1' },
    { redisUrl: redis.url },
  )
  await createProject(vault.url, 'shop')
  const claims = { sub: 'repo:octo-org/shop:*' }
  const rule = { name: 'deploy', issuer: issuer.url, audience: 'https://vault.example.org', claims }
  await admin(vault.url, 'POST', '/projects/shop/trust-rules', rule)
})
afterAll(async () => {
  await vault.stop()
  await issuer.stop()
  await redis.stop()
  removeTemporaryFolder(folder)
})

function exchange(idToken: string, address = '192.0.2.1', options: object = {}) {
  return send(`${vault.url}/v1/keys/exchange`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address },
    body: JSON.stringify({ idToken, publicKey: newKey().publicKeyHex, ...options }),
  })
}

const admitted = async (): Promise<number> => (await vault.sql('select from exchanged_keys')).length

test('after a loss of Redis, tokens that were issued before it are refused', async () => {
  const [spent, unspent] = [await issuer.sign(), await issuer.sign()]
  expect((await exchange(spent)).status).toBe(201)
  const client = new Redis(redis.url)
  await client.flushall()
  await client.quit()
  for (const idToken of [spent, unspent])
    expect(statusAndError(await exchange(idToken))).toEqual([401, 'invalid_id_token'])
  await eventually(async () => (await exchange(await issuer.sign())).status === 201)
})

test('while Redis is unavailable, nothing is admitted', async () => {
  const before = await admitted()
  redis.pause()
  expect(statusAndError(await exchange(await issuer.sign()))).toEqual([503, 'unavailable'])
  redis.resume()
  await eventually(async () => (await statusOf(`${vault.url}/ready`)) === 200)
  expect(await admitted()).toBe(before)
  await eventually(async () => (await exchange(await issuer.sign())).status === 201)
})

test('an address that fails too often is blocked, and others are not', async () => {
  const wrong = await issuer.sign({ aud: 'https://other.example.org' })
  for (let i = 0; i < 20; i++) expect((await exchange(wrong, '198.51.100.1')).status).toBe(401)
  expect(statusAndError(await exchange(wrong, '198.51.100.1'))).toEqual([429, 'rate_limited'])
  const refused = await exchange(await issuer.sign(), '198.51.100.1')
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  expect((await exchange(await issuer.sign(), '198.51.100.2')).status).toBe(201)
  const metrics = await (await fetch(`${vault.url}/metrics`)).text()
  expect(metrics).toMatch(/^vault_authentication_failures_total\{code="invalid_id_token"\} [1-9]/m)
})

test('a token that does not verify, or names a project, reads no more rules than it needs', async () => {
  const refused = async (): Promise<number> => {
    const metrics = await (await fetch(`${vault.url}/metrics`)).text()
    return Number(/^vault_refused_rows_total\{table="trust_rules"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
  }
  const [rule] = await vault.sql<{ id: string }>('select id from trust_rules')
  await createProject(vault.url, 'other')
  const claims = { sub: 'repo:octo-org/shop:*' }
  const other = { name: 'forged', issuer: issuer.url, audience: 'https://vault.example.org', claims }
  await admin(vault.url, 'POST', '/projects/other/trust-rules', other)
  // A row that is read is refused, and counted.
  await vault.sql(`update trust_rules set minutes = 60 where name = 'forged'`)
  const before = await refused()
  const idToken = await issuer.sign()
  expect((await exchange(`${idToken.slice(0, -8)}AAAAAAAA`)).status).toBe(401)
  expect((await exchange(await issuer.sign({ aud: 'https://other.example.org\u0000' }))).status).toBe(401)
  expect((await exchange(idToken, '192.0.2.1', { project: 'shop' })).status).toBe(201)
  expect(await refused()).toBe(before)

  expect((await exchange(await issuer.sign())).status).toBe(201)
  expect(await refused()).toBe(before + 1)
  // The first rule of the issuer is refused, but another one is authentic.
  await vault.sql('update trust_rules set minutes = 59 where id = $1', [rule?.id])
  await vault.sql(`update trust_rules set minutes = 15 where name = 'forged'`)
  expect((await exchange(await issuer.sign())).status).toBe(201)
})
