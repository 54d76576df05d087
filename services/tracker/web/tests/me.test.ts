import { expect, test } from '@jest/globals'
import { freePort } from '@vault-and-tracker/dev-env'
import { bearer, createToken } from '../../tests/support/api-tokens.ts'
import { PASSWORD } from '../../tests/support/tracker.ts'
import { addTorrent, DESKTOP, NARROW, pressOn, typeInto, useSite } from './support/site.ts'

const site = useSite({ IRC_PORT: String(await freePort()), IRC_URL: 'ircs://irc.test' })

test('members see their statistics and choose whether to share them', async () => {
  const member = await site.tracker.signedIn('stats')
  await site.tracker.sql(
    `update users set uploaded = 5400000000000, downloaded = 1200000000000, uploaded_actual = 4400000000000,
      downloaded_actual = 1200000000000 where username = 'stats'`,
  )
  const { page, problems } = await site.open('/me', DESKTOP, member)
  await page.getByText('4.50', { exact: true }).waitFor()
  await page.getByText('4.00 TiB transferred').waitFor()
  expect(await problems('me')).toEqual([])
  await page.getByLabel('to other members').click()
  await page.getByText('Saved.').waitFor()
  expect((await member.get('/api/user/me')).json).toMatchObject({ statsPublic: false })
})

test('keys are hidden until shown, copied while hidden, and reset by keyboard', async () => {
  const member = await site.tracker.signedIn('keys')
  const passkey = (await member.get('/api/user/me')).member('passkey')
  const { token } = await createToken(member, ['download'])
  const id = await addTorrent(member, 'Keyed.Harbour.S01E01.1080p.WEB.x264-GRP')
  const keyOfToken = async () =>
    (await member.get(`/api/torrents/${id}/download`, bearer(token))).text.match(/passkey=(\w+)/)?.[1]
  const announceKey = await keyOfToken()
  const { page, problems } = await site.open('/me?tab=keys', NARROW, member)
  await page.getByText('Torznab URL with key').waitFor()
  expect(await page.content()).not.toContain(passkey)
  expect(await problems('me-keys')).toEqual([])
  await page.getByRole('button', { name: 'Copy passkey' }).click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(passkey)
  for (const [what, address] of [
    ['UNIT3D API', 'http://tracker.test'],
    ['Definition for Jackett and Prowlarr', 'http://tracker.test/api/torznab/definition.yml'],
    ['IRC server', 'irc.test'],
    ['IRC port (TLS)', '6697'],
    ['Definition for autobrr', 'http://tracker.test/autobrr.yaml'],
  ] as const) {
    await page.getByRole('button', { name: `Copy ${what}` }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(address)
  }
  await page.getByRole('button', { name: 'Show passkey' }).click()
  await page.getByText(passkey, { exact: true }).waitFor()

  await pressOn(page.getByRole('button', { name: 'Reset passkey' }), 'Enter')
  await page.getByText('These stop working immediately').waitFor()
  expect(await problems('me-keys-reset')).toEqual([])
  await pressOn(page.getByLabel('Keep torrents'), 'Space')
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Reset passkey' }), 'Enter')
  await page.getByText('Passkey reset.').waitFor()
  expect((await member.get('/api/user/me')).member('passkey')).not.toBe(passkey)
  expect(await page.getByText(passkey, { exact: true }).count()).toBe(0)
  expect(await keyOfToken()).toBe(announceKey)
})

test('a member creates an API token by keyboard, copies it, sees its use and revokes it', async () => {
  const member = await site.tracker.signedIn('tokens')
  const { page, problems } = await site.open('/me?tab=keys', DESKTOP, member)
  await page.getByText('No API tokens yet.').waitFor()
  await page.getByRole('button', { name: 'Create API token' }).press('Enter')
  const dialog = page.getByRole('dialog')
  await page.keyboard.type('Sonarr')
  const checked = () => dialog.getByRole('checkbox', { checked: true }).count()
  expect(await checked()).toBe(2)
  for (const key of ['Tab', 'Space', 'Tab', 'Space', 'Tab', 'Tab', 'Space']) await page.keyboard.press(key)
  expect(await checked()).toBe(1)
  await dialog.getByLabel('Allowed addresses').fill('127.0.0.1, example.org')
  expect(await problems('me-token-create')).toEqual([])
  await dialog.getByLabel('Your password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await dialog.locator('.field-problem').waitFor()
  await dialog.getByLabel('Allowed addresses').fill('127.0.0.1')
  await dialog.getByLabel('Your password').press('Enter')
  await dialog.getByText('shown only once').waitFor()
  expect(await page.content()).not.toContain('vtt_')
  expect(await problems('me-token-once')).toEqual([])
  await dialog.getByRole('button', { name: 'Copy API token' }).click()
  const token = String(await page.evaluate('navigator.clipboard.readText()'))
  await dialog.getByRole('button', { name: 'Done' }).click()

  const headers = { authorization: `Bearer ${token}` }
  expect((await site.tracker.client().get('/api/torrents', headers)).status).toBe(200)
  await site.tracker.context.useCases.tokenUses.flush()
  await page.reload()
  await page.getByText('from 127.0.0.1').waitFor()
  expect(await problems('me-tokens')).toEqual([])
  await page.getByRole('button', { name: 'Revoke Sonarr' }).click()
  expect(await problems('me-token-revoke')).toEqual([])
  await dialog.getByRole('button', { name: 'Revoke token' }).click()
  await page.getByText('No API tokens yet.').waitFor()
  expect((await site.tracker.client().get('/api/torrents', headers)).status).toBe(401)
})

test('a member adds a webhook for a saved search by keyboard, disables and deletes it; its URL stays secret', async () => {
  const member = await site.tracker.signedIn('hooks')
  await member.post('/api/saved-searches', { name: 'Shows', filters: 'search=show' })
  const { page, problems } = await site.open('/me?tab=keys', NARROW, member)
  await pressOn(page.getByRole('button', { name: 'Add webhook' }), 'Enter')
  const dialog = page.getByRole('dialog')
  await typeInto(dialog.getByLabel('URL'), 'https://127.0.0.1/hook')
  await typeInto(dialog.getByLabel('Format'), 'Discord')
  await typeInto(dialog.getByLabel('Torrents'), 'Shows')
  await pressOn(dialog.getByRole('button', { name: 'Add webhook' }), 'Enter')
  await dialog.locator('.field-problem').waitFor()
  await typeInto(dialog.getByLabel('URL'), 'https://hooks.example.org/secret')
  expect(await problems('me-webhook-add')).toEqual([])
  await pressOn(dialog.getByRole('button', { name: 'Add webhook' }), 'Enter')
  await page.getByText('Webhook added.').waitFor()
  expect(await page.content()).not.toContain('hooks.example.org/secret')
  await pressOn(page.getByRole('button', { name: 'Disable https://hooks.example.org' }), 'Enter')
  await page.getByRole('button', { name: 'Enable https://hooks.example.org' }).waitFor()
  expect((await member.get('/api/webhooks')).json).toMatchObject({ items: [{ format: 'discord', enabled: false }] })
  expect(await problems('me-webhooks')).toEqual([])
  await pressOn(page.getByRole('button', { name: 'Delete https://hooks.example.org' }), 'Enter')
  await pressOn(dialog.getByRole('button', { name: 'Delete webhook' }), 'Enter')
  await page.getByText('No webhooks yet.').waitFor()
})

test('a member turns their passkey off for Torznab', async () => {
  const member = await site.tracker.signedIn('switch')
  const { page } = await site.open('/me?tab=keys', NARROW, member)
  await page.getByText('Torznab URL with key').waitFor()
  await page.getByLabel('Accept my passkey for Torznab').click()
  await page.getByText('Saved.').waitFor()
  await page.getByText('Torznab URL with key').waitFor({ state: 'detached' })
  expect((await member.get('/api/user/me')).json).toMatchObject({ passkeyOpensTorznab: false })
})

test('a member ends sessions', async () => {
  const username = 'sessions'
  const member = await site.tracker.signedIn(username)
  const elsewhere = site.tracker.client()
  await elsewhere.post(
    '/api/auth/login',
    { username, password: PASSWORD },
    { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
  )
  const { page, problems } = await site.open('/me?tab=sessions', DESKTOP, member)
  await page.getByText('This session').waitFor()
  expect(await problems('me-sessions')).toEqual([])
  await page.getByRole('button', { name: 'End session of Firefox 140 on Linux' }).click()
  await page.getByText('Session ended.').waitFor()
  expect((await elsewhere.get('/api/user/me')).status).toBe(401)
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.waitForURL('**/login')
})

test('a member creates an invite by keyboard that a visitor can use', async () => {
  const member = await site.tracker.signedIn('invites')
  await site.tracker.sql(`update users set invites_left = 1 where username = 'invites'`)
  const { page, problems } = await site.open('/me?tab=invites', DESKTOP, member)
  await page.getByText('No invites yet.').waitFor()
  await pressOn(page.getByRole('button', { name: 'Create invite' }), 'Enter')
  await page.getByText('Unused').waitFor()
  expect(await problems('me-invites')).toEqual([])
  await page.getByText('You have no invites left.').waitFor()
  const invite = new URL((await page.locator('.notice code').textContent()) ?? '')
  expect(invite.pathname).toBe('/register')
  expect(invite.searchParams.get('invite')).not.toBe('')
})

test('a member revokes an unused invite by keyboard', async () => {
  const username = 'inviter'
  const member = await site.tracker.signedIn(username)
  await site.tracker.sql('update users set invites_left = 2 where username = $1', [username])
  const used = await member.post('/api/user/invites')
  const guest = { username: 'guest', email: 'guest@example.org', password: PASSWORD }
  await site.tracker.client().post('/api/auth/register', { ...guest, invite: used.member('code') })
  const { page, problems } = await site.open('/me?tab=invites', NARROW, member)
  await pressOn(page.getByRole('button', { name: 'Create invite' }), 'Enter')
  await page.getByText('You have no invites left.').waitFor()
  await page.locator('.notice code').waitFor()
  expect(await problems('me-invites-unused')).toEqual([])
  // A used invite cannot be revoked, so there is one button.
  await pressOn(page.getByRole('button', { name: 'Revoke invite' }), 'Enter')
  await page.getByText('will no longer create an account').waitFor()
  expect(await problems('me-invites-take-back')).toEqual([])
  const dialog = page.getByRole('dialog')
  await pressOn(dialog.getByRole('button', { name: 'Cancel' }), 'Enter')
  await dialog.waitFor({ state: 'detached' })
  expect((await member.get('/api/user/me')).json).toMatchObject({ invitesLeft: 0 })
  await pressOn(page.getByRole('button', { name: 'Revoke invite' }), 'Enter')
  await pressOn(dialog.getByRole('button', { name: 'Revoke invite' }), 'Enter')
  await page.getByText('Invite revoked.').waitFor()
  await page.getByText('1 invite left.').waitFor()
  await page.getByText('Unused').waitFor({ state: 'detached' })
  expect(await page.locator('.notice code').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(0)
  await page.getByText(`Used by ${guest.username}`).waitFor()
  expect((await member.get('/api/user/invites')).json).toMatchObject({ total: 1 })
})

test('a member who revokes an invite that was used in the meantime sees by whom', async () => {
  const member = await site.tracker.signedIn('overtaken')
  await site.tracker.sql(`update users set invites_left = 1 where username = 'overtaken'`)
  const made = await member.post('/api/user/invites')
  const { page } = await site.open('/me?tab=invites', DESKTOP, member)
  await page.getByRole('button', { name: 'Revoke invite' }).click()
  const guest = { username: 'overtaker', email: 'overtaker@example.org', password: PASSWORD }
  await site.tracker.client().post('/api/auth/register', { ...guest, invite: made.member('code') })
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke invite' }).click()
  await page.getByText(/^This invite (has been|was) used/).waitFor()
  await page.getByText('Used by overtaker').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('staff create any number of invites', async () => {
  const staff = await site.tracker.signedIn('inviting', 'moderator')
  const { page, problems } = await site.open('/me?tab=invites', DESKTOP, staff)
  await page.getByText('any number of invites').waitFor()
  expect(await problems('me-invites-staff')).toEqual([])
  await page.getByRole('button', { name: 'Create invite' }).click()
  await page.getByText('Unused').waitFor()
  await page.getByRole('button', { name: 'Create invite' }).waitFor()
})

test('a member changes their password by keyboard; a wrong one keeps them signed in', async () => {
  const member = await site.tracker.signedIn('password')
  const { page, problems } = await site.open('/me?tab=security', DESKTOP, member)
  const send = async (current: string): Promise<void> => {
    await typeInto(page.getByLabel('Current password'), current)
    await typeInto(page.getByLabel('New password'), 'a new and better one')
    await pressOn(page.getByRole('button', { name: 'Change password' }), 'Enter')
  }
  await send('wrong password')
  await page
    .locator('.field', { has: page.getByLabel('Current password') })
    .locator('.field-problem')
    .waitFor()
  expect(await problems('me-password')).toEqual([])
  await send(PASSWORD)
  await page.getByText('Password changed.').waitFor()
  const again = await site.tracker
    .client()
    .post('/api/auth/login', { username: 'password', password: 'a new and better one' })
  expect(again.status).toBe(200)
})

test('the bell counts notices, which lead to their torrents and are marked as read by keyboard', async () => {
  const member = await site.tracker.signedIn('notified')
  const staff = await site.tracker.signedIn('notifier', 'admin')
  const { page, problems } = await site.open('/notices', DESKTOP, member)
  await page.getByText('No notices yet.').waitFor()
  expect(await problems('notices-empty')).toEqual([])
  const id = await addTorrent(member, 'Night.Harbour.S01E01.1080p.WEB.H264-GROUP')
  await staff.post(`/api/admin/torrents/${id}/reject`, { reason: 'The second file is missing.' })
  await staff.post(`/api/admin/torrents/${id}/approve`)
  await staff.patch(`/api/torrents/${id}`, { description: 'Restored.', imdb: 'tt0000001', downloadPercent: 0 })
  const other = await addTorrent(member, 'Removed')
  await staff.delete(`/api/torrents/${other}?reason=Trumped`)
  await page.reload()
  await page.getByRole('link', { name: 'Notices, 5 unread' }).waitFor()
  await page.getByText('Reason: Trumped').waitFor()
  expect(await problems('notices')).toEqual([])
  const buttons = page.getByRole('button', { name: 'Mark as read' })
  await buttons.first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Notices, 4 unread' }).waitFor()
  // The next button has the focus.
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Notices, 3 unread' }).waitFor()
  await page.getByRole('navigation', { name: 'Notices' }).getByRole('link', { name: 'Unread' }).click()
  await page.locator('.notices > li').nth(3).waitFor({ state: 'detached' })
  expect(await page.locator('.notices > li').count()).toBe(3)
  await page.getByRole('link', { name: 'Night.Harbour' }).first().click()
  await page.waitForURL(`**/torrents/${id}`)
  await page.getByRole('link', { name: 'Notices, 2 unread' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('n')
  await page.waitForURL('**/notices')
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await page.getByRole('link', { name: 'Notices', exact: true }).waitFor()

  await page.getByRole('navigation', { name: 'Notices' }).getByRole('link', { name: 'Settings' }).click()
  await page.getByLabel('Staff edit one of my torrents').click()
  await page.getByText('Saved.').waitFor()
  expect(await problems('notice-settings')).toEqual([])
  await staff.patch(`/api/torrents/${id}`, { description: 'Again.' })
  expect((await member.get('/api/notices/unread')).json).toMatchObject({ total: 0 })
})

test('a notice of a saved search leads to its list, and to all of them once it was deleted', async () => {
  const member = await site.tracker.signedIn('collector')
  const uploader = await site.tracker.signedIn('supplier')
  const filters = 'search=harvest&resolution=1080p'
  const id = (await member.post('/api/saved-searches', { name: 'Harvest', filters, notify: true })).member('id')
  await addTorrent(uploader, 'The.Harvest.2024.1080p.WEB-DL.H.264-GROUP')
  site.tracker.advance(120_000)
  await site.tracker.context.useCases.savedSearches.notifyOfMatches()
  const { page } = await site.open('/notices', NARROW, member)
  await page.getByRole('link', { name: 'Harvest', exact: true }).press('Enter')
  await page.getByRole('heading', { name: 'Harvest' }).waitFor()
  expect(new URL(page.url()).search).toBe(`?${filters}&saved=${id}`)
  await page.goBack()
  await member.delete(`/api/saved-searches/${id}`)
  await page.reload()
  await page.getByRole('link', { name: 'Harvest', exact: true }).press('Enter')
  await page.waitForURL('**/saved')
})

test('a member asks for seeders of a torrent that has none, by keyboard', async () => {
  const [uploader, member] = [await site.tracker.signedIn('sower'), await site.tracker.signedIn('asking')]
  const id = await addTorrent(uploader, 'Nobody.Seeds.This')
  const { page } = await site.open(`/torrents/${id}`, DESKTOP, member)
  const ask = page.getByRole('button', { name: 'Ask for seeders' })
  await pressOn(ask, 'Enter')
  await page.getByText('Asked 1 member').waitFor()
  await pressOn(ask, 'Enter')
  await page.getByText('less than 3 days ago').waitFor()
  await site.tracker.sql('update torrent_stats set seeders = 1 where torrent_id = $1', [id])
  await page.reload()
  await page.getByRole('link', { name: 'Download .torrent' }).waitFor()
  expect(await ask.count()).toBe(0)
})

test('the page of a member shows who they are, and leads to their torrents', async () => {
  const shown = await site.tracker.signedIn('shown')
  const id = (await shown.get('/api/user/me')).member('id')
  await shown.patch('/api/user/me', { statsPublic: false })
  const { page, problems } = await site.open(`/users/${id}`, NARROW, await site.tracker.signedIn('reader'))
  await page.getByText(/^Member since/).waitFor()
  await page.getByText('keeps their statistics private').waitFor()
  expect(await problems('user')).toEqual([])
  expect(await page.getByRole('link', { name: 'Manage user' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Uploads' }).click()
  await page.waitForURL('**/torrents?uploader=shown')
  const own = await site.open('/me', DESKTOP, shown)
  await own.page.getByRole('link', { name: 'Your public page' }).click()
  await own.page.getByRole('link', { name: 'Your account' }).last().waitFor()
  const admin = await site.open(`/users/${id}`, DESKTOP, await site.tracker.signedIn('managing', 'admin'))
  await admin.page.getByRole('link', { name: 'Manage user' }).click()
  await admin.page.waitForURL(`**/admin/users/${id}`)
})
