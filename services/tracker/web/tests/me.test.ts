import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { PASSWORD } from '../../tests/support/tracker.ts'
import { DESKTOP, type Site, startSite, VIEWS } from './support/site.ts'

let site: Site

beforeAll(async () => {
  site = await startSite()
})
afterAll(() => site.stop())

test.each(VIEWS)('a member sees their statistics and decides who else does ($width px)', async (view) => {
  const member = await site.tracker.signedIn(`stats-${view.width}`)
  await site.tracker.sql(
    `update users set uploaded = 5400000000000, downloaded = 1200000000000, uploaded_actual = 4400000000000,
      downloaded_actual = 1200000000000 where username like 'stats-%'`,
  )
  const { page, problems } = await site.open('/me', view, member)
  await page.getByText('4.50', { exact: true }).waitFor()
  await page.getByText('4.00 TiB transferred').waitFor()
  expect(await problems('me')).toEqual([])
  await page.getByLabel('Other members see').click()
  await page.getByText('Saved.').waitFor()
  expect((await member.get('/api/user/me')).json).toMatchObject({ statsPublic: false })
  await page.context().close()
})

test.each(VIEWS)('keys are hidden until asked for, copied unseen, and reset ($width px)', async (view) => {
  const member = await site.tracker.signedIn(`keys-${view.width}`)
  const passkey = (await member.get('/api/user/me')).member('passkey')
  const { page, problems } = await site.open('/me?tab=keys', view, member)
  await page.getByText('Torznab URL with key').waitFor()
  expect(await page.content()).not.toContain(passkey)
  expect(await problems('me-keys')).toEqual([])
  await page.getByRole('button', { name: 'Copy passkey' }).click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(passkey)
  await page.getByRole('button', { name: 'Show passkey' }).click()
  await page.getByText(passkey, { exact: true }).waitFor()

  await page.getByRole('button', { name: 'Reset passkey' }).click()
  await page.getByText('These stop working at once').waitFor()
  expect(await problems('me-keys-reset')).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Reset passkey' }).click()
  await page.getByText('You have a new passkey.').waitFor()
  expect((await member.get('/api/user/me')).member('passkey')).not.toBe(passkey)
  expect(await page.getByText(passkey, { exact: true }).count()).toBe(0)
  await page.context().close()
})

test.each(VIEWS)('a member ends sessions ($width px)', async (view) => {
  const username = `sessions-${view.width}`
  const member = await site.tracker.signedIn(username)
  const elsewhere = site.tracker.client()
  await elsewhere.post(
    '/api/auth/login',
    { username, password: PASSWORD },
    { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
  )
  const { page, problems } = await site.open('/me?tab=sessions', view, member)
  await page.getByText('This one').waitFor()
  expect(await problems('me-sessions')).toEqual([])
  await page.getByRole('button', { name: 'End the session of Firefox 140 on Linux' }).click()
  await page.getByText('The session has ended.').waitFor()
  expect((await elsewhere.get('/api/user/me')).status).toBe(401)
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.waitForURL('**/login')
  await page.context().close()
})

test.each(VIEWS)('a member makes an invite that a visitor can use ($width px)', async (view) => {
  const username = `invites-${view.width}`
  const member = await site.tracker.signedIn(username)
  await site.tracker.sql('update users set invites_left = 1 where username = $1', [username])
  const { page, problems } = await site.open('/me?tab=invites', view, member)
  await page.getByText('You have made no invites.').waitFor()
  await page.getByRole('button', { name: 'Make an invite' }).click()
  await page.getByText('Not used yet').waitFor()
  expect(await problems('me-invites')).toEqual([])
  await page.getByText('You have no invites left.').waitFor()
  const invite = new URL((await page.locator('.notice code').textContent()) ?? '')
  expect(invite.pathname).toBe('/register')
  expect(invite.searchParams.get('invite')).not.toBe('')
  await page.context().close()
})

test.each(VIEWS)('a member takes back an invite that nobody used ($width px)', async (view) => {
  const username = `takes-back-${view.width}`
  const member = await site.tracker.signedIn(username)
  await site.tracker.sql('update users set invites_left = 2 where username = $1', [username])
  const used = await member.post('/api/user/invites')
  const guest = { username: `guest-${view.width}`, email: `guest-${view.width}@example.org`, password: PASSWORD }
  await site.tracker.client().post('/api/auth/register', { ...guest, invite: used.member('code') })
  const { page, problems, context } = await site.open('/me?tab=invites', view, member)
  await page.getByRole('button', { name: 'Make an invite' }).click()
  await page.getByText('You have no invites left.').waitFor()
  await page.locator('.notice code').waitFor()
  expect(await problems('me-invites-unused')).toEqual([])
  // One that was used cannot be taken back, so there is one button.
  await page.getByRole('button', { name: 'Take back the invite made on' }).click()
  await page.getByText('Nobody can register with it any more.').waitFor()
  expect(await problems('me-invites-take-back')).toEqual([])
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await member.get('/api/user/me')).json).toMatchObject({ invitesLeft: 0 })
  await page.getByRole('button', { name: 'Take back the invite made on' }).click()
  await dialog.getByRole('button', { name: 'Take back' }).click()
  await page.getByText('The invite was taken back.').waitFor()
  await page.getByText('1 left.').waitFor()
  await page.getByText('Not used yet').waitFor({ state: 'detached' })
  expect(await page.locator('.notice code').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Take back' }).count()).toBe(0)
  await page.getByText(`Used by ${guest.username}`).waitFor()
  expect((await member.get('/api/user/invites')).json).toMatchObject({ total: 1 })
  await context.close()
})

test('a member who takes back an invite that was used meanwhile sees by whom', async () => {
  const member = await site.tracker.signedIn('overtaken')
  await site.tracker.sql(`update users set invites_left = 1 where username = 'overtaken'`)
  const made = await member.post('/api/user/invites')
  const { page, context } = await site.open('/me?tab=invites', DESKTOP, member)
  await page.getByRole('button', { name: 'Take back the invite made on' }).click()
  const guest = { username: 'overtaker', email: 'overtaker@example.org', password: PASSWORD }
  await site.tracker.client().post('/api/auth/register', { ...guest, invite: made.member('code') })
  await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).click()
  await page.getByText('This invite was used and cannot be taken back.').waitFor()
  await page.getByText('Used by overtaker').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await context.close()
})

test.each([
  ['moderator', 390],
  ['admin', 1280],
] as const)('staff make invites without having been given any (%s, %d px)', async (role, width) => {
  const staff = await site.tracker.signedIn(`inviting-${role}`, role)
  const { page, problems, context } = await site.open('/me?tab=invites', { width }, staff)
  await page.getByText('You can invite without limit.').waitFor()
  expect(await problems('me-invites-staff')).toEqual([])
  await page.getByRole('button', { name: 'Make an invite' }).click()
  await page.getByText('Not used yet').waitFor()
  await page.getByRole('button', { name: 'Make an invite' }).waitFor()
  await context.close()
})

test('a member changes their password; a wrong one keeps them signed in', async () => {
  const member = await site.tracker.signedIn('password')
  const { page, problems } = await site.open('/me?tab=password', DESKTOP, member)
  const send = async (current: string): Promise<void> => {
    await page.getByLabel('Current password').fill(current)
    await page.getByLabel('New password').fill('a new and better one')
    await page.getByRole('button', { name: 'Change password' }).click()
  }
  await send('wrong password')
  await page.locator('.form-problem, .field-problem').waitFor()
  expect(await problems('me-password')).toEqual([])
  await send(PASSWORD)
  await page.getByText('The password was changed.').waitFor()
  const again = await site.tracker
    .client()
    .post('/api/auth/login', { username: 'password', password: 'a new and better one' })
  expect(again.status).toBe(200)
})
