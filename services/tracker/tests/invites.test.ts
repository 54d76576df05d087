import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker

beforeAll(async () => {
  tracker = await startTracker()
})

afterAll(() => tracker.stop())

const register = (username: string, invite?: string) =>
  tracker.client().post('/api/auth/register', {
    username,
    email: `${username}@example.org`,
    password: PASSWORD,
    ...(invite !== undefined && { invite }),
  })

async function inviteOf(username: string): Promise<string> {
  const staff = await tracker.signedIn(username, 'moderator')
  return (await staff.post('/api/user/invites')).member('code')
}

test('without an invite nobody registers', async () => {
  const none = await register('uninvited')
  expect([none.status, none.member('error', 'message')]).toEqual([403, 'Registration needs an invite.'])
  expect((await register('uninvited', 'made-up')).status).toBe(403)
  await expect(tracker.sql("select 1 from users where username = 'uninvited'")).resolves.toEqual([])
})

test('an invite opens one account, and its maker sees whose', async () => {
  const staff = await tracker.signedIn('host', 'moderator')
  const made = await staff.post('/api/user/invites')
  expect(made.status).toBe(201)
  expect((await register('guest', made.member('code'))).status).toBe(201)
  expect((await register('second-guest', made.member('code'))).status).toBe(403)
  const listed = await staff.get('/api/user/invites')
  expect(listed.json).toMatchObject({ items: [{ id: made.member('id'), usedBy: 'guest', used: expect.any(String) }] })
  expect(listed.text).not.toContain(made.member('code'))
})

test('of five who use one invite at once, one gets an account', async () => {
  const code = await inviteOf('crowded')
  const answers = await Promise.all(Array.from({ length: 5 }, (_, i) => register(`crowd-${i}`, code)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 403, 403, 403, 403])
  await expect(tracker.sql("select count(*)::int as n from users where username like 'crowd-%'")).resolves.toEqual([
    { n: 1 },
  ])
})

test('a registration that fails does not spend its invite', async () => {
  const code = await inviteOf('patient')
  expect((await register('patient', code)).status).toBe(409)
  expect((await register('impatient', code)).status).toBe(201)
})

test('without a usable invite nobody learns which names and addresses are taken', async () => {
  await tracker.signedIn('insider')
  const taken = await register('insider', 'made-up')
  expect([taken.status, taken.text]).toEqual([403, (await register('nobody-yet', 'made-up')).text])
})

test('an invite is valid for seven days', async () => {
  const code = await inviteOf('forgetful')
  tracker.advance(7 * 24 * 3_600_000 + 1)
  expect((await register('latecomer', code)).status).toBe(403)
})

test('a member makes as many invites as an administrator gave, also when asking for them all at once', async () => {
  const admin = await tracker.signedIn('giver', 'admin')
  const member = await tracker.signedIn('taker')
  expect((await member.post('/api/user/invites')).status).toBe(403)
  const id = (await member.get('/api/user/me')).member('id')
  await admin.patch(`/api/admin/users/${id}`, { invitesLeft: 2 })
  const answers = await Promise.all(Array.from({ length: 6 }, () => member.post('/api/user/invites')))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 403, 403, 403, 403])
  expect((await member.get('/api/user/me')).json).toMatchObject({ invitesLeft: 0 })
})

test('closed registration is closed with an invite too', async () => {
  const closed = await startTracker({ REGISTRATION: 'closed' })
  try {
    const staff = await closed.signedIn('host', 'admin')
    const invite = (await staff.post('/api/user/invites')).member('code')
    const answer = await closed
      .client()
      .post('/api/auth/register', { username: 'guest', email: 'guest@example.org', password: PASSWORD, invite })
    expect([answer.status, answer.member('error', 'message')]).toEqual([403, 'Registration is closed.'])
  } finally {
    await closed.stop()
  }
})
