import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, type Key, newKey, send, signHeaders } from '../support/client.ts'
import { type OidcIssuer, startOidcIssuer } from '../support/oidc-issuer.ts'
import { startReceiver } from '../support/receiver.ts'
import { startVault, type TestVault } from '../support/vault.ts'

const HOUR_MS = 3_600_000
const ANSWERED = [200, {}]
const EXPIRED = [401, { error: 'expired' }]
const REPLAYED = [401, { error: 'replayed_nonce' }]
const PUBLIC = 'https://vault.example.org/v1/secrets'
const PROXY = { 'X-Forwarded-Host': 'vault.example.org', 'X-Forwarded-Proto': 'https' }

let vaults: Record<'exact' | 'fast' | 'slow', TestVault>
let key: Key
let issuer: OidcIssuer

/** The clocks of two replicas differ by an hour from that of Redis. */
beforeAll(async () => {
  const exact = await startVault({
    TRUSTED_PROXIES: '127.0.0.1',
    PUBLIC_URL: 'https://vault.example.org,http://127.0.0.1:0',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    OIDC_ALLOW_LOOPBACK: 'true',
  })
  issuer = await startOidcIssuer()
  vaults = { exact, fast: await exact.replica(), slow: await exact.replica() }
  vaults.fast.advance(HOUR_MS)
  vaults.slow.advance(-HOUR_MS)
  key = await createProject(vaults.exact.url, 'shop')
})
afterAll(async () => {
  for (const vault of [vaults.slow, vaults.fast, vaults.exact]) await vault.stop()
  await issuer.stop()
})

const signedAgo = (seconds: number, nonce?: string, by = key) =>
  signHeaders({
    ...{ project: 'shop', key: by, method: 'GET', url: PUBLIC, created: Math.floor(Date.now() / 1000) - seconds },
    ...(nonce !== undefined && { nonce }),
  })

async function sendTo(vault: TestVault, headers: Record<string, string>): Promise<[number, unknown]> {
  const { status, body } = await send(`${vault.url}/v1/secrets`, { headers: { ...headers, ...PROXY } })
  return [status, body]
}

test.each([
  ['signed now', 0],
  ['signed nearly five minutes ago', 295],
  ['dated nearly five minutes ahead', -299],
])('accepts a request %s once at any replica', async (_what, ago) => {
  const { exact, fast, slow } = vaults
  for (const [first, ...others] of [
    [fast, slow, exact],
    [slow, fast, exact],
    [exact, slow, fast],
  ] as const) {
    const headers = await signedAgo(ago)
    expect(await sendTo(first, headers)).toEqual(ANSWERED)
    for (const other of [first, ...others]) expect(await sendTo(other, headers)).toEqual(REPLAYED)
  }
})

test.each([
  ['signed more than five minutes ago', 302],
  ['dated more than five minutes ahead', -303],
  ['signed at the time of the fast replica', -3_600],
  ['signed at the time of the slow replica', 3_600],
])('refuses a request %s as expired without spending its nonce', async (_what, ago) => {
  const nonce = randomBytes(16).toString('hex')
  for (const vault of Object.values(vaults)) expect(await sendTo(vault, await signedAgo(ago, nonce))).toEqual(EXPIRED)
  expect(await sendTo(vaults.exact, await signedAgo(0, nonce))).toEqual(ANSWERED)
})

test('ends keys immediately for a replica whose clock is behind', async () => {
  const headers = await signedAgo(0)
  expect(await sendTo(vaults.slow, await signedAgo(0))).toEqual(ANSWERED)
  const rotated = await admin(vaults.exact.url, 'PUT', '/projects/shop/rotate', { overlap: 0 })
  expect(rotated.status).toBe(200)
  expect(await sendTo(vaults.slow, headers)).toEqual([401, { error: 'invalid_signature' }])
})

test('ID tokens and exchanged keys are the same for all replicas', async () => {
  const rule = { name: 'deploy', issuer: issuer.url, audience: 'https://vault.example.org', minutes: 1 }
  const added = await admin(vaults.exact.url, 'POST', '/projects/shop/trust-rules', {
    ...{ ...rule, claims: { sub: 'repo:octo-org/shop:*' } },
  })
  expect(added.status).toBe(201)
  const all = Object.values(vaults)
  const exchange = async (at: TestVault, idToken: string, publicKey: string): Promise<number> => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json', ...PROXY } }
    return (await send(`${at.url}/v1/keys/exchange`, { ...init, body: JSON.stringify({ idToken, publicKey }) })).status
  }
  const keys: Key[] = []
  for (const at of all) {
    const [idToken, admitted] = [await issuer.sign(), newKey()]
    expect(await exchange(at, idToken, admitted.publicKeyHex)).toBe(201)
    for (const other of all) expect(await exchange(other, idToken, newKey().publicKeyHex)).toBe(401)
    keys.push(admitted)
  }
  for (const each of keys)
    for (const at of all) expect(await sendTo(at, await signedAgo(0, undefined, each))).toEqual(ANSWERED)
  await vaults.exact.age(61_000)
  for (const each of keys)
    for (const at of all)
      expect(await sendTo(at, await signedAgo(0, undefined, each))).toEqual([401, { error: 'invalid_signature' }])
})

test('a replica whose clock is ahead gives up no webhook', async () => {
  const receiver = await startReceiver(vaults.exact)
  receiver.answer = () => 503
  const { body } = await admin(vaults.exact.url, 'POST', '/projects/shop/webhooks', { url: receiver.url })
  const hook = `/projects/shop/webhooks/${(body as { id: string }).id}`
  await admin(vaults.slow.url, 'POST', `${hook}/test`)
  const ahead = await vaults.exact.replica()
  ahead.advance(30 * 24 * HOUR_MS)
  for (const at of [vaults.exact, ahead, vaults.slow]) {
    const { webhookDeliveries } = at.context.useCases
    await webhookDeliveries.expire()
    await webhookDeliveries.startDue()
    await webhookDeliveries.settled()
  }
  expect((await admin(vaults.exact.url, 'GET', `${hook}/deliveries`)).body).toMatchObject([
    { state: 'waiting', attempts: 1 },
  ])
  await admin(vaults.exact.url, 'DELETE', hook)
  await ahead.stop()
  await receiver.close()
})

test('receivers accept the webhooks of every replica', async () => {
  const receiver = await startReceiver(vaults.exact)
  const hooks = '/projects/shop/webhooks'
  const added = await admin(vaults.exact.url, 'POST', hooks, { url: receiver.url })
  expect(added.status).toBe(201)
  for (const vault of [vaults.slow, vaults.exact, vaults.fast]) {
    await admin(vault.url, 'POST', `${hooks}/${(added.body as { id: string }).id}/test`)
    const { webhookDeliveries } = vault.context.useCases
    await webhookDeliveries.startDue()
    await webhookDeliveries.settled()
  }
  expect(receiver.events).toHaveLength(3)
  expect(receiver.refused).toEqual([])
  await receiver.close()
})
