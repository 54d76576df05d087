import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import type { Client } from './support/client.ts'
import { createMember } from './support/members.ts'
import { setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'
import { requestsAreWritten } from './support/torznab-log.ts'
import type { TestTracker } from './support/tracker.ts'

const MINUTE = 60_000

let site: TorznabSite
let replica: TestTracker
let admin: Client
let clock = Math.ceil(Date.now() / MINUTE) * MINUTE + 1_000

beforeAll(async () => {
  site = await startTorznabSite({ TRUSTED_PROXIES: '127.0.0.1' })
  admin = await site.tracker.signedIn('boss', 'admin')
  replica = await site.tracker.replica()
})

// Each test has its own window.
beforeEach(() => {
  clock += 10 * MINUTE
  site.tracker.holdClock(clock)
  replica.holdClock(clock)
})

afterAll(async () => {
  await replica.stop()
  await site.tracker.stop()
})

async function limit(searches: number): Promise<void> {
  await setLimits(site.tracker, { searches })
  for (const tracker of [site.tracker, replica]) {
    const client = Object.assign(tracker.client(), { cookie: admin.cookie })
    await eventually(async () => {
      const { json } = await client.get('/api/user/torznab')
      return (json as { searches: { limit: number } }).searches.limit === searches
    })
  }
}

const ask = (passkey: string, address: string, tracker = site.tracker) =>
  tracker.client().get(`/api/torznab?t=search&limit=0&apikey=${passkey}`, { 'x-forwarded-for': address })

test('requests refused by a block do not count as refusals by a limit', async () => {
  await limit(1)
  const noisy = await createMember(site.tracker, 'noisy')
  const quiet = await createMember(site.tracker, 'quiet')
  for (let i = 0; i < 11; i++) await ask(noisy.passkey, '203.0.113.5')
  for (let i = 0; i < 3; i++) expect((await ask(quiet.passkey, '203.0.113.5')).status).toBe(429)
  const usage = async (name: string) => (await admin.get(`/api/admin/torznab/users?search=${name}`)).json
  await requestsAreWritten(site.tracker)
  expect(await usage('quiet')).toMatchObject({ items: [{ requests: 3, errors: 3, violations: 0 }] })
  expect(await usage('noisy')).toMatchObject({ items: [{ requests: 11, errors: 10, violations: 10 }] })
})

test('raising a limit admits users below the new one', async () => {
  await limit(2)
  const { passkey } = await createMember(site.tracker, 'raised')
  const statuses = []
  for (let i = 0; i < 8; i++) statuses.push((await ask(passkey, '203.0.113.7')).status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(2)
  await admin.patch('/api/admin/torznab/settings', { searchLimit: 5 })
  expect((await ask(passkey, '203.0.113.7')).status).toBe(200)
})

test('replicas whose clocks differ by 200 ms do not reset the window for each other', async () => {
  await limit(3)
  const { passkey } = await createMember(site.tracker, 'skewed')
  const edge = clock + MINUTE - 1_000
  site.tracker.holdClock(edge - 100)
  replica.holdClock(edge + 100)
  const statuses = []
  for (let i = 0; i < 12; i++)
    for (const tracker of [site.tracker, replica]) statuses.push((await ask(passkey, '203.0.113.8', tracker)).status)
  // Three of each window at most.
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(6)
})

test('replicas whose clocks differ count refusals of an address together', async () => {
  await limit(1)
  const { passkey } = await createMember(site.tracker, 'refused')
  const edge = clock + MINUTE - 1_000
  site.tracker.holdClock(edge - 100)
  replica.holdClock(edge + 100)
  await ask(passkey, '203.0.113.11', replica)
  let last = await ask(passkey, '203.0.113.11')
  for (let i = 1; i < 10; i++) last = await ask(passkey, '203.0.113.11', i % 2 === 0 ? site.tracker : replica)
  expect([last.status, last.headers.get('retry-after')]).toEqual([429, '300'])
})

test('unblocking an address that is not blocked returns 404 and keeps its next duration', async () => {
  await limit(1)
  const { passkey } = await createMember(site.tracker, 'stepped')
  const beRefused = async () => {
    let last = await ask(passkey, '203.0.113.9')
    for (let i = 0; i < 10; i++) last = await ask(passkey, '203.0.113.9')
    return last.headers.get('retry-after')
  }
  expect(await beRefused()).toBe('300')
  site.tracker.advance(6 * MINUTE)
  expect((await admin.delete('/api/admin/torznab/blocks/203.0.113.9')).status).toBe(404)
  expect(await beRefused()).toBe('600')
})
