import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import type { Answer, Client } from './support/client.ts'
import { createMember, uploadTorrent } from './support/members.ts'
import { type SmtpServer, startSmtpServer, tokenIn } from './support/smtp.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

const MINUTE = 60_000
const newPassword = 'a new long password'

let smtp: SmtpServer
let tracker: TestTracker

beforeAll(async () => {
  smtp = await startSmtpServer()
  tracker = await startTracker({
    SMTP_URL: smtp.url,
    SITE_NAME: 'Films & Friends',
    SMTP_FROM: 'Staff <staff@example.org>',
  })
  await tracker.context.useCases.categories.seed()
})

afterAll(async () => {
  await tracker.stop()
  await smtp.stop()
})

const codeOf = (answer: Answer) => [answer.status, answer.member('error', 'code')]
const visitor = () => tracker.client()
const request = (email: string) => visitor().post('/api/auth/password-link', { email })
const reset = (token: string, password = newPassword) => visitor().post('/api/auth/password', { token, password })
const signIn = async (username: string, password: string) =>
  (await visitor().post('/api/auth/login', { username, password })).status
const idOf = async (client: Client) => (await client.get('/api/user/me')).member('id')

test('a member who forgot their password sets a new one, once, with a link that is sent to their address', async () => {
  const client = await tracker.signedIn('forgetful')
  expect((await request('Forgetful@Example.org')).status).toBe(204)
  const mail = await smtp.next('forgetful@example.org')
  expect(mail.from).toBe('staff@example.org')
  expect(mail.text).toContain('Films & Friends')
  const token = tokenIn(mail)
  const stored = JSON.stringify(
    await tracker.sql('select encode(token_hash, $1) as hash, l.* from mail_links l', ['escape']),
  )
  expect([stored.includes(token), tracker.logged().includes(token)]).toEqual([false, false])

  expect(codeOf(await reset(token, 'short'))).toEqual([400, 'BAD_REQUEST'])
  const statuses = await Promise.all([1, 2, 3].map(async () => (await reset(token)).status))
  expect(statuses.toSorted()).toEqual([204, 409, 409])
  expect((await client.get('/api/user/me')).status).toBe(401)
  expect([await signIn('forgetful', PASSWORD), await signIn('forgetful', newPassword)]).toEqual([401, 200])
  expect(codeOf(await reset(token))).toEqual([409, 'CONFLICT'])
  expect(tracker.logged()).not.toContain(token)
})

test('an unknown address, a suspended account and a second request get the same answer, and no email', async () => {
  const suspended = await tracker.signedIn('suspended')
  await tracker.context.useCases.accounts.change(await idOf(suspended), { state: 'suspended' })
  await tracker.signedIn('hasty')
  const answers = []
  for (const name of ['nobody', 'suspended', 'hasty', 'hasty']) answers.push(await request(`${name}@example.org`))
  expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(4).fill([204, '']))
  await smtp.next('hasty@example.org')
  // Emails are sent in the order of their requests.
  await tracker.signedIn('last')
  await request('last@example.org')
  await smtp.next('last@example.org')
  expect(smtp.received).toEqual([])
  tracker.advance(5 * MINUTE + 1)
  await request('hasty@example.org')
  await smtp.next('hasty@example.org')
})

test('a link ends after 30 minutes, with a newer one, with a new password, and with the session epoch', async () => {
  const client = await tracker.signedIn('careless')
  const email = 'careless@example.org'
  const link = async () => {
    tracker.advance(5 * MINUTE + 1)
    await request(email)
    return tokenIn(await smtp.next(email))
  }
  const slow = await link()
  tracker.advance(30 * MINUTE)
  expect(codeOf(await reset(slow))).toEqual([409, 'CONFLICT'])
  const older = await link()
  const newer = await link()
  expect((await reset(older)).status).toBe(409)
  await client.post('/api/user/password', { currentPassword: PASSWORD, newPassword: 'changed by the owner' })
  expect((await reset(newer)).status).toBe(409)
  const unused = await link()
  await client.delete('/api/auth/sessions')
  expect((await reset(unused)).status).toBe(409)
  expect(await signIn('careless', 'changed by the owner')).toBe(200)
  for (const token of ['', 'x', 'A'.repeat(43)])
    expect((await reset(token)).status).toBe(token.length === 43 ? 409 : 400)
})

test('requests are limited per address and account, and an account that receives many keeps working', async () => {
  const limited = await tracker.replica({ AUTH_LIMIT: '3' })
  try {
    await tracker.signedIn('pestered')
    const statuses: number[] = []
    for (let i = 0; i < 5; i++)
      statuses.push((await limited.client().post('/api/auth/password-link', { email: 'pestered@example.org' })).status)
    expect(statuses).toEqual([204, 204, 204, 429, 429])
    const invented = { email: 'pestered@example.org', username: 'invented' }
    expect((await limited.client().post('/api/auth/password-link', invented)).status).toBe(429)
    expect((await limited.client().post('/api/auth/password-link', { email: 'other@example.org' })).status).toBe(204)
    await smtp.next('pestered@example.org')
    expect(smtp.received).toEqual([])
  } finally {
    await limited.stop()
  }
})

test('a new address is used once its owner has confirmed it; the old one is notified', async () => {
  const client = await tracker.signedIn('moving')
  const ask = (email: string, password = PASSWORD) => client.post('/api/user/email', { email, password })
  expect(codeOf(await ask('new@example.org', 'a guess'))).toEqual([403, 'FORBIDDEN'])
  expect((await ask('new@example.org')).status).toBe(204)
  const token = tokenIn(await smtp.next('new@example.org'))
  expect((await client.get('/api/user/me')).json).toMatchObject({ email: 'moving@example.org' })
  expect((await reset(token)).status).toBe(409)
  const statuses = await Promise.all(
    [1, 2].map(async () => (await visitor().post('/api/auth/email', { token })).status),
  )
  expect(statuses.toSorted()).toEqual([204, 409])
  expect((await client.get('/api/user/me')).json).toMatchObject({ email: 'new@example.org' })
  expect((await smtp.next('moving@example.org')).text).toContain('no longer uses this address')
})

test("another member's address cannot be taken, and a change revokes password links to the old address", async () => {
  await tracker.signedIn('owner')
  const client = await tracker.signedIn('mover')
  const password = PASSWORD
  expect((await client.post('/api/user/email', { email: 'OWNER@example.org', password })).status).toBe(204)
  await request('mover@example.org')
  const link = tokenIn(await smtp.next('mover@example.org'))
  tracker.advance(5 * MINUTE + 1)
  await client.post('/api/user/email', { email: 'free@example.org', password })
  const token = tokenIn(await smtp.next('free@example.org'))
  expect(smtp.received).toEqual([])
  await tracker.sql("update users set email = 'free@example.org' where username = 'owner'")
  expect(codeOf(await visitor().post('/api/auth/email', { token }))).toEqual([409, 'CONFLICT'])
  await tracker.sql("update users set email = 'owner@example.org' where username = 'owner'")
  expect((await visitor().post('/api/auth/email', { token })).status).toBe(204)
  await smtp.next('mover@example.org')
  expect((await reset(link)).status).toBe(409)
})

test('a member whose second factor staff removed is notified by email', async () => {
  const admin = await tracker.signedIn('email-admin', 'admin')
  const member = await tracker.signedIn('told')
  const id = await idOf(member)
  await tracker.sql(
    `insert into second_factors (id, user_id, kind, name, created_at, secret)
     values (gen_random_uuid(), $1, 'totp', 'App', now(), '\\x00')`,
    [id],
  )
  expect((await admin.post(`/api/admin/users/${id}/factors/remove`, { password: PASSWORD })).status).toBe(204)
  expect((await smtp.next('told@example.org')).text).toContain('/me?tab=security')
})

test('chosen kinds of unread notices are mailed, at most once an hour, by one of several replicas', async () => {
  const uploader = await createMember(tracker, 'mailed')
  const staff = await tracker.signedIn('mailing-staff', 'moderator')
  const chosen = await uploader.client.patch('/api/notices/settings', { mailed: ['edit'] })
  expect(chosen.json).toEqual({ muted: [], mailed: ['edit'] })
  const { id } = await uploadTorrent(uploader, 'Distant.Shores.S01E01.1080p')
  const edit = (description: string) => staff.patch(`/api/torrents/${id}`, { description })
  tracker.advance(60 * MINUTE)
  await edit('Better.')
  const mailNotices = async () => tracker.context.useCases.mailNotices?.()
  await Promise.all([mailNotices(), mailNotices()])
  const mail = await smtp.next('mailed@example.org')
  expect(mail.text).toContain('Distant.Shores.S01E01.1080p')
  await edit('Even better.')
  await mailNotices()
  tracker.advance(60 * MINUTE + 1)
  await mailNotices()
  expect((await smtp.next('mailed@example.org')).text).toMatch(/Subject: .*1_new_notice/)
  expect(smtp.received).toEqual([])
  tracker.advance(60 * MINUTE + 1)
  await uploader.client.post('/api/notices/read', {})
  await edit('Best.')
  await uploader.client.patch('/api/notices/settings', { mailed: [] })
  await mailNotices()
  await uploader.client.patch('/api/notices/settings', { mailed: ['edit'] })
  tracker.advance(60 * MINUTE + 1)
  await mailNotices()
  await request('mailed@example.org')
  expect((await smtp.next('mailed@example.org')).text).toContain('/reset#')
})

test('an address that the server refuses is reported without the address', async () => {
  await tracker.sql("update users set email = 'someone@refused.example.org' where username = 'last'")
  await request('someone@refused.example.org')
  await eventually(() => tracker.logged().includes('sending an email failed'))
  expect(tracker.logged()).not.toContain('refused.example.org')
})

test('a site without SMTP sends no email and says so', async () => {
  const silent = await tracker.replica({ SMTP_URL: '' })
  try {
    const client = silent.client()
    expect((await client.get('/api/site')).json).toMatchObject({ sendsEmail: false })
    expect(codeOf(await client.post('/api/auth/password-link', { email: 'a@example.org' }))).toEqual([409, 'CONFLICT'])
    await client.post('/api/auth/login', { username: 'owner', password: PASSWORD })
    const asked = await client.post('/api/user/email', { email: 'b@example.org', password: PASSWORD })
    expect(codeOf(asked)).toEqual([409, 'CONFLICT'])
  } finally {
    await silent.stop()
  }
})
