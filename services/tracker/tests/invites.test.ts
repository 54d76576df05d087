import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Answer, Client } from './support/client.ts'
import { withRowLocked } from './support/row-lock.ts'
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

test('registration requires an invite', async () => {
  const none = await register('uninvited')
  expect(none.status).toBe(403)
  expect((await register('uninvited', 'made-up')).status).toBe(403)
  await expect(tracker.sql("select 1 from users where username = 'uninvited'")).resolves.toEqual([])
})

test('an invite creates one account, which its creator can see', async () => {
  const staff = await tracker.signedIn('host', 'moderator')
  const made = await staff.post('/api/user/invites')
  expect(made.status).toBe(201)
  expect((await register('guest', made.member('code'))).status).toBe(201)
  expect((await register('second-guest', made.member('code'))).status).toBe(403)
  const listed = await staff.get('/api/user/invites')
  expect(listed.json).toMatchObject({ items: [{ id: made.member('id'), usedBy: 'guest', used: expect.any(String) }] })
  expect(listed.text).not.toContain(made.member('code'))
})

test('one of five concurrent registrations with the same invite succeeds', async () => {
  const code = await inviteOf('crowded')
  const answers = await Promise.all(Array.from({ length: 5 }, (_, i) => register(`crowd-${i}`, code)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 403, 403, 403, 403])
  await expect(tracker.sql("select count(*)::int as n from users where username like 'crowd-%'")).resolves.toEqual([
    { n: 1 },
  ])
})

test('a failed registration does not use up its invite', async () => {
  const code = await inviteOf('patient')
  expect((await register('patient', code)).status).toBe(409)
  expect((await register('impatient', code)).status).toBe(201)
})

test('without a usable invite, registration does not reveal which names and addresses are taken', async () => {
  await tracker.signedIn('insider')
  const taken = await register('insider', 'made-up')
  expect([taken.status, taken.text]).toEqual([403, (await register('nobody-yet', 'made-up')).text])
})

test('an invite is valid for seven days', async () => {
  const code = await inviteOf('forgetful')
  tracker.advance(7 * 24 * 3_600_000 + 1)
  expect((await register('latecomer', code)).status).toBe(403)
})

test.each(['suspended', 'banned'] as const)(
  'invites of a %s user open no account, even during the change itself, and work again once the user is active',
  async (state) => {
    const admin = await tracker.signedIn(`judge-of-${state}`, 'admin')
    const maker = await tracker.signedIn(`maker-${state}`, 'moderator')
    const { id } = (await maker.get('/api/user/me')).json as { id: string }
    const [first, second] = [await maker.post('/api/user/invites'), await maker.post('/api/user/invites')]
    const guest = (n: number) => `guest-${String(n)}-of-${state}`
    const [ended, meanwhile] = await withRowLocked(tracker, `maker-${state}`, async (waiting) => {
      const change = admin.patch(`/api/admin/users/${id}`, { state })
      await waiting(1)
      const registration = register(guest(1), first.member('code'))
      await waiting(2)
      return [change, registration]
    })
    expect([ended?.status, meanwhile?.status]).toEqual([200, 403])
    expect((await register(guest(2), second.member('code'))).status).toBe(403)
    await admin.patch(`/api/admin/users/${id}`, { state: 'active' })
    expect((await register(guest(2), second.member('code'))).status).toBe(201)
  },
)

test('a member can create as many invites as allowed, even concurrently', async () => {
  const admin = await tracker.signedIn('giver', 'admin')
  const member = await tracker.signedIn('taker')
  expect((await member.post('/api/user/invites')).status).toBe(403)
  const id = (await member.get('/api/user/me')).member('id')
  await admin.patch(`/api/admin/users/${id}`, { invitesLeft: 2 })
  const answers = await Promise.all(Array.from({ length: 6 }, () => member.post('/api/user/invites')))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 403, 403, 403, 403])
  expect((await member.get('/api/user/me')).json).toMatchObject({ invitesLeft: 0 })
})

test('closed registration refuses invites', async () => {
  const closed = await startTracker({ REGISTRATION: 'closed' })
  try {
    const staff = await closed.signedIn('host', 'admin')
    const invite = (await staff.post('/api/user/invites')).member('code')
    const answer = await closed
      .client()
      .post('/api/auth/register', { username: 'guest', email: 'guest@example.org', password: PASSWORD, invite })
    expect(answer.status).toBe(403)
  } finally {
    await closed.stop()
  }
})

describe('a revoked invite', () => {
  let admin: Client

  beforeAll(async () => {
    admin = await tracker.signedIn('taking-back', 'admin')
  })

  const idOf = async (client: Client) => (await client.get('/api/user/me')).member('id')
  const leftOf = async (client: Client) =>
    ((await client.get('/api/user/me')).json as { invitesLeft: number }).invitesLeft
  const listOf = async (client: Client) => ((await client.get('/api/user/invites')).json as { items: unknown[] }).items
  const codeOf = (answer: Answer) => [answer.status, answer.member('error', 'code')]
  const logOf = async (client: Client) =>
    ((await admin.get(`/api/admin/log?target=${await idOf(client)}`)).json as { items: unknown[] }).items

  /** A member with an allowance, and an invite created from it. */
  async function memberWithInvite(username: string, allowance = 1) {
    const client = await tracker.signedIn(username)
    await tracker.sql('update users set invites_left = $1 where username = $2', [allowance, username])
    const made = await client.post('/api/user/invites')
    return { client, id: made.member('id'), code: made.member('code') }
  }

  test("creates no account, is not listed, and restores its creator's allowance", async () => {
    const { client, id, code } = await memberWithInvite('regretful', 2)
    expect(await leftOf(client)).toBe(1)
    expect((await client.delete(`/api/invites/${id}`)).status).toBe(204)
    expect((await register('wrong-person', code)).status).toBe(403)
    expect(await listOf(client)).toEqual([])
    expect(await leftOf(client)).toBe(2)
    expect(await logOf(client)).toEqual([])
  })

  test('restores nothing if staff created it, even if they are now members', async () => {
    const staff = await tracker.signedIn('generous', 'moderator')
    const [first, second] = [await staff.post('/api/user/invites'), await staff.post('/api/user/invites')]
    expect((await staff.delete(`/api/invites/${first.member('id')}`)).status).toBe(204)
    expect(await leftOf(staff)).toBe(0)
    await admin.patch(`/api/admin/users/${await idOf(staff)}`, { role: 'member' })
    expect((await staff.delete(`/api/invites/${second.member('id')}`)).status).toBe(204)
    expect(await leftOf(staff)).toBe(0)
  })

  test('restores the allowance even if its creator is now staff', async () => {
    const { client, id } = await memberWithInvite('promoted')
    await admin.patch(`/api/admin/users/${await idOf(client)}`, { role: 'moderator' })
    expect((await client.delete(`/api/invites/${id}`)).status).toBe(204)
    expect(await leftOf(client)).toBe(1)
  })

  test('may have expired', async () => {
    const { client, id } = await memberWithInvite('too-late')
    tracker.advance(8 * 24 * 3_600_000)
    expect((await client.delete(`/api/invites/${id}`)).status).toBe(204)
    expect([await leftOf(client), await listOf(client)]).toEqual([1, []])
  })

  test('must not have been used', async () => {
    const { client, id, code } = await memberWithInvite('well-used')
    expect((await register('used-it', code)).status).toBe(201)
    expect(codeOf(await client.delete(`/api/invites/${id}`))).toEqual([409, 'CONFLICT'])
    expect(codeOf(await admin.delete(`/api/admin/invites/${id}`))).toEqual([409, 'CONFLICT'])
    expect(await listOf(client)).toMatchObject([{ id, usedBy: 'used-it' }])
    expect(await leftOf(client)).toBe(0)
  })

  test.each(['nonsense', '0190b6a0-0000-7000-8000-000000000000'])('must exist: %s does not', async (id) => {
    expect(codeOf(await admin.delete(`/api/invites/${id}`))).toEqual([404, 'NOT_FOUND'])
    expect(codeOf(await admin.delete(`/api/admin/invites/${id}`))).toEqual([404, 'NOT_FOUND'])
  })

  test("must be one's own, used or not, even for staff", async () => {
    const { id, code } = await memberWithInvite('owner')
    const others = [await tracker.signedIn('stranger'), admin]
    for (const other of others) expect(codeOf(await other.delete(`/api/invites/${id}`))).toEqual([404, 'NOT_FOUND'])
    expect((await register('owners-guest', code)).status).toBe(201)
    for (const other of others) expect(codeOf(await other.delete(`/api/invites/${id}`))).toEqual([404, 'NOT_FOUND'])
  })

  test("can be another user's only for administrators", async () => {
    const { client, id } = await memberWithInvite('protected')
    const moderator = await tracker.signedIn('not-enough', 'moderator')
    for (const caller of [client, moderator])
      expect(codeOf(await caller.delete(`/api/admin/invites/${id}`))).toEqual([403, 'FORBIDDEN'])
    expect((await tracker.client().delete(`/api/admin/invites/${id}`)).status).toBe(401)
    expect((await tracker.client().delete(`/api/invites/${id}`)).status).toBe(401)
    expect(await listOf(client)).toMatchObject([{ id }])
  })

  test('is in the admin log with the restored allowance, if revoked by an administrator', async () => {
    const { client, id, code } = await memberWithInvite('helped')
    const [listed] = (await listOf(client)) as [{ created: string }]
    expect((await admin.delete(`/api/admin/invites/${id}`)).status).toBe(204)
    expect((await register('not-helped', code)).status).toBe(403)
    expect(await leftOf(client)).toBe(1)
    expect(await logOf(client)).toMatchObject([
      {
        actor: { username: 'taking-back' },
        action: 'user.invite.take-back',
        target: { type: 'user', id: await idOf(client), name: 'helped' },
        before: { inviteMade: listed.created, invitesLeft: 0 },
        after: { inviteMade: null, invitesLeft: 1 },
      },
    ])
    expect(JSON.stringify(await tracker.sql('select * from admin_log'))).not.toContain(code)
  })

  test('is in the admin log without an allowance, if created by staff', async () => {
    const staff = await tracker.signedIn('hasty', 'moderator')
    const made = await staff.post('/api/user/invites')
    expect((await admin.delete(`/api/admin/invites/${made.member('id')}`)).status).toBe(204)
    const fields = { before: { inviteMade: made.member('created') }, after: { inviteMade: null } }
    const [entry] = (await logOf(staff)) as [typeof fields]
    expect({ before: entry.before, after: entry.after }).toEqual(fields)
  })

  test('is not revoked if the admin log cannot be written', async () => {
    const { client, id } = await memberWithInvite('unlogged')
    await tracker.sql('alter table admin_log add constraint broken check (false) not valid')
    expect((await admin.delete(`/api/admin/invites/${id}`)).status).toBe(500)
    await tracker.sql('alter table admin_log drop constraint broken')
    expect(await listOf(client)).toMatchObject([{ id }])
    expect(await leftOf(client)).toBe(0)
  })

  test('restores the allowance once, even if several revoke it concurrently', async () => {
    const { client, id } = await memberWithInvite('impetuous')
    const paths = [...Array.from({ length: 5 }, () => `/api/invites/${id}`), `/api/admin/invites/${id}`]
    const answers = await Promise.all(
      paths.map((path) => (path.startsWith('/api/admin') ? admin : client).delete(path)),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 404, 404, 404, 404, 404])
    expect(await leftOf(client)).toBe(1)
  })

  test.each([
    { first: 'registration', statuses: [201, 409], left: 0 },
    { first: 'taking it back', statuses: [403, 204], left: 1 },
  ])('with a concurrent registration: $first came first and wins', async ({ first, statuses, left }) => {
    const name = `racer-${left}`
    const { client, id, code } = await memberWithInvite(name)
    const requests = [() => register(`${name}-guest`, code), () => client.delete(`/api/invites/${id}`)]
    // Both lock the invite, then its creator. While the creator is locked, the first one has the invite.
    const answers = await withRowLocked(tracker, name, async (waiting) => {
      const started: Promise<Answer>[] = []
      for (const request of first === 'registration' ? requests : requests.toReversed()) {
        started.push(request())
        await waiting(started.length)
      }
      return started
    })
    const byRequest = first === 'registration' ? answers : answers.toReversed()
    expect(byRequest.map(({ status }) => status)).toEqual(statuses)
    expect(await leftOf(client)).toBe(left)
    await expect(tracker.sql('select from users where username = $1', [`${name}-guest`])).resolves.toHaveLength(
      1 - left,
    )
  })
})
