import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { DESKTOP, type Site, startSite, VIEWS } from './support/site.ts'

let site: Site
let admin: Client

beforeAll(async () => {
  site = await startSite()
  admin = await site.tracker.signedIn('the-admin', 'admin')
  await site.tracker.signedIn('the-moderator', 'moderator')
  for (const name of ['alice', 'bob', 'carol', 'a.name-that_is.as-long_as-they.get'].map((each) => each.slice(0, 32)))
    await site.tracker.signedIn(name)
  await site.tracker.sql(`update users set uploaded = 5400000000000, downloaded = 1200000000000 where username = 'bob'`)
  await site.tracker.sql(`update users set state = 'banned', can_download = false where username = 'carol'`)
})
afterAll(() => site.stop())

const idOf = async (client: Client): Promise<string> => (await client.get('/api/user/me')).member('id')
const logged = async (target: string): Promise<unknown> =>
  ((await admin.get(`/api/admin/log?target=${target}`)).json as { items: unknown[] }).items

test.each(VIEWS)('an administrator finds users and opens one ($width px)', async (view) => {
  const { page, problems } = await site.open('/admin/users', view, admin)
  await page.getByRole('link', { name: 'alice' }).waitFor()
  expect(await problems('users')).toEqual([])
  await page.getByLabel('State').selectOption('Banned')
  await page.waitForURL('**/admin/users?state=banned')
  await page.getByRole('link', { name: 'alice' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'carol' }).click()
  await page.getByRole('heading', { name: 'Role, state and rights' }).waitFor()
  expect(await problems('user')).toEqual([])
  await page.getByRole('button', { name: 'Reset passkey' }).click()
  await page.getByText('These stop working at once').waitFor()
  expect(await problems('user-reset')).toEqual([])
  await page.context().close()
})

test.each(VIEWS)('the sessions, invites and history of a user ($width px)', async (view) => {
  const inviter = await site.tracker.signedIn(`inviter-${view.width}`, 'moderator')
  const id = await idOf(inviter)
  await inviter.post('/api/user/invites')
  await admin.patch(`/api/admin/users/${id}`, { canDownload: false, invitesLeft: 4, reason: 'to see the history' })
  const { page, problems } = await site.open(`/admin/users/${id}?tab=sessions`, view, admin)
  await page.getByRole('button', { name: 'End all sessions' }).waitFor()
  expect(await problems('user-sessions')).toEqual([])
  await page.getByRole('link', { name: 'Invites' }).click()
  await page.getByText('Not used yet').waitFor()
  expect(await problems('user-invites')).toEqual([])
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByText('to see the history').waitFor()
  expect(await problems('user-history')).toEqual([])
  await page.context().close()
})

test('the list is searched while one types, and back leads to it', async () => {
  const { page, problems } = await site.open('/admin/users', DESKTOP, admin)
  await page.getByRole('searchbox', { name: 'Part of a name or address' }).fill('BO')
  await page.waitForURL('**/admin/users?search=BO')
  await page.getByText('1 user', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'bob' }).click()
  await page.getByRole('heading', { name: 'bob' }).waitFor()
  await page.goBack()
  await page.getByText('1 user', { exact: true }).waitFor()
  await page.getByLabel('Role').selectOption('Administrators')
  await page.getByText('No user is like this.').waitFor()
  expect(await problems('users-none')).toEqual([])
  await page.goto(`${site.tracker.url}/admin/users/nobody`)
  await page.getByText('There is nothing at this address.').waitFor()
  await page.context().close()
})

test('a list that cannot be loaded says so, and is tried again', async () => {
  const { page, problems } = await site.open('/admin', DESKTOP, admin)
  await page.route('**/api/admin/users?*', (route) => route.abort())
  await page.getByRole('navigation', { name: 'Staff' }).getByRole('link', { name: 'Users' }).click()
  await page.getByText('The server was not reached. Check the connection.').waitFor()
  expect(await problems('users-problem')).toEqual([])
  await page.unroute('**/api/admin/users?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'alice' }).waitFor()
  await page.context().close()
})

test('rights are changed at once; what takes something away is said, and asked for by name', async () => {
  const member = await site.tracker.signedIn('dave')
  const id = await idOf(member)
  const { page } = await site.open(`/admin/users/${id}`, DESKTOP, admin)
  const dialog = page.getByRole('dialog')
  await page.getByLabel('Downloads are charged').fill('0')
  await page.getByLabel('Invites left').fill('3')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await page.getByRole('heading', { name: 'dave Freeleech' }).waitFor()
  await page.getByLabel('State', { exact: true }).selectOption('Suspended')
  await page.getByLabel('Reason').fill('shares an account')
  await page.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('They cannot sign in').waitFor()
  await dialog.getByRole('button', { name: 'Change' }).click()
  expect((await member.get('/api/user/me')).status).toBe(200)
  await dialog.getByLabel('Type “dave” to confirm').fill('dave')
  await dialog.getByRole('button', { name: 'Change' }).click()
  await page.getByRole('heading', { name: 'dave Suspended Freeleech' }).waitFor()
  expect((await member.get('/api/user/me')).status).toBe(403)
  expect(await logged(id)).toMatchObject([
    { action: 'user.update', before: { state: 'active' }, after: { state: 'suspended', reason: 'shares an account' } },
    { action: 'user.update', after: { downloadPercent: 0, invitesLeft: 3 } },
  ])
  await page.context().close()
})

test('a name with dots and dashes is asked for like any other', async () => {
  const member = await site.tracker.signedIn('mary-ann.b')
  const { page, problems } = await site.open(`/admin/users/${await idOf(member)}?tab=sessions`, DESKTOP, admin)
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'End all sessions' }).click()
  for (const other of ['mary', 'mary-ann-b']) {
    await dialog.getByLabel('Type “mary-ann.b” to confirm').fill(other)
    await dialog.getByRole('button', { name: 'End all sessions' }).click()
    expect(await problems('user-sessions-name')).toEqual([])
  }
  expect((await member.get('/api/user/me')).status).toBe(200)
  await dialog.getByLabel('Type “mary-ann.b” to confirm').fill('mary-ann.b')
  await dialog.getByRole('button', { name: 'End all sessions' }).click()
  await page.getByText('mary-ann.b is signed in nowhere.').waitFor()
  await page.context().close()
})

test('administrators are told that they cannot change their own role', async () => {
  const { page } = await site.open(`/admin/users/${await idOf(admin)}`, DESKTOP, admin)
  await page.getByLabel('Role', { exact: true }).selectOption('Member')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByLabel('Type “the-admin” to confirm').fill('the-admin')
  await page.getByRole('button', { name: 'Change' }).click()
  await page.getByText('You cannot change your own role or state; another administrator can.').waitFor()
  await page.context().close()
})

test('a passkey is reset and sessions are ended, each after the name was typed', async () => {
  const member = await site.tracker.signedIn('erin')
  const id = await idOf(member)
  const before = (await member.get('/api/user/me')).member('passkey')
  const { page } = await site.open(`/admin/users/${id}`, DESKTOP, admin)
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Reset passkey' }).click()
  await dialog.getByLabel('Type “erin” to confirm').fill('erin')
  await dialog.getByRole('button', { name: 'Reset passkey' }).click()
  await page.getByText('erin has a new passkey.').waitFor()
  expect((await member.get('/api/user/me')).member('passkey')).not.toBe(before)
  await page.getByRole('link', { name: 'Sessions' }).click()
  await page.getByRole('button', { name: 'End all sessions' }).click()
  await dialog.getByText('1 session ends').waitFor()
  await dialog.getByLabel('Type “erin” to confirm').fill('erin')
  await dialog.getByRole('button', { name: 'End all sessions' }).click()
  await page.getByText('erin is signed in nowhere.').waitFor()
  expect((await member.get('/api/user/me')).status).toBe(401)
  expect(await logged(id)).toMatchObject([{ action: 'user.sessions.end' }, { action: 'user.passkey.reset' }])
  await page.context().close()
})
