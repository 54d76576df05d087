import { createServer } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { captureCommand, eventually } from '@vault-and-tracker/dev-env'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { runCommand } from '@vault-and-tracker/service-kit/lifecycle/command'
import { usersCommand } from '../src/commands/users.command.ts'
import { totpOf } from '../src/factors/totp.ts'
import { createAuthenticator } from './support/authenticator.ts'
import type { Answer, Client } from './support/client.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

const SITE = { origin: 'http://tracker.test', rpId: 'tracker.test' }
const password = PASSWORD

let tracker: TestTracker

beforeAll(async () => {
  tracker = await startTracker()
})

afterAll(() => tracker.stop())

// Each code is accepted once, so every test starts in a step of its own.
afterEach(() => tracker.advance(90_000))

const fromBase32 = (text: string): Buffer => {
  const bits = Array.from(text, (letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  ).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** Shows codes as an app does. */
const app = (secret: string) => ({
  code: (stepsAhead = 0) => totpOf(fromBase32(secret), Math.floor(tracker.now() / 30_000) + stepsAhead),
})

const texts = (answer: Answer, name: string) => (answer.json as Record<string, string[]>)[name] ?? []
const codeOf = (answer: Answer) => [answer.status, answer.member('error', 'code')]
const idOf = async (client: Client) => (await client.get('/api/user/me')).member('id')

/** Adds an app to an account. The code of this step is spent. */
async function addApp(client: Client) {
  const started = await client.post('/api/user/factors/totp', { password })
  const { code } = app(started.member('secret'))
  const confirmed = await client.post('/api/user/factors/totp/confirm', { code: code() })
  expect(confirmed.status).toBe(201)
  tracker.advance(30_000)
  return { code, recoveryCodes: texts(confirmed, 'recoveryCodes') }
}

async function addSecurityKey(client: Client, name = 'Laptop') {
  const authenticator = createAuthenticator(SITE)
  const options = (await client.post('/api/user/factors/security-key', { password })).json as { challenge: string }
  const credential = authenticator.create(options)
  const confirmed = await client.post('/api/user/factors/security-key/confirm', { name, credential })
  expect(confirmed.status).toBe(201)
  return { authenticator, recoveryCodes: texts(confirmed, 'recoveryCodes') }
}

/** Passes the first step of a sign-in. */
async function begin(username: string): Promise<Client> {
  const client = tracker.client()
  expect(codeOf(await client.post('/api/auth/login', { username, password }))).toEqual([401, 'SECOND_FACTOR_REQUIRED'])
  return client
}

const finish = (client: Client, proof: object) => client.post('/api/auth/second-factor', proof)
const securityKeyOptions = async (client: Client) =>
  ((await client.get('/api/auth/second-factor')).json as { securityKey: { challenge: string } }).securityKey

test('an app is added with a code, after which signing in takes two steps', async () => {
  const client = await tracker.signedIn('app')
  const elsewhere = tracker.client()
  await elsewhere.post('/api/auth/login', { username: 'app', password })
  const { code, recoveryCodes } = await addApp(client)
  expect(recoveryCodes).toHaveLength(10)
  expect([(await client.get('/api/user/me')).status, (await elsewhere.get('/api/user/me')).status]).toEqual([200, 401])
  expect((await client.get('/api/user/factors')).json).toEqual({
    items: [
      { id: expect.any(String), kind: 'totp', name: 'Authenticator app', created: expect.any(String), lastUsed: null },
    ],
    recoveryCodes: 10,
    isRequired: false,
  })

  const again = await begin('app')
  expect(again.cookie).toBeUndefined()
  expect((await again.get('/api/user/me')).status).toBe(401)
  expect((await again.get('/api/auth/second-factor')).json).toEqual({ kinds: ['totp'] })
  expect(codeOf(await finish(again, { code: code(5) }))).toEqual([401, 'UNAUTHORIZED'])
  const finished = await finish(again, { code: ` ${code().slice(0, 3)} ${code().slice(3)}` })
  expect([finished.status, finished.member('username')]).toEqual([200, 'app'])
  expect([again.pending, (await again.get('/api/user/me')).status]).toEqual([undefined, 200])
})

test('the cookie of a pending sign-in is short-lived, HttpOnly, SameSite=Strict and opens nothing', async () => {
  const client = await tracker.signedIn('cookie')
  await addApp(client)
  const visitor = tracker.client()
  const answer = await visitor.post('/api/auth/login', { username: 'cookie', password })
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^pending=[^;]+; Max-Age=300; Path=\/api\/auth; Expires=[^;]+; HttpOnly; SameSite=Strict$/),
  ])
  visitor.cookie = visitor.pending
  expect((await visitor.get('/api/user/me')).status).toBe(401)
  const stored = await Promise.all(
    (await tracker.redisClient.keys('*sign-in*')).map((key) => tracker.redisClient.lrange(key, 0, -1)),
  )
  expect(stored.flat().join()).not.toContain(visitor.pending?.split('.')[1])
})

test('a code is accepted once, even if it is sent twice at the same time or has confirmed the app', async () => {
  const client = await tracker.signedIn('replay')
  const started = await client.post('/api/user/factors/totp', { password })
  const { code } = app(started.member('secret'))
  const spent = code()
  await client.post('/api/user/factors/totp/confirm', { code: spent })
  expect((await finish(await begin('replay'), { code: spent })).status).toBe(401)
  tracker.advance(30_000)
  const visitors = await Promise.all(Array.from({ length: 4 }, () => begin('replay')))
  const fresh = code()
  const statuses = await Promise.all(visitors.map(async (visitor) => (await finish(visitor, { code: fresh })).status))
  expect(statuses.toSorted()).toEqual([200, 401, 401, 401])
  expect((await finish(await begin('replay'), { code: code(-1) })).status).toBe(401)
})

test('one of many concurrent uses of a recovery code succeeds, in any notation', async () => {
  const client = await tracker.signedIn('recovery')
  const { recoveryCodes } = await addApp(client)
  const [first = '', second = ''] = recoveryCodes
  const visitors = await Promise.all(Array.from({ length: 4 }, () => begin('recovery')))
  const statuses = await Promise.all(visitors.map(async (visitor) => (await finish(visitor, { code: first })).status))
  expect(statuses.toSorted()).toEqual([200, 401, 401, 401])
  const typed = second.toUpperCase().replaceAll('-', ' ')
  expect((await finish(await begin('recovery'), { code: typed })).status).toBe(200)
  expect((await client.get('/api/user/factors')).json).toMatchObject({ recoveryCodes: 8 })
  const stored = await tracker.sql('select encode(code_hash, $1) as hash from recovery_codes', ['escape'])
  expect(JSON.stringify(stored)).not.toContain(recoveryCodes[2])

  const renewed = await client.post('/api/user/factors/recovery-codes', { password })
  expect((await finish(await begin('recovery'), { code: recoveryCodes[2] })).status).toBe(401)
  expect((await finish(await begin('recovery'), { code: texts(renewed, 'recoveryCodes')[0] })).status).toBe(200)
})

test("a recovery code of another account is wrong, and so is another account's app", async () => {
  const mine = await addApp(await tracker.signedIn('mine'))
  await addApp(await tracker.signedIn('yours'))
  const visitor = await begin('yours')
  expect((await finish(visitor, { code: mine.recoveryCodes[0] })).status).toBe(401)
  expect((await finish(visitor, { code: mine.code() })).status).toBe(401)
})

test('a security key signs in, and nothing that a site or a thief makes of it does', async () => {
  const client = await tracker.signedIn('keyed')
  const { authenticator, recoveryCodes } = await addSecurityKey(client)
  expect(recoveryCodes).toHaveLength(10)
  const visitor = await begin('keyed')
  const options = await securityKeyOptions(visitor)
  expect(options).toMatchObject({
    rpId: 'tracker.test',
    allowCredentials: [{ type: 'public-key', id: authenticator.id, transports: ['internal'] }],
  })
  const other = await begin('keyed')
  const challenge = Buffer.from('another challenge').toString('base64url')
  const refused = [
    authenticator.get(options, { origin: 'http://tracker.test.evil.test' }),
    authenticator.get(options, { rpId: 'evil.test' }),
    authenticator.get(options, { type: 'webauthn.create' }),
    authenticator.get(options, { flags: 0 }),
    authenticator.get({ challenge }),
    authenticator.get(await securityKeyOptions(other)),
    { ...createAuthenticator(SITE).get(options), id: authenticator.id },
    createAuthenticator(SITE).get(options),
  ]
  for (const securityKey of refused)
    expect(codeOf(await finish(visitor, { securityKey }))).toEqual([401, 'UNAUTHORIZED'])
  const securityKey = authenticator.get(options)
  expect((await finish(visitor, { securityKey })).status).toBe(200)
  expect((await finish(other, { securityKey })).status).toBe(401)
  expect((await finish(other, { securityKey: authenticator.get(await securityKeyOptions(other)) })).status).toBe(200)
})

test('one of several concurrent uses of one signature succeeds', async () => {
  const { authenticator } = await addSecurityKey(await tracker.signedIn('signature'))
  const visitor = await begin('signature')
  const securityKey = authenticator.get(await securityKeyOptions(visitor))
  const copies = Array.from({ length: 4 }, () => Object.assign(tracker.client(), { pending: visitor.pending }))
  const statuses = await Promise.all(copies.map(async (copy) => (await finish(copy, { securityKey })).status))
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
})

test('a security key needs the challenge and the origin, belongs to one account, and its maker is never looked up', async () => {
  let requests = 0
  const server = createServer((_request, response) => {
    requests += 1
    response.end()
  })
  const elsewhere = await listen(server, { host: '127.0.0.1', port: 0 })
  const client = await tracker.signedIn('registering')
  const authenticator = createAuthenticator(SITE)
  const start = async () =>
    (await client.post('/api/user/factors/security-key', { password })).json as { challenge: string }
  const confirm = (credential: object) =>
    client.post('/api/user/factors/security-key/confirm', { name: 'Key', credential })
  const options = await start()
  const refused = [
    authenticator.create({ challenge: 'AAAA' }),
    authenticator.create(options, { origin: 'http://evil.test' }),
    authenticator.create(options, { rpId: 'evil.test' }),
    authenticator.create(options, { flags: 0 }),
    { ...authenticator.create(options), id: 'AAAA' },
    { id: 'AAAA', response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' } },
  ]
  for (const credential of refused) expect(codeOf(await confirm(credential))).toEqual([400, 'BAD_REQUEST'])
  const statement = new Map([['x5c', [Uint8Array.from(Buffer.from(`http://127.0.0.1:${String(elsewhere.port)}/crl`))]]])
  expect((await confirm(authenticator.create(options, {}, statement))).status).toBe(201)
  expect((await confirm(authenticator.create(options))).status).toBe(409)
  expect((await confirm(authenticator.create(await start()))).status).toBe(409)
  expect(requests).toBe(0)
  await elsewhere.drain()
})

test('every change of factors asks for the password, and a setup belongs to its session', async () => {
  const client = await tracker.signedIn('careful')
  const here = await addApp(client)
  const [item] = ((await client.get('/api/user/factors')).json as { items: { id: string }[] }).items
  for (const path of ['totp', 'security-key', 'recovery-codes', `${item?.id ?? ''}/remove`])
    expect(codeOf(await client.post(`/api/user/factors/${path}`, { password: 'a guess' }))).toEqual([403, 'FORBIDDEN'])
  const other = await begin('careful')
  await finish(other, { code: here.code() })
  const { challenge } = (await client.post('/api/user/factors/security-key', { password })).json as {
    challenge: string
  }
  const credential = createAuthenticator(SITE).create({ challenge })
  expect(codeOf(await other.post('/api/user/factors/security-key/confirm', { name: 'Mine', credential }))).toEqual([
    409,
    'CONFLICT',
  ])
  expect(codeOf(await client.post('/api/user/factors/totp/confirm', { code: '123456' }))).toEqual([409, 'CONFLICT'])
})

test('removing the last factor ends the other sessions and the recovery codes; signing in takes one step again', async () => {
  const client = await tracker.signedIn('undecided')
  const { code } = await addApp(client)
  const { authenticator } = await addSecurityKey(client, 'Phone')
  const { items } = (await client.get('/api/user/factors')).json as { items: { id: string; kind: string }[] }
  expect(items.map(({ kind }) => kind)).toEqual(['totp', 'security-key'])
  const [first, second] = items
  const waiting = await begin('undecided')
  expect((await client.post(`/api/user/factors/${first?.id ?? ''}/remove`, { password })).status).toBe(204)
  expect(codeOf(await finish(waiting, { code: code() }))).toEqual([409, 'CONFLICT'])
  const elsewhere = await begin('undecided')
  await finish(elsewhere, { securityKey: authenticator.get(await securityKeyOptions(elsewhere)) })
  expect((await client.post(`/api/user/factors/${first?.id ?? ''}/remove`, { password })).status).toBe(404)
  expect((await client.post(`/api/user/factors/${second?.id ?? ''}/remove`, { password })).status).toBe(204)
  expect([(await client.get('/api/user/me')).status, (await elsewhere.get('/api/user/me')).status]).toEqual([200, 401])
  expect((await client.get('/api/user/factors')).json).toMatchObject({ items: [], recoveryCodes: 0 })
  expect((await tracker.client().post('/api/auth/login', { username: 'undecided', password })).status).toBe(200)
  expect((await client.post('/api/user/factors/recovery-codes', { password })).status).toBe(409)
})

test("a user cannot remove another user's factor, nor have two apps", async () => {
  const victim = await tracker.signedIn('protected')
  await addApp(victim)
  const { items } = (await victim.get('/api/user/factors')).json as { items: { id: string }[] }
  const other = await tracker.signedIn('remover')
  expect((await other.post(`/api/user/factors/${items[0]?.id ?? ''}/remove`, { password })).status).toBe(404)
  const second = await victim.post('/api/user/factors/totp', { password })
  const confirmed = await victim.post('/api/user/factors/totp/confirm', { code: app(second.member('secret')).code() })
  expect(codeOf(confirmed)).toEqual([409, 'CONFLICT'])
  expect((await victim.get('/api/user/me')).status).toBe(200)
})

test('a pending sign-in ends with a new password, after five minutes, and with a sixth one; a stranger cannot forge one', async () => {
  const client = await tracker.signedIn('pending')
  const { code } = await addApp(client)
  const oldest = await begin('pending')
  for (let i = 0; i < 5; i++) await begin('pending')
  expect(codeOf(await finish(oldest, { code: code() }))).toEqual([409, 'CONFLICT'])

  const slow = await begin('pending')
  tracker.advance(301_000)
  expect(codeOf(await finish(slow, { code: code() }))).toEqual([409, 'CONFLICT'])
  expect((await slow.get('/api/auth/second-factor')).status).toBe(409)

  const thief = await begin('pending')
  const newPassword = 'another long password'
  expect((await client.post('/api/user/password', { currentPassword: PASSWORD, newPassword })).status).toBe(204)
  expect(codeOf(await finish(thief, { code: code() }))).toEqual([409, 'CONFLICT'])

  const forger = tracker.client()
  for (const token of [
    `${await idOf(client)}.${'A'.repeat(43)}`,
    await idOf(client),
    'x',
    '.',
    `${'9'.repeat(4000)}.x`,
  ]) {
    forger.pending = token
    expect(codeOf(await finish(forger, { code: code() }))).toEqual([409, 'CONFLICT'])
  }
})

test('a suspended account does not finish a sign-in', async () => {
  const client = await tracker.signedIn('soon-suspended')
  const { code } = await addApp(client)
  const waiting = await begin('soon-suspended')
  await tracker.context.useCases.accounts.change(await idOf(client), { state: 'suspended' })
  expect(codeOf(await finish(waiting, { code: code() }))).toEqual([403, 'FORBIDDEN'])
})

test('an administrator removes the factors of a member, who is notified; the log names both', async () => {
  const admin = await tracker.signedIn('remover-admin', 'admin')
  const member = await tracker.signedIn('locked-out')
  const id = await idOf(member)
  const remove = (from: string, body: object) => admin.post(`/api/admin/users/${from}/factors/remove`, body)
  expect(codeOf(await remove(id, { password }))).toEqual([409, 'CONFLICT'])
  const { code } = await addApp(member)
  await member.patch('/api/notices/settings', { muted: ['second-factor'] })
  expect((await admin.get(`/api/admin/users/${id}`)).json).toMatchObject({ secondFactors: 1 })
  const waiting = await begin('locked-out')
  // A stolen session of an administrator is not enough.
  expect(codeOf(await remove(id, { password: 'a guess' }))).toEqual([403, 'FORBIDDEN'])
  expect(codeOf(await remove(id, {}))).toEqual([400, 'BAD_REQUEST'])
  expect((await admin.get(`/api/admin/users/${id}`)).json).toMatchObject({ secondFactors: 1 })
  expect((await remove(id, { password })).status).toBe(204)
  expect((await member.get('/api/user/me')).status).toBe(401)
  expect((await finish(waiting, { code: code() })).status).toBe(409)
  expect((await admin.get(`/api/admin/log?target=${id}`)).json).toMatchObject({
    items: [{ action: 'user.factors.remove', actor: { username: 'remover-admin' }, target: { name: 'locked-out' } }],
  })
  const back = tracker.client()
  expect((await back.post('/api/auth/login', { username: 'locked-out', password })).status).toBe(200)
  expect((await back.get('/api/notices')).json).toMatchObject({ items: [{ kind: 'second-factor' }] })
  expect(codeOf(await remove(await idOf(admin), { password }))).toEqual([409, 'CONFLICT'])
})

test('an operator removes the factors of a user with a command', async () => {
  const member = await tracker.signedIn('lost-phone')
  await addApp(member)
  const run = () =>
    captureCommand((terminal) => runCommand(usersCommand, terminal), {
      args: ['remove-factors', '--username', 'lost-phone'],
      env: { DATABASE_URL: tracker.database.appUrl, REDIS_URL: tracker.redisUrl },
      stdin: '',
    })
  expect((await run()).status).toBe(0)
  expect((await member.get('/api/user/me')).status).toBe(401)
  expect((await tracker.client().post('/api/auth/login', { username: 'lost-phone', password })).status).toBe(200)
  expect((await run()).status).toBe(2)
})

test('staff who need a second factor reach only their account until they have one', async () => {
  const adminId = await idOf(await tracker.signedIn('strict-admin', 'admin'))
  const { siteConfiguration } = tracker.context.useCases
  try {
    const moderator = await tracker.signedIn('new-moderator', 'moderator')
    const lapsed = await tracker.signedIn('lapsed-moderator', 'moderator')
    await addApp(lapsed)
    const [factor] = ((await lapsed.get('/api/user/factors')).json as { items: { id: string }[] }).items
    expect((await lapsed.post(`/api/user/factors/${factor?.id ?? ''}/remove`, { password })).status).toBe(204)
    await siteConfiguration.change({ staffSecondFactor: true }, adminId)
    await eventually(async () => (await moderator.get('/api/torrents')).status === 403)
    for (const path of ['/api/torrents', '/api/notices', '/api/admin/overview'])
      for (const client of [moderator, lapsed])
        expect(codeOf(await client.get(path))).toEqual([403, 'SECOND_FACTOR_MISSING'])
    expect((await moderator.get('/api/user/factors')).json).toEqual({ items: [], recoveryCodes: 0, isRequired: true })
    const member = await tracker.signedIn('ordinary')
    expect((await member.get('/api/torrents')).status).toBe(200)
    await tracker.context.useCases.accounts.change(await idOf(member), { role: 'admin' })
    expect((await member.get('/api/torrents')).status).toBe(403)

    const { code } = await addApp(moderator)
    expect((await moderator.get('/api/torrents')).status).toBe(200)
    const { items } = (await moderator.get('/api/user/factors')).json as { items: { id: string }[] }
    const removed = await moderator.post(`/api/user/factors/${items[0]?.id ?? ''}/remove`, { password })
    expect(codeOf(removed)).toEqual([409, 'CONFLICT'])
    const newPassword = 'another long password'
    await moderator.post('/api/user/password', { currentPassword: PASSWORD, newPassword })
    expect((await moderator.get('/api/torrents')).status).toBe(200)
    const again = tracker.client()
    await again.post('/api/auth/login', { username: 'new-moderator', password: newPassword })
    await finish(again, { code: code() })
    expect((await again.get('/api/torrents')).status).toBe(200)
  } finally {
    await siteConfiguration.change({ staffSecondFactor: null }, adminId)
  }
})

test('guesses are limited per address and account, and per account from all addresses; security keys still sign in', async () => {
  const limited = await tracker.replica({ AUTH_LIMIT: '3', TRUSTED_PROXIES: '127.0.0.1/32' })
  try {
    const client = await tracker.signedIn('guessed')
    await addApp(client)
    const { authenticator } = await addSecurityKey(client)
    let address = 0
    const from = (visitor: Client, proof: object) =>
      visitor.post('/api/auth/second-factor', proof, { 'x-forwarded-for': `203.0.113.${String(address)}` })
    const visitor = limited.client()
    visitor.pending = (await begin('guessed')).pending
    const statuses: number[] = []
    for (let guess = 0; guess < 14; guess++) {
      if (guess % 3 === 0 && guess > 3) address += 1
      statuses.push((await from(visitor, { code: 'a wrong code' })).status)
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429, ...Array<number>(8).fill(401)])
    // A username that the endpoint does not know does not make it another account.
    address = 0
    expect((await from(visitor, { code: 'x', username: 'invented' })).status).toBe(429)
    address = 100
    expect([(await from(visitor, { code: 'x' })).status, (await from(visitor, { code: 'x' })).status]).toEqual([
      401, 429,
    ])
    const securityKey = authenticator.get(await securityKeyOptions(visitor))
    expect((await from(visitor, { securityKey })).status).toBe(200)
  } finally {
    await limited.stop()
  }
})

test('no secret, code or token reaches the log', async () => {
  const client = await tracker.signedIn('logged')
  const started = await client.post('/api/user/factors/totp', { password })
  const secret = started.member('secret')
  const { code } = app(secret)
  const confirmed = await client.post('/api/user/factors/totp/confirm', { code: code() })
  const visitor = await begin('logged')
  const [recovery = ''] = texts(confirmed, 'recoveryCodes')
  await finish(visitor, { code: recovery })
  for (const text of [secret, fromBase32(secret).toString('base64url'), recovery, visitor.pending ?? 'none'])
    expect(tracker.logged()).not.toContain(text)
})
