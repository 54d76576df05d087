import { afterEach, expect, test } from '@jest/globals'
import { announceQuery, rawGet } from './support/announcer.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker

afterEach(() => tracker.stop())

test('limits reads per user and reports the limit in headers', async () => {
  tracker = await startTracker({ REST_READ_LIMIT: '3' })
  const one = await tracker.signedIn('one')
  const two = await tracker.signedIn('two')
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await one.get('/api/user/me')).status)
  expect(statuses).toEqual([200, 200, 200, 429])
  const refused = await one.get('/api/torrents')
  expect(refused.json).toEqual({ error: { code: 'RATE_LIMITED', message: expect.any(String) } })
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(refused.headers.get('ratelimit')).toContain('rest-read')
  expect((await two.get('/api/user/me')).status).toBe(200)
})

test('counts users across addresses and sessions, and clients without a session by address', async () => {
  tracker = await startTracker({ REST_READ_LIMIT: '2', TRUSTED_PROXIES: '127.0.0.1' })
  const user = await tracker.signedIn('traveller')
  const read = async (address: string) => (await user.get('/api/user/me', { 'x-forwarded-for': address })).status
  expect([await read('203.0.113.1'), await read('203.0.113.2'), await read('203.0.113.3')]).toEqual([200, 200, 429])
  const visitor = tracker.client()
  const look = async (address: string) => (await visitor.get('/api/categories', { 'x-forwarded-for': address })).status
  expect([await look('2001:db8::1'), await look('2001:db8::2'), await look('2001:db8::3')]).toEqual([200, 200, 429])
  expect(await look('2001:db8:0:1::1')).toBe(200)
})

test('limits writes per user, separately from reads', async () => {
  tracker = await startTracker({ REST_WRITE_LIMIT: '2' })
  const client = await tracker.signedIn('writer')
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await client.patch('/api/user/me', { statsPublic: true })).status)
  expect(statuses).toEqual([200, 200, 429])
  expect((await client.get('/api/user/me')).status).toBe(200)
})

test('limits writes of staff separately from those of members', async () => {
  tracker = await startTracker({ REST_WRITE_LIMIT: '1', REST_STAFF_WRITE_LIMIT: '3' })
  const staff = await tracker.signedIn('busy', 'moderator')
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await staff.patch('/api/user/me', { statsPublic: true })).status)
  expect(statuses).toEqual([200, 200, 200, 429])
})

test('limits sign-ins by address and account, including correct passwords', async () => {
  tracker = await startTracker({ AUTH_LIMIT: '3', TRUSTED_PROXIES: '127.0.0.1' })
  await tracker.context.useCases.accounts.create({
    username: 'target',
    email: 'target@example.org',
    password: PASSWORD,
    role: 'member',
  })
  const attempt = async (username: string, password: string, address: string) => {
    const answer = await tracker
      .client()
      .post('/api/auth/login', { username, password }, { 'x-forwarded-for': address })
    return answer.status
  }
  const attacker = '203.0.113.7'
  for (let i = 0; i < 3; i++) expect(await attempt('Target', 'guess', attacker)).toBe(401)
  expect(await attempt('tARGET', PASSWORD, attacker)).toBe(429)
  // No user can lock out another user.
  expect(await attempt('target', PASSWORD, '203.0.113.8')).toBe(200)
  expect(await attempt('another', 'guess', attacker)).toBe(401)
})

test('allows an address ten times the attempts of an account, with any usernames', async () => {
  tracker = await startTracker({ AUTH_LIMIT: '1' })
  const statuses = []
  for (let i = 0; i < 11; i++)
    statuses.push((await tracker.client().post('/api/auth/login', { username: `name-${i}`, password: 'x' })).status)
  expect(statuses).toEqual([...Array<number>(10).fill(401), 429])
})

test('limits guesses of the current password in a stolen session, and no correct ones', async () => {
  tracker = await startTracker({ AUTH_LIMIT: '2', REGISTRATION: 'open' })
  const client = tracker.client()
  await client.post('/api/auth/register', { username: 'robbed', email: 'robbed@example.org', password: PASSWORD })
  for (const name of ['sonarr', 'radarr', 'prowlarr', 'autobrr']) {
    const created = await client.post('/api/tokens', { name, scopes: ['read'], password: PASSWORD })
    expect([name, created.status]).toEqual([name, 201])
  }
  const statuses = []
  for (let i = 0; i < 3; i++)
    statuses.push((await client.post('/api/user/password', { currentPassword: `${i}`, newPassword: PASSWORD })).status)
  expect(statuses).toEqual([403, 403, 429])
})

test('limits announces without a user by IPv4 address or IPv6 /64', async () => {
  tracker = await startTracker({ TRACKER_MODE: 'open', ANNOUNCE_LIMIT: '3', TRUSTED_PROXIES: '127.0.0.1' })
  tracker.holdClock()
  const statusOf = async (address: string) => {
    const target = `/announce?${announceQuery({ infoHash: 'ab'.repeat(20) })}`
    return (await rawGet(tracker.url, target, { 'x-forwarded-for': address })).status
  }
  const statuses = []
  for (let i = 1; i <= 4; i++) statuses.push(await statusOf(`2a00:0:0:1::${i}`))
  for (let i = 1; i <= 4; i++) statuses.push(await statusOf('1.2.3.4'))
  expect(statuses).toEqual([200, 200, 200, 429, 200, 200, 200, 429])
  expect([await statusOf('2a00:0:0:2::1'), await statusOf('1.2.3.5')]).toEqual([200, 200])
})
