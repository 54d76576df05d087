import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, type Key, send, signHeaders } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

const WINDOW_MS = 300_000
const EXPIRED = [401, { error: 'expired' }]
const REPLAYED = [401, { error: 'replayed_nonce' }]
const PUBLIC = 'https://vault.example.org/v1/secrets'
const PROXY = { 'X-Forwarded-Host': 'vault.example.org', 'X-Forwarded-Proto': 'https' }

const start = Math.floor(Date.now() / 1000) * 1000

let vaults: Record<'exact' | 'fast' | 'slow', TestVault>
let key: Key

beforeAll(async () => {
  const exact = await startVault({
    TRUSTED_PROXIES: '127.0.0.1',
    PUBLIC_URL: 'https://vault.example.org,http://127.0.0.1:0',
  })
  vaults = { exact, fast: await exact.replica(), slow: await exact.replica() }
  exact.holdClock(start)
  vaults.fast.holdClock(start + 240_000)
  vaults.slow.holdClock(start - 240_000)
  key = await createProject(vaults.exact.url, 'shop')
})
afterAll(async () => {
  for (const vault of [vaults.slow, vaults.fast, vaults.exact]) await vault.stop()
})

const signedAt = (created: number) =>
  signHeaders({ project: 'shop', key, method: 'GET', url: PUBLIC, created: created / 1000 })

async function sendTo(vault: TestVault, headers: Record<string, string>): Promise<[number, unknown]> {
  const { status, body } = await send(`${vault.url}/v1/secrets`, { headers: { ...headers, ...PROXY } })
  return [status, body]
}

test.each([
  ['signed exactly five minutes ago is accepted', WINDOW_MS, [200, {}]],
  ['signed one millisecond more ago has expired', WINDOW_MS + 1, EXPIRED],
  ['dated exactly five minutes ahead is accepted', -WINDOW_MS, [200, {}]],
  ['dated one millisecond more ahead counts as expired', -WINDOW_MS - 1, EXPIRED],
])('a request %s', async (_what, ageMs, answer) => {
  vaults.exact.holdClock(start + ageMs)
  expect(await sendTo(vaults.exact, await signedAt(start))).toEqual(answer)
  vaults.exact.holdClock(start)
})

test('an expired request spends no nonce: it is good again for a vault whose clock is right', async () => {
  const headers = await signedAt(start)
  vaults.exact.holdClock(start + WINDOW_MS + 1)
  expect(await sendTo(vaults.exact, headers)).toEqual(EXPIRED)
  vaults.exact.holdClock(start)
  expect(await sendTo(vaults.exact, headers)).toEqual([200, {}])
  expect(await sendTo(vaults.exact, headers)).toEqual(REPLAYED)
})

test('replicas whose clocks differ by eight minutes accept a request of the right time once among them', async () => {
  for (const [first, ...others] of [
    [vaults.fast, vaults.slow, vaults.exact],
    [vaults.slow, vaults.fast, vaults.exact],
  ]) {
    if (first === undefined) throw new Error('no replica')
    const headers = await signedAt(start)
    expect(await sendTo(first, headers)).toEqual([200, {}])
    for (const other of others) expect(await sendTo(other, headers)).toEqual(REPLAYED)
  }
})

test('a clock that jumps back a day refuses what is signed now, and serves again when it is set right', async () => {
  vaults.exact.holdClock(start - 86_400_000)
  expect(await sendTo(vaults.exact, await signedAt(start))).toEqual(EXPIRED)
  vaults.exact.holdClock(start)
  expect(await sendTo(vaults.exact, await signedAt(start))).toEqual([200, {}])
})

test('keys that are ended at once are ended for a replica whose clock is behind, too', async () => {
  const headers = await signedAt(start)
  expect(await sendTo(vaults.slow, await signedAt(start))).toEqual([200, {}])
  const rotated = await admin(vaults.exact.url, 'PUT', '/projects/shop/rotate', { overlap: 0 })
  expect(rotated.status).toBe(200)
  expect(await sendTo(vaults.slow, headers)).toEqual([401, { error: 'invalid_signature' }])
})
