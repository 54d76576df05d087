import { beforeAll, describe, expect, test } from '@jest/globals'
import { createToken } from '../../tests/support/api-tokens.ts'
import type { Client } from '../../tests/support/client.ts'
import { createMember, type TestMember, uploadTorrent } from '../../tests/support/members.ts'
import { requestsAreWritten } from '../../tests/support/torznab-log.ts'
import { PASSWORD } from '../../tests/support/tracker.ts'
import { DESKTOP, NARROW, pressOn, typeDate, typeInto, useSite } from './support/site.ts'

const site = useSite()
let admin: Client

beforeAll(async () => {
  admin = await site.tracker.signedIn('the-admin', 'admin')
  await site.tracker.signedIn('the-moderator', 'moderator')
  for (const name of ['alice', 'bob', 'carol', 'a.name-that_is.as-long_as-they.get'].map((each) => each.slice(0, 32)))
    await site.tracker.signedIn(name)
  await site.tracker.sql(`update users set uploaded = 5400000000000, downloaded = 1200000000000 where username = 'bob'`)
  await site.tracker.sql(`update users set state = 'banned', can_download = false where username = 'carol'`)
})

const idOf = async (client: Client): Promise<string> => (await client.get('/api/user/me')).member('id')
const logged = async (target: string): Promise<unknown> =>
  ((await admin.get(`/api/admin/log?target=${target}`)).json as { items: unknown[] }).items

test('an administrator finds users and opens one', async () => {
  const { page, problems } = await site.open('/admin/users', NARROW, admin)
  await page.getByRole('link', { name: 'alice' }).waitFor()
  expect(await problems('users')).toEqual([])
  await page.getByLabel('State').selectOption('Banned')
  await page.waitForURL('**/admin/users?state=banned')
  await page.getByRole('link', { name: 'alice' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'carol' }).click()
  await page.getByRole('heading', { name: 'Access and rates' }).waitFor()
  expect(await problems('user')).toEqual([])
  await page.getByRole('button', { name: 'Reset passkey' }).click()
  await page.getByText('These stop working immediately').waitFor()
  expect(await problems('user-reset')).toEqual([])
})

test('the sessions, invites and history of a user', async () => {
  const inviter = await site.tracker.signedIn('inviter', 'moderator')
  const id = await idOf(inviter)
  await inviter.post('/api/user/invites')
  await admin.patch(`/api/admin/users/${id}`, { canDownload: false, invitesLeft: 4, reason: 'to see the history' })
  const { page, problems } = await site.open(`/admin/users/${id}?tab=sessions`, DESKTOP, admin)
  await page.getByRole('button', { name: 'End all sessions' }).waitFor()
  expect(await problems('user-sessions')).toEqual([])
  await page.getByRole('link', { name: 'Invites' }).click()
  await page.getByText('Unused').waitFor()
  expect(await problems('user-invites')).toEqual([])
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByText('to see the history').waitFor()
  expect(await problems('user-history')).toEqual([])
})

test('an administrator revokes an API token of a user, who is notified', async () => {
  const member = await site.tracker.signedIn('token-owner')
  await createToken(member, ['read'], { name: 'Dashboard' })
  const { page, problems } = await site.open(`/admin/users/${await idOf(member)}?tab=tokens`, NARROW, admin)
  await page.getByRole('button', { name: 'Revoke Dashboard' }).click()
  expect(await problems('user-tokens')).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }).click()
  await page.getByText('token-owner has no API tokens.').waitFor()
  const { page: notices, problems: noticeProblems } = await site.open('/notices', NARROW, member)
  await notices.getByText('revoked your API token Dashboard').waitFor()
  expect(await noticeProblems('notice-token')).toEqual([])
})

test('an administrator follows an address from a user to others and their requests, and back', async () => {
  const shared = await createMember(site.tracker, 'shared.out')
  const guest = await createMember(site.tracker, 'guest')
  for (const { passkey } of [shared, guest]) await guest.client.get(`/api/torznab?t=search&apikey=${passkey}`)
  await requestsAreWritten(site.tracker)
  await site.tracker.context.useCases.addresses.flush()
  const { page, problems } = await site.open(`/admin/users/${shared.id}`, NARROW, admin)
  await page.getByRole('link', { name: 'Addresses' }).click()
  await page.getByRole('link', { name: '127.0.0.1' }).first().waitFor()
  expect(await problems('user-addresses')).toEqual([])
  await page.getByRole('link', { name: '127.0.0.1' }).first().click()
  await page.waitForURL('**/admin/users/addresses?address=127.0.0.1')
  await page.getByRole('link', { name: 'guest' }).first().waitFor()
  expect(await problems('addresses')).toEqual([])
  await page.getByLabel('User').fill('guest')
  await page.getByRole('button', { name: 'Show' }).press('Enter')
  await page.waitForURL('**/admin/users/addresses?user=guest&address=127.0.0.1')
  await page.getByRole('link', { name: 'shared.out' }).first().waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'API or feed' }).click()
  await page.waitForURL('**/admin/torznab?tab=requests&user=guest&address=127.0.0.1')
  await page.getByRole('link', { name: 'guest' }).first().waitFor()
  expect(await problems('torznab-requests-of-address')).toEqual([])
  await page.getByRole('link', { name: '127.0.0.1' }).first().click()
  await page.waitForURL('**/admin/users/addresses?address=127.0.0.1')
  await page.getByRole('link', { name: 'shared.out' }).first().click()
  await page.waitForURL(`**/admin/users/${shared.id}?tab=addresses`)
  await page.goto(`${site.tracker.url}/admin/users/addresses`)
  await page.getByText('Enter an address or a user.').waitFor()
  await page.getByRole('textbox', { name: 'Address' }).fill('somewhere')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText('must be an IPv4 or IPv6 address').waitFor()
})

test('an administrator removes a second factor with their own password', async () => {
  const member = await site.tracker.signedIn('lost.phone')
  const id = await idOf(member)
  await site.tracker.sql(
    `insert into second_factors (id, user_id, kind, name, created_at, secret, last_step)
     values (gen_random_uuid(), $1, 'totp', 'App', now(), $2, 0)`,
    [id, Buffer.alloc(20)],
  )
  const { page, problems } = await site.open(`/admin/users/${id}`, DESKTOP, admin)
  await page.getByRole('button', { name: 'Remove second factor' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Your password').fill('a guess')
  await dialog.getByRole('button', { name: 'Remove second factor' }).click()
  await dialog.getByRole('alert').waitFor()
  expect(await problems('user-remove-factor')).toEqual([])
  await dialog.getByLabel('Your password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Remove second factor' }).click()
  await page.getByText('Second factor removed.').waitFor()
  expect((await admin.get(`/api/admin/users/${id}`)).json).toMatchObject({ secondFactors: 0 })
})

test('an administrator revokes an invite of a user', async () => {
  const username = 'inviting'
  const member = await site.tracker.signedIn(username)
  const id = await idOf(member)
  await site.tracker.sql('update users set invites_left = 1 where username = $1', [username])
  await member.post('/api/user/invites')
  const { page, problems } = await site.open(`/admin/users/${id}?tab=invites`, DESKTOP, admin)
  await page.getByText('0 invites left.').waitFor()
  const made = await page.locator('td[data-label="Created"]').textContent()
  expect(await problems('user-invites-unused')).toEqual([])
  await page.getByRole('button', { name: 'Revoke invite' }).click()
  await page.getByText('will no longer create an account').waitFor()
  expect(await problems('user-invites-take-back')).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke invite' }).click()
  await page.getByText(`${username} has not created any invites.`).waitFor()
  await page.getByText('1 invite left.').waitFor()
  expect((await member.get('/api/user/me')).json).toMatchObject({ invitesLeft: 1 })
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByText('revoked an invite').waitFor()
  expect(await page.locator('.changes del').allTextContents()).toEqual([made, '0'])
  expect(await problems('user-history-invite')).toEqual([])
})

test('the list is searched while typing, and Back returns to it', async () => {
  const { page, problems } = await site.open('/admin/users', DESKTOP, admin)
  await page.getByRole('searchbox', { name: 'Username or email address' }).fill('BO')
  await page.waitForURL('**/admin/users?search=BO')
  await page.getByText('1 user', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'bob' }).click()
  await page.getByRole('heading', { name: 'bob' }).waitFor()
  await page.goBack()
  await page.getByText('1 user', { exact: true }).waitFor()
  await page.getByLabel('Role').selectOption('Administrator')
  await page.getByText('No matching users.').waitFor()
  expect(await problems('users-none')).toEqual([])
  await page.goto(`${site.tracker.url}/admin/users/nobody`)
  await page.getByText('Page not found').waitFor()
})

test('a list that cannot be loaded shows an error and can be retried', async () => {
  const { page, problems } = await site.open('/admin', DESKTOP, admin)
  await page.route('**/api/admin/users?*', (route) => route.abort())
  await page.getByRole('navigation', { name: 'Staff' }).getByRole('link', { name: 'Users' }).click()
  await page.getByText('Could not reach the server.').waitFor()
  expect(await problems('users-problem')).toEqual([])
  await page.unroute('**/api/admin/users?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'alice' }).waitFor()
})

test('rights are changed by keyboard; a change with consequences needs a confirmation by name', async () => {
  const member = await site.tracker.signedIn('dave')
  const id = await idOf(member)
  const { page } = await site.open(`/admin/users/${id}`, DESKTOP, admin)
  const dialog = page.getByRole('dialog')
  await typeInto(page.getByLabel('Download rate'), '0')
  await typeInto(page.getByLabel('Invites left'), '3')
  await typeInto(page.getByLabel('Announces per minute'), '600')
  await page.keyboard.press('Enter')
  await page.getByText('Saved.').waitFor()
  await page.getByRole('heading', { name: 'dave Freeleech' }).waitFor()
  await typeInto(page.getByLabel('State', { exact: true }), 'Suspended')
  await typeDate(page.getByLabel('Suspended until'), '2099-01-31')
  await page.keyboard.press('Tab')
  await page.keyboard.type('1200PM')
  await typeInto(page.getByLabel('Reason'), 'shares an account')
  await pressOn(page.getByRole('button', { name: 'Save changes' }), 'Enter')
  await dialog.getByText('They cannot sign in').waitFor()
  await page.keyboard.press('Enter')
  expect((await member.get('/api/user/me')).status).toBe(200)
  await typeInto(dialog.getByLabel('Type “dave” to confirm'), 'dave')
  await pressOn(dialog.getByRole('button', { name: 'Save changes' }), 'Enter')
  await page.getByRole('heading', { name: 'dave Suspended Freeleech' }).waitFor()
  await page.locator('.user-head').getByText('shares an account').waitFor()
  expect((await member.get('/api/user/me')).status).toBe(403)
  const visit = await site.open('/login', NARROW)
  await visit.page.getByLabel('Username').fill('dave')
  await visit.page.getByLabel('Password').fill(PASSWORD)
  await visit.page.getByRole('button', { name: 'Sign in' }).click()
  const refusal = visit.page.getByRole('alert').filter({ hasText: 'shares an account' })
  await refusal.filter({ hasText: '2099-01-31' }).waitFor()
  expect(await visit.problems('login-suspended')).toEqual([])
  expect(await logged(id)).toMatchObject([
    { action: 'user.update', before: { state: 'active' }, after: { state: 'suspended', reason: 'shares an account' } },
    { action: 'user.update', after: { downloadPercent: 0, invitesLeft: 3, announceLimit: 600 } },
  ])
})

test('a warning is shown to the user as a notice, and to staff', async () => {
  const member = await site.tracker.signedIn('wanda')
  const staff = await site.open(`/admin/users/${await idOf(member)}`, NARROW, admin)
  await staff.page.getByRole('button', { name: 'Warn user' }).press('Enter')
  await staff.page.keyboard.type('Seed what you download.')
  expect(await staff.problems('user-warn')).toEqual([])
  await staff.page.keyboard.press('Tab')
  await staff.page.keyboard.press('Enter')
  await staff.page.locator('.toast').waitFor()
  const covered = await staff.page.evaluate<string[]>(`(() => {
    const placeOf = (element) => element.getBoundingClientRect()
    const toast = placeOf(document.querySelector('.toast'))
    const meetsToast = ({ top, bottom, left, right, width }) =>
      width > 0 && bottom > toast.top && top < toast.bottom && right > toast.left && left < toast.right
    const bar = placeOf(document.querySelector('.bar'))
    return [...document.querySelectorAll('.bar :is(a, button, input, span)')]
      .filter((each) => meetsToast(placeOf(each)))
      .map((each) => each.outerHTML)
      .concat(toast.bottom <= bar.bottom && toast.right <= innerWidth ? [] : ['the page'])
  })()`)
  expect(covered).toEqual([])
  await staff.page.getByText('1 warning', { exact: true }).waitFor()
  await staff.page.getByText('Seed what you download.').waitFor()
  expect(await staff.problems('user-warned')).toEqual([])
  const { page, problems } = await site.open('/notices', NARROW, member)
  await page.getByText('Seed what you download.').waitFor()
  expect(await problems('notices-warning')).toEqual([])
})

test('a name with dots and dashes can be confirmed', async () => {
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
  await page.getByText('mary-ann.b has no active sessions.').waitFor()
})

test('administrators cannot change their own role', async () => {
  const { page } = await site.open(`/admin/users/${await idOf(admin)}`, DESKTOP, admin)
  await page.getByLabel('Role', { exact: true }).selectOption('Member')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByLabel('Type “the-admin” to confirm').fill('the-admin')
  await page.getByRole('dialog').getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('You cannot change your own role').waitFor()
})

test('a password is reset by keyboard after a confirmation by name, and shown once', async () => {
  const username = 'frank'
  const member = await site.tracker.signedIn(username)
  const id = await idOf(member)
  const { page, problems } = await site.open(`/admin/users/${id}`, DESKTOP, admin)
  const dialog = page.getByRole('dialog')
  await pressOn(page.getByRole('button', { name: 'Reset password' }), 'Enter')
  await dialog.getByText('all sessions of the user end').waitFor()
  expect(await problems('user-password-reset')).toEqual([])
  await pressOn(dialog.getByRole('button', { name: 'Reset password' }), 'Enter')
  expect((await member.get('/api/user/me')).status).toBe(200)
  await typeInto(dialog.getByLabel(`Type “${username}” to confirm`), username)
  await pressOn(dialog.getByRole('button', { name: 'Reset password' }), 'Enter')
  await page.getByRole('dialog', { name: `New password of ${username}` }).waitFor()
  await page.keyboard.press('Escape')
  await dialog.getByText('You have not copied the password.').waitFor()
  await pressOn(dialog.getByRole('button', { name: 'Show password' }), 'Enter')
  const password = (await dialog.locator('.secret code').textContent()) ?? ''
  expect(await problems('user-password')).toEqual([])
  await pressOn(dialog.getByRole('button', { name: 'Copy password' }), 'Enter')
  await pressOn(dialog.getByRole('button', { name: 'Done' }), 'Enter')
  await dialog.waitFor({ state: 'detached' })
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(password)
  expect(await page.content()).not.toContain(password)
  expect((await member.get('/api/user/me')).status).toBe(401)
  const signIn = (using: string) => site.tracker.client().post('/api/auth/login', { username, password: using })
  expect([(await signIn(PASSWORD)).status, (await signIn(password)).status]).toEqual([401, 200])
  await pressOn(page.getByRole('link', { name: 'History' }), 'Enter')
  await page.getByText('reset a password').waitFor()
  expect(await logged(id)).toMatchObject([{ action: 'user.password.reset', before: null, after: null }])
})

test('administrators change their own password in their account', async () => {
  const { page } = await site.open(`/admin/users/${await idOf(admin)}`, DESKTOP, admin)
  await page.getByRole('link', { name: 'Change your password' }).click()
  await page.getByLabel('Current password').waitFor()
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/me?tab=security')
})

test('a passkey is reset and sessions are ended by keyboard after a confirmation by name', async () => {
  const member = await site.tracker.signedIn('erin')
  const id = await idOf(member)
  const before = (await member.get('/api/user/me')).member('passkey')
  const { page } = await site.open(`/admin/users/${id}`, DESKTOP, admin)
  const dialog = page.getByRole('dialog')
  await pressOn(page.getByRole('button', { name: 'Reset passkey' }), 'Enter')
  await typeInto(dialog.getByLabel('Type “erin” to confirm'), 'erin')
  await pressOn(dialog.getByRole('button', { name: 'Reset passkey' }), 'Enter')
  await page.getByText('Passkey reset.').waitFor()
  expect((await member.get('/api/user/me')).member('passkey')).not.toBe(before)
  await pressOn(page.getByRole('link', { name: 'Sessions' }), 'Enter')
  await pressOn(page.getByRole('button', { name: 'End all sessions' }), 'Enter')
  await dialog.getByText('This ends 1 session').waitFor()
  await typeInto(dialog.getByLabel('Type “erin” to confirm'), 'erin')
  await pressOn(dialog.getByRole('button', { name: 'End all sessions' }), 'Enter')
  await page.getByText('erin has no active sessions.').waitFor()
  expect((await member.get('/api/user/me')).status).toBe(401)
  expect(await logged(id)).toMatchObject([{ action: 'user.sessions.end' }, { action: 'user.passkey.reset' }])
})

describe('the page of a user for others', () => {
  let shown: TestMember
  let viewer: TestMember

  beforeAll(async () => {
    shown = await createMember(site.tracker, 'open.handed')
    viewer = await createMember(site.tracker, 'viewer')
    await site.tracker.sql('update users set uploaded = 5400000000000, downloaded = 1200000000000 where id = $1', [
      shown.id,
    ])
  })

  test('a torrent links to its uploader, who shares their totals', async () => {
    const { id } = await uploadTorrent(shown, 'Uploaded.Torrent')
    const { page, problems } = await site.open(`/torrents/${id}`, DESKTOP, viewer.client)
    await page.getByRole('link', { name: 'open.handed' }).click()
    await page.waitForURL(`**/users/${shown.id}`)
    await page.getByText('4.50', { exact: true }).waitFor()
    expect(await page.getByText('Seed time').count()).toBe(0)
    expect(await problems('user')).toEqual([])
  })

  test('private statistics are shown to staff only', async () => {
    await shown.client.patch('/api/user/me', { statsPublic: false })
    const { page, problems } = await site.open(`/users/${shown.id}`, DESKTOP, viewer.client)
    await page.getByText('open.handed keeps their statistics private.').waitFor()
    expect(await problems('user-hidden')).toEqual([])

    const moderator = await site.tracker.signedIn('reads-users', 'moderator')
    const staff = await site.open(`/users/${shown.id}`, DESKTOP, moderator)
    await staff.page.getByText('Seed time').waitFor()
    await staff.page.locator('.u-over').first().waitFor()
    expect(await staff.problems('user-staff')).toEqual([])
    await staff.page.getByRole('link', { name: '90 days' }).click()
    await staff.page.waitForURL(`**/users/${shown.id}?days=90`)

    await page.goto(`${site.tracker.url}/users/nobody`)
    await page.getByText('Page not found').waitFor()
  })
})
