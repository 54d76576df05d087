import { beforeAll, describe, expect, test } from '@jest/globals'
import { freePort } from '@vault-and-tracker/dev-env'
import { bearer, createToken } from '../../tests/support/api-tokens.ts'
import type { Client } from '../../tests/support/client.ts'
import { createMember, type TestMember, uploadTorrent } from '../../tests/support/members.ts'
import { setLimits } from '../../tests/support/torznab.ts'
import { PASSWORD } from '../../tests/support/tracker.ts'
import { addTorrent, DESKTOP, NARROW, pressOn, typeInto, useSite } from './support/site.ts'

const site = useSite({ IRC_PORT: String(await freePort()), IRC_URL: 'ircs://irc.test' })

describe('statistics', () => {
  let member: TestMember

  beforeAll(async () => {
    const { tracker } = site
    member = await createMember(tracker, 'alice')
    await tracker.sql(
      `insert into user_days (user_id, day, uploaded, downloaded, uploaded_actual, downloaded_actual)
       select $1, (now() at time zone 'UTC')::date - n, up, down, up, down
       from generate_series(0, 120) as n,
         lateral (select ((40 + 30 * sin(n / 3.0)) * 1e9)::bigint as up, ((12 + 11 * cos(n / 2.0)) * 1e9)::bigint as down) as t
       where n % 6 <> 4`,
      [member.id],
    )
    await tracker.sql(
      `update users set uploaded = 5400000000000, downloaded = 1200000000000, uploaded_actual = 4400000000000,
        downloaded_actual = 1200000000000 where id = $1`,
      [member.id],
    )
    for (const [name, state, hours] of [
      ['The.Long.Harbour.S02E05.Night.Tide.1080p.WEB-DL.DDP5.1.H.264-GROUP', 'stopped', 11],
      ['Paper.Moons.2024.2160p.UHD.BluRay.REMUX.HDR10.HEVC.TrueHD.7.1.Atmos-OTHER', 'seeder', 50],
    ] as const) {
      const { id } = await uploadTorrent(member, name)
      await tracker.sql(
        `insert into user_torrents (user_id, torrent_id, last_state, seed_seconds, uploaded_actual, downloaded_actual,
           first_seen_at, last_seen_at, completed_at)
         values ($1, $2, $3, $4, 4e8, 3e9, now(), now(), now() - interval '4 days')`,
        [member.id, id, state, hours * 3_600],
      )
    }
  })

  test('members see their transfers, in total and per day, and choose who else sees them', async () => {
    const { page, problems } = await site.open('/me', DESKTOP, member.client)
    await page.getByText('4.50', { exact: true }).waitFor()
    await page.getByText('4.00 TiB transferred').waitFor()
    await page.locator('.u-over').nth(1).waitFor()
    await page.getByText('Values of Transfers as a table').click()
    const rows = page.getByRole('region', { name: 'Values of Transfers' }).getByRole('row')
    await rows.nth(30).waitFor()
    expect(await rows.count()).toBe(31)
    expect(await problems('me-statistics')).toEqual([])
    await page.getByLabel('to other members').click()
    await page.getByText('Saved.').waitFor()
    expect((await member.client.get('/api/user/me')).json).toMatchObject({ statsPublic: false })
    await page.getByRole('link', { name: '1 year' }).click()
    await page.waitForURL('**/me?days=365')
    await rows.nth(365).waitFor()
  })

  test('members see their torrents, their sums, and hit-and-runs with the rule', async () => {
    const { tracker } = site
    const [rejected] = await tracker.sql<{ id: string }>(
      `update torrents set state = 'rejected', state_reason = 'The audio is out of sync.' where name like 'Paper.Moons%'
        returning id`,
    )
    const { page, problems } = await site.open('/me', DESKTOP, member.client)
    await page.getByRole('link', { name: 'Your torrents' }).first().click()
    await page.getByText('Reason: The audio is out of sync.').waitFor()
    await page.getByText('Rejected', { exact: true }).waitFor()
    expect(await problems('own-uploads')).toEqual([])
    const tabs = page.getByRole('navigation', { name: 'Lists' })
    for (const [tab, torrent] of [
      ['Seeding', 'Paper.Moons'],
      ['Snatched', 'Paper.Moons'],
      ['Still to seed', 'The.Long.Harbour'],
    ] as const) {
      await tabs.getByRole('link', { name: tab }).press('Enter')
      await page.getByRole('link', { name: torrent }).waitFor()
      await page.getByText('Downloaded', { exact: true }).first().waitFor()
    }
    expect(await problems('own-duties')).toEqual([])
    await page.getByText('2 d 13 h').waitFor()
    await page.getByText('Not seeding', { exact: true }).waitFor()
    await page.getByText('for 3 d').waitFor()
    await tabs.getByRole('link', { name: 'Snatched' }).click()
    await page.getByRole('link', { name: 'Sort by seed time, most first' }).press('Enter')
    await page.waitForURL('**/me/torrents?list=snatched&by=seedTime')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByLabel('Order').selectOption('uploaded asc')
    await page.waitForURL('**/me/torrents?list=snatched&by=uploaded&order=asc')
    await page.getByRole('link', { name: 'Paper.Moons' }).click()
    await page.waitForURL(`**/torrents/${rejected?.id}`)
  })

  test('empty lists of torrents say so', async () => {
    const other = await site.tracker.signedIn('other')
    const { page } = await site.open('/me/torrents', DESKTOP, other)
    await page.getByText('You have not uploaded any torrents.').waitFor()
    await page.getByRole('navigation', { name: 'Lists' }).getByRole('link', { name: 'Still to seed' }).click()
    await page.getByText('You have nothing left to seed.').waitFor()
    await page.getByText('for 3 d').waitFor()
  })
})

test('a member creates an invite that a visitor can use, and revokes it, by keyboard', async () => {
  const username = 'inviter'
  const member = await site.tracker.signedIn(username)
  await site.tracker.sql('update users set invites_left = 2 where username = $1', [username])
  const used = await member.post('/api/user/invites')
  const guest = { username: 'guest', email: 'guest@example.org', password: PASSWORD }
  await site.tracker.client().post('/api/auth/register', { ...guest, invite: used.member('code') })
  const { page, problems } = await site.open('/me?tab=invites', NARROW, member)
  await pressOn(page.getByRole('button', { name: 'Create invite' }), 'Enter')
  await page.getByText('You have no invites left.').waitFor()
  const invite = new URL((await page.locator('.notice code').textContent()) ?? '')
  expect(invite.pathname).toBe('/register')
  expect(invite.searchParams.get('invite')).not.toBe('')
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

test('a moderator has any number of invites, and sees who used one before it was revoked', async () => {
  const member = await site.tracker.signedIn('overtaken', 'moderator')
  const made = await member.post('/api/user/invites')
  const { page } = await site.open('/me?tab=invites', DESKTOP, member)
  await page.getByText('any number of invites').waitFor()
  await page.getByRole('button', { name: 'Create invite' }).waitFor()
  await page.getByRole('button', { name: 'Revoke invite' }).click()
  const guest = { username: 'overtaker', email: 'overtaker@example.org', password: PASSWORD }
  await site.tracker.client().post('/api/auth/register', { ...guest, invite: made.member('code') })
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke invite' }).click()
  await page.getByText(/^This invite (has been|was) used/).waitFor()
  await page.getByText('Used by overtaker').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('a member changes their password by keyboard, unless the current one is wrong, and ends sessions', async () => {
  const username = 'careful'
  const password = 'a new and better one'
  const member = await site.tracker.signedIn(username)
  const { page, problems } = await site.open('/me?tab=security', DESKTOP, member)
  const send = async (current: string): Promise<void> => {
    await typeInto(page.getByLabel('Current password'), current)
    await typeInto(page.getByLabel('New password'), password)
    await pressOn(page.getByRole('button', { name: 'Change password' }), 'Enter')
  }
  await send('wrong password')
  await page
    .locator('.field', { has: page.getByLabel('Current password') })
    .locator('.field-problem')
    .waitFor()
  await send(PASSWORD)
  await page.getByText('Password changed.').waitFor()
  const elsewhere = site.tracker.client()
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const again = await elsewhere.post('/api/auth/login', { username, password }, { 'user-agent': agent })
  expect(again.status).toBe(200)

  await page.getByRole('navigation', { name: 'Your account' }).getByRole('link', { name: 'Sessions' }).click()
  await page.getByText('This session').waitFor()
  expect(await problems('me-sessions')).toEqual([])
  await page.getByRole('button', { name: 'End session of Firefox 140 on Linux' }).click()
  await page.getByText('Session ended.').waitFor()
  expect((await elsewhere.get('/api/user/me')).status).toBe(401)
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.waitForURL('**/login')
})

describe('notices', () => {
  let member: Client
  let staff: Client

  beforeAll(async () => {
    member = await site.tracker.signedIn('notified')
    staff = await site.tracker.signedIn('notifier', 'admin')
  })

  test('the bell counts notices, which lead to their torrents and are marked as read by keyboard', async () => {
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
    await staff.patch(`/api/torrents/${id}`, { description: 'Again.' })
    expect((await member.get('/api/notices/unread')).json).toMatchObject({ total: 0 })
  })

  test('a notice of a saved search leads to its list, and to all of them once it was deleted', async () => {
    const filters = 'search=harvest&resolution=1080p'
    const id = (await member.post('/api/saved-searches', { name: 'Harvest', filters, notify: true })).member('id')
    await addTorrent(staff, 'The.Harvest.2024.1080p.WEB-DL.H.264-GROUP')
    site.tracker.advance(120_000)
    await site.tracker.context.useCases.savedSearches.notifyOfMatches()
    const { page } = await site.open('/notices', DESKTOP, member)
    await page.getByRole('link', { name: 'Harvest', exact: true }).press('Enter')
    await page.getByRole('heading', { name: 'Harvest' }).waitFor()
    expect(new URL(page.url()).search).toBe(`?${filters}&saved=${id}`)
    await page.goBack()
    await member.delete(`/api/saved-searches/${id}`)
    await page.reload()
    await page.getByRole('link', { name: 'Harvest', exact: true }).press('Enter')
    await page.waitForURL('**/saved')
  })
})

describe('keys, tokens and webhooks', () => {
  let member: Client

  beforeAll(async () => {
    member = await site.tracker.signedIn('automating')
  })

  test('a member creates an API token by keyboard, copies it, sees its use and revokes it', async () => {
    const { page, problems } = await site.open('/me?tab=keys', NARROW, member)
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
    await page.getByRole('button', { name: 'Revoke Sonarr' }).click()
    expect(await problems('me-token-revoke')).toEqual([])
    await dialog.getByRole('button', { name: 'Revoke token' }).click()
    await page.getByText('No API tokens yet.').waitFor()
    expect((await site.tracker.client().get('/api/torrents', headers)).status).toBe(401)
  })

  test('a member adds a webhook for a saved search by keyboard, disables and deletes it; its URL stays secret', async () => {
    await createToken(member, ['download'], { name: 'Dashboard' })
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

  test('keys are hidden until shown, copied while hidden, reset by keyboard, and turned off for Torznab', async () => {
    const passkey = (await member.get('/api/user/me')).member('passkey')
    const { token } = await createToken(member, ['download'])
    const id = await addTorrent(member, 'Keyed.Harbour.S01E01.1080p.WEB.x264-GRP')
    const keyOfToken = async () =>
      (await member.get(`/api/torrents/${id}/download`, bearer(token))).text.match(/passkey=(\w+)/)?.[1]
    const announceKey = await keyOfToken()
    const { page, problems } = await site.open('/me?tab=keys', NARROW, member)
    await page.getByText('Torznab URL with key').waitFor()
    expect(await page.content()).not.toContain(passkey)
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

    await page.getByLabel('Accept my passkey for Torznab').click()
    await page.getByText('Saved.').waitFor()
    await page.getByText('Torznab URL with key').waitFor({ state: 'detached' })
    expect((await member.get('/api/user/me')).json).toMatchObject({ passkeyOpensTorznab: false })
  })

  test('the meter shows what is left of the Torznab limits', async () => {
    const { tracker } = site
    await setLimits(tracker, { searches: 4, downloads: 20 })
    const asker = await createMember(tracker, 'asker')
    tracker.holdClock(Math.ceil(tracker.now() / 60_000) * 60_000 + 1_000)
    for (let i = 0; i < 3; i += 1) await tracker.client().get(`/api/torznab?t=search&apikey=${asker.passkey}`)
    const { page } = await site.open('/me?tab=keys', DESKTOP, asker.client)
    await page.getByText('3 of 4 used, 1 left').waitFor()
    await page.getByText('0 of 20 used, 20 left').waitFor()
    await tracker.client().get(`/api/torznab?t=search&apikey=${asker.passkey}`)
    await page.getByText('4 of 4 used, none left').waitFor()
  })
})
