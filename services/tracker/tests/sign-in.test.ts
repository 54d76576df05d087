import { execFile } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { withRowLocked } from './support/row-lock.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

const DAY = 24 * 3_600_000

let tracker: TestTracker

beforeAll(async () => {
  tracker = await startTracker({ REGISTRATION: 'open' })
})

afterAll(() => tracker.stop())

const person = (username: string) => ({ username, email: `${username}@example.org`, password: PASSWORD })

test('registering signs in and returns the account', async () => {
  const client = tracker.client()
  const answer = await client.post('/api/auth/register', person('Newcomer'))
  expect(answer.status).toBe(201)
  expect(answer.json).toEqual({
    id: expect.any(String),
    username: 'Newcomer',
    role: 'member',
    state: 'active',
    created: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    email: 'Newcomer@example.org',
    passkey: expect.stringMatching(/^[0-9a-f]{40}$/),
    announceUrl: `http://tracker.test/announce?passkey=${answer.member('passkey')}`,
    canDownload: true,
    statsPublic: true,
    passkeyOpensTorznab: true,
    invitesLeft: 0,
    ...{ uploaded: 0, downloaded: 0, ratio: null },
  })
  expect((await client.get('/api/user/me')).json).toEqual(answer.json)
  // To staff they were seen when they registered.
  const [user] = await tracker.sql("select last_seen_at from users where username = 'Newcomer'")
  expect(user).toEqual({ last_seen_at: new Date(answer.member('created')) })
})

test('the cookie is HttpOnly, SameSite=Lax, for the whole site, and not Secure over http', async () => {
  await tracker.createUser('cookie-eater')
  const answer = await tracker.client().post('/api/auth/login', { username: 'cookie-eater', password: PASSWORD })
  expect(answer.headers.get('set-cookie')).toMatch(
    /^session=[\w-]{43}; Max-Age=7776000; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
  )
})

test('the cookie is Secure if the public URL is https', async () => {
  const secure = await tracker.replica({ PUBLIC_URL: 'https://tracker.test' })
  try {
    const client = await secure.signedIn('somebody')
    const again = await client.post('/api/auth/login', { username: 'somebody', password: PASSWORD })
    expect(again.headers.get('set-cookie')).toContain('; Secure;')
  } finally {
    await secure.stop()
  }
})

test('usernames and email addresses are unique case-insensitively', async () => {
  await tracker.createUser('Original')
  const name = await tracker.client().post('/api/auth/register', { ...person('oRIGINAL'), email: 'else@example.org' })
  expect([name.status, name.member('error', 'code')]).toEqual([409, 'CONFLICT'])
  const address = await tracker
    .client()
    .post('/api/auth/register', { ...person('other'), email: 'ORIGINAL@EXAMPLE.ORG' })
  expect([address.status, address.member('error', 'code')]).toEqual([409, 'CONFLICT'])
})

test('one of several concurrent registrations of the same name succeeds', async () => {
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, i) =>
      tracker.client().post('/api/auth/register', { ...person('contested'), email: `contested${i}@example.org` }),
    ),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409])
})

test.each([
  [{ username: 'a', email: 'a@example.org', password: PASSWORD }, 'username'],
  [{ username: 'has space', email: 'a@example.org', password: PASSWORD }, 'username'],
  [{ username: 'nul\u0000', email: 'a@example.org', password: PASSWORD }, 'username'],
  [{ username: 'someone', email: 'nowhere', password: PASSWORD }, 'email'],
  [{ username: 'someone', email: 'a@example.org', password: 'short' }, 'password'],
  [{ username: 'someone', email: 'a@example.org' }, 'password'],
  [{ username: ['someone'], email: 'a@example.org', password: PASSWORD }, 'username'],
])('registering with %j is refused, naming the member %s', async (body, name) => {
  const answer = await tracker.client().post('/api/auth/register', body)
  expect([answer.status, answer.member('error', 'code')]).toEqual([400, 'BAD_REQUEST'])
  expect(answer.member('error', 'message')).toMatch(new RegExp(`^${name}: `))
})

test('the username is case-insensitive, the password is not', async () => {
  await tracker.createUser('MixedCase')
  const login = (username: string, password: string) => tracker.client().post('/api/auth/login', { username, password })
  expect((await login('mixedcase', PASSWORD)).status).toBe(200)
  expect((await login('MixedCase', PASSWORD.toUpperCase())).status).toBe(401)
})

test('an unknown name and a wrong password get the same answer', async () => {
  await tracker.createUser('known')
  const attempt = async (username: string) => {
    const { status, text } = await tracker.client().post('/api/auth/login', { username, password: 'not the password' })
    return { status, text }
  }
  expect(await attempt('unknown')).toEqual(await attempt('known'))
})

test('refuses a flood of sign-ins and keeps working, even if half of them are of nobody', async () => {
  await tracker.createUser('flooded')
  const release = await occupyThreads()
  let refused = 0
  // More than can wait, but fewer without those of nobody. A hash is checked for these too, or they would be faster.
  const signingIn = Array.from({ length: 90 }, async (_, i) => {
    const username = i % 2 === 0 ? 'flooded' : `nobody-${String(i)}`
    const { status } = await tracker.client().post('/api/auth/login', { username, password: 'whatever' })
    if (status === 503) refused += 1
    return status
  })
  try {
    await eventually(() => refused > 0)
    expect((await tracker.client().get('/api/categories')).status).toBe(200)
  } finally {
    await release()
  }
  expect(new Set(await Promise.all(signingIn))).toEqual(new Set([401, 503]))
})

/** Occupies the four threads that Node hashes passwords in, so that hashes queue however fast the machine is. */
async function occupyThreads(): Promise<() => Promise<void>> {
  const folder = temporaryFolder('threads')
  const pipes = ['1', '2', '3', '4'].map((name) => join(folder, name))
  await promisify(execFile)('mkfifo', pipes)
  // A thread that opens a pipe waits until the pipe has a writer.
  const opening = pipes.map((pipe) => open(pipe, 'r'))
  return async () => {
    const writers = pipes.map((pipe) => openSync(pipe, 'r+'))
    for (const reader of await Promise.all(opening)) await reader.close()
    for (const writer of writers) closeSync(writer)
    removeTemporaryFolder(folder)
  }
}

test('signing out ends the session permanently, even one missing from the index', async () => {
  const client = await tracker.signedIn('leaver')
  await tracker.redisClient.del(`sessions:${(await client.get('/api/user/me')).member('id')}`)
  const cookie = client.cookie
  expect((await client.post('/api/auth/logout')).status).toBe(204)
  expect(client.cookie).toBeUndefined()
  client.cookie = cookie
  expect((await client.get('/api/user/me')).status).toBe(401)
})

test.each(['', 'x', 'A'.repeat(43), '../../etc', `${'A'.repeat(43)}%00`])(
  'the cookie value %j is nobody',
  async (value) => {
    const client = tracker.client()
    client.cookie = value
    const answer = await client.get('/api/user/me')
    expect([answer.status, answer.member('error', 'code')]).toEqual([401, 'UNAUTHORIZED'])
  },
)

test('Redis stores the hash of the token, never the token', async () => {
  const client = await tracker.signedIn('hashed')
  const { redisClient: redis } = tracker
  const keys = await redis.keys('session*')
  const values = await Promise.all(keys.filter((key) => key.startsWith('session:')).map((key) => redis.get(key)))
  expect(keys.length).toBeGreaterThan(0)
  expect([...keys, ...values].join()).not.toContain(client.cookie)
})

test('lists sessions newest first and ends a single one', async () => {
  const first = await tracker.signedIn('traveller')
  const second = tracker.client()
  await second.post('/api/auth/login', { username: 'traveller', password: PASSWORD }, { 'user-agent': 'a phone' })
  const listed = await second.get('/api/auth/sessions')
  expect(listed.json).toMatchObject({
    items: [
      { current: true, userAgent: 'a phone', address: '127.0.0.1' },
      { current: false, address: '127.0.0.1' },
    ],
  })
  expect((await second.delete(`/api/auth/sessions/${listed.member('items', 1, 'id')}`)).status).toBe(204)
  expect((await first.get('/api/user/me')).status).toBe(401)
  expect((await second.get('/api/user/me')).status).toBe(200)
  expect((await second.delete(`/api/auth/sessions/${listed.member('items', 1, 'id')}`)).status).toBe(404)
})

test("users cannot end another user's session", async () => {
  const victim = await tracker.signedIn('victim')
  const id = (await victim.get('/api/auth/sessions')).member('items', 0, 'id')
  const other = await tracker.signedIn('attacker')
  expect((await other.delete(`/api/auth/sessions/${id}`)).status).toBe(404)
  expect((await victim.get('/api/user/me')).status).toBe(200)
})

test('signing out everywhere ends every session, even one missing from the index', async () => {
  const first = await tracker.signedIn('everywhere')
  const second = tracker.client()
  const me = await second.post('/api/auth/login', { username: 'everywhere', password: PASSWORD })
  await tracker.redisClient.del(`sessions:${me.member('id')}`)
  expect((await second.delete('/api/auth/sessions')).status).toBe(204)
  expect((await first.get('/api/user/me')).status).toBe(401)
  expect(second.cookie).toBeUndefined()
})

test('changing the password ends the other sessions', async () => {
  const here = await tracker.signedIn('careful')
  const there = tracker.client()
  await there.post('/api/auth/login', { username: 'careful', password: PASSWORD })
  const wrong = await here.post('/api/user/password', { currentPassword: 'guess', newPassword: 'a better password' })
  expect(wrong.status).toBe(403)
  const right = await here.post('/api/user/password', { currentPassword: PASSWORD, newPassword: 'a better password' })
  expect(right.status).toBe(204)
  expect((await here.get('/api/user/me')).status).toBe(200)
  expect((await there.get('/api/user/me')).status).toBe(401)
  const login = (password: string) => tracker.client().post('/api/auth/login', { username: 'careful', password })
  expect((await login(PASSWORD)).status).toBe(401)
  expect((await login('a better password')).status).toBe(200)
})

test('one of two concurrent password changes succeeds', async () => {
  const here = await tracker.signedIn('twice')
  const change = (newPassword: string) =>
    here.post('/api/user/password', { currentPassword: PASSWORD, newPassword }).then(({ status }) => status)
  const statuses = await withRowLocked(tracker, 'twice', async (waiting) => {
    const first = change('the first password')
    await waiting(1)
    const second = change('the second password')
    await waiting(2)
    return [first, second]
  })
  expect(statuses).toEqual([204, 403])
  const login = (password: string) => tracker.client().post('/api/auth/login', { username: 'twice', password })
  expect((await login('the first password')).status).toBe(200)
  expect((await login('the second password')).status).toBe(401)
})

test('the twenty-first session of a user ends the oldest', async () => {
  const first = await tracker.signedIn('collector')
  let last = first
  for (let i = 0; i < 20; i++) {
    tracker.advance(1_000)
    last = tracker.client()
    await last.post('/api/auth/login', { username: 'collector', password: PASSWORD })
  }
  expect((await first.get('/api/user/me')).status).toBe(401)
  const listed = await last.get('/api/auth/sessions')
  expect(listed.json).toHaveProperty('items.length', 20)
})

test('a session ends after 14 idle days, and after 90 days in any case', async () => {
  const idle = await tracker.signedIn('idler')
  const busy = await tracker.signedIn('regular')
  for (let day = 0; day < 84; day += 12) {
    tracker.advance(12 * DAY)
    expect((await busy.get('/api/user/me')).status).toBe(200)
  }
  expect((await idle.get('/api/user/me')).status).toBe(401)
  tracker.advance(7 * DAY)
  expect((await busy.get('/api/user/me')).status).toBe(401)
})

test.each(['suspended', 'banned'] as const)('a %s account can neither sign in nor use its sessions', async (state) => {
  const client = await tracker.signedIn(`soon-${state}`)
  const id = (await client.get('/api/user/me')).member('id')
  await tracker.context.useCases.accounts.change(id, { state })
  const going = await client.get('/api/user/me')
  expect([going.status, going.member('error', 'message')]).toEqual([403, `This account is ${state}.`])
  const coming = await tracker.client().post('/api/auth/login', { username: `soon-${state}`, password: PASSWORD })
  expect([coming.status, coming.member('error', 'code')]).toEqual([403, 'FORBIDDEN'])
  const guessing = await tracker.client().post('/api/auth/login', { username: `soon-${state}`, password: 'wrong' })
  expect(guessing.status).toBe(401)
})
