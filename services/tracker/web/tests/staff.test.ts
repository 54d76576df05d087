import { readFileSync } from 'node:fs'
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { makePng } from '../../tests/support/make-png.ts'
import { requestsAreWritten } from '../../tests/support/torznab-log.ts'
import { fillCatalogue } from './support/catalogue.ts'
import { addTorrent, DESKTOP, NARROW, pressOn, tabTo, typeDate, typeInto, useSite } from './support/site.ts'

const site = useSite({ UPLOAD_APPROVAL: 'manual' })
let admin: Client
let moderator: Client

beforeAll(async () => {
  admin = await site.tracker.signedIn('the-admin', 'admin')
  moderator = await site.tracker.signedIn('the-moderator', 'moderator')
})

describe('the log', () => {
  beforeAll(async () => {
    // Enough for a second page.
    for (let count = 0; count < 45; count += 1) await admin.patch('/api/admin/site', { downloadPercent: count % 2 })
    const member = await site.tracker.signedIn('logged')
    const name = 'The.Long.Harbour.S02E05.Night.Tide.1080p.WEB-DL.DDP5.1.H.264-GROUP'
    const id = await addTorrent(member, name)
    await moderator.post(`/api/admin/torrents/${id}/reject`, { reason: 'The audio is out of step from minute 12 on.' })
    await moderator.post(`/api/admin/torrents/${id}/approve`)
    await admin.patch(`/api/torrents/${id}`, { downloadPercent: 0 })
    const user = (await member.get('/api/user/me')).member('id')
    await admin.patch(`/api/admin/users/${user}`, { canDownload: false, invitesLeft: 3, reason: 'too many accounts' })
    await admin.post(`/api/admin/users/${user}/passkey`)
    await admin.patch('/api/admin/site', { downloadPercent: 50 })
  })

  test('the log is filtered by keyboard: by user, action and time in the address', async () => {
    const { page, problems } = await site.open('/admin/log', DESKTOP, admin)
    await page.getByText('51 actions').waitFor()
    await page.getByRole('cell', { name: 'rejected a torrent' }).waitFor()
    await page.getByText('too many accounts').waitFor()
    expect(await problems('log')).toEqual([])
    await page.getByRole('link', { name: 'Next' }).click()
    await page.getByText('Page 2 of 2').waitFor()
    await typeInto(page.getByRole('searchbox', { name: 'Username' }), 'THE-moderator')
    await page.getByText('2 actions').waitFor()
    await typeInto(page.getByLabel('Action'), 'rejected a torrent')
    await page.getByText('1 action', { exact: true }).waitFor()
    await page.getByText('The audio is out of step').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      pressOn(page.getByRole('button', { name: 'Export CSV' }), 'Enter'),
    ])
    expect(download.suggestedFilename()).toBe('admin-log.csv')
    expect(readFileSync(await download.path(), 'utf8').match(/the-moderator,torrent.reject,/g)).toHaveLength(1)
    const today = new Intl.DateTimeFormat('sv-SE').format(new Date())
    await typeDate(page.getByLabel('From'), today)
    await typeDate(page.getByLabel('To', { exact: true }), today)
    await page.waitForURL('**to=*')
    await page.getByText('1 action', { exact: true }).waitFor()
    await typeDate(page.getByLabel('To', { exact: true }), '2001-01-01')
    await page.getByText('No matching actions.').waitFor()
    await pressOn(page.getByRole('link', { name: 'Clear filters' }), 'Enter')
    await page.getByText('51 actions').waitFor()
  })
})

/** The text of the element that is visible where the focused one is. */
const HIT_FOCUS = `(() => {
  const { left, top, width, height } = document.activeElement.getBoundingClientRect()
  return document.elementFromPoint(left + width / 2, top + height / 2)?.textContent
})()`

describe('the clients', () => {
  test('an administrator denies a client that was seen, tests it, and removes the rule, with keys alone', async () => {
    await site.tracker.sql(
      `insert into client_days (day, client, peers, users)
       values (current_date, '-qB4420-', 30, 9), (current_date, '-TR4060-', 69, 20), (current_date, 'exbc', 1, 1)`,
    )
    const { page, problems } = await site.open('/admin/clients', DESKTOP, admin)
    await page.getByText('qBittorrent 4.4.2').first().waitFor()
    await page.getByText('30.0 %').first().waitFor()
    expect(await problems('clients')).toEqual([])
    await pressOn(page.getByRole('button', { name: 'Deny qBittorrent 4.4.2' }), 'Enter')
    await page.getByRole('dialog').getByLabel('Versions').selectOption('below')
    await page.getByRole('dialog').getByLabel('Version', { exact: true }).fill('4.5')
    expect(await problems('clients-rule')).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'before 4.5', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Allow qBittorrent 4.4.2' }).waitFor()
    await page.getByLabel('Peer ID').fill('-qB4499-')
    await page.keyboard.press('Enter')
    await page.getByText('is denied').waitFor()
    await pressOn(page.getByRole('button', { name: 'Allow qBittorrent 4.4.2' }), 'Space')
    await page.getByText('No rules').waitFor()
  })
})

describe('the settings of the site', () => {
  test('an administrator sets the name, the accent and the logo, and pages have them at once and later', async () => {
    const visit = await site.open('/admin/site', DESKTOP, admin)
    const { page } = visit
    const styleOf = (property: string): Promise<string> =>
      page.evaluate(`getComputedStyle(document.querySelector('.button[data-kind="main"]')).${property}`)
    await page.getByLabel('Name').waitFor()
    const designed = await styleOf('backgroundColor')
    await page.getByRole('radio', { name: 'Rose' }).check()
    expect(await styleOf('backgroundColor')).not.toBe(designed)
    await page.getByLabel('Name').fill('Silent Films')
    await page.getByRole('button', { name: 'Save appearance' }).click()
    await page.locator('.brand', { hasText: 'Silent Films' }).waitFor()
    await page.getByLabel('Logo').setInputFiles({ name: 'l.png', mimeType: 'image/png', buffer: Buffer.from('<svg/>') })
    await page.getByText('PNG file').last().waitFor()
    await page.getByLabel('Logo').setInputFiles({ name: 'l.png', mimeType: 'image/png', buffer: makePng(64) })
    await page.getByRole('button', { name: 'Remove logo' }).waitFor()
    await page.goto(`${site.tracker.url}/torrents`)
    await page.locator('.brand', { hasText: 'Silent Films' }).waitFor()
    expect(await page.title()).toBe('Torrents · Silent Films')
    expect(await page.evaluate(`document.querySelector('.brand-mark').naturalWidth`)).toBe(64)
    expect(await page.evaluate(`getComputedStyle(document.documentElement).getPropertyValue('--brand')`)).toBe(
      '#c2255c',
    )
    await page.goto(`${site.tracker.url}/admin/site`)
    await page.getByRole('button', { name: 'Remove logo' }).click()
    await page.getByRole('button', { name: 'Remove logo' }).waitFor({ state: 'detached' })
    await admin.patch('/api/admin/site', { name: null, accent: null })
  })

  test('settings of the panel replace those of the server, which a choice restores', async () => {
    const { page } = await site.open('/admin/site', NARROW, admin)
    await typeInto(page.getByLabel('Registration'), 'Closed')
    await typeInto(page.getByLabel('Second factor for staff'), 'Optional')
    await typeInto(page.getByLabel('Minimum seed time, hours'), '12')
    await pressOn(page.getByRole('button', { name: 'Save settings' }), 'Enter')
    await page.getByText('Set here.').nth(2).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Save settings')
    expect((await admin.get('/api/site')).json).toMatchObject({ registration: 'closed' })
    expect((await admin.get('/api/admin/site')).json).toMatchObject({ staffSecondFactor: false, seedHours: 12 })
    await page.getByLabel('Registration').selectOption('Default (by invite only)')
    await page.getByLabel('Second factor for staff').selectOption('Default (optional)')
    await page.getByLabel('Minimum seed time, hours').fill('')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Set here.').first().waitFor({ state: 'detached' })
    expect((await admin.get('/api/site')).json).toMatchObject({ registration: 'invite' })
  })

  test('an administrator adds a webhook of the site by keyboard', async () => {
    const { page, problems } = await site.open('/admin/site', DESKTOP, admin)
    await pressOn(page.getByRole('button', { name: 'Add webhook' }), 'Enter')
    const dialog = page.getByRole('dialog')
    await typeInto(dialog.getByLabel('URL'), 'https://chat.example.org/secret')
    await pressOn(dialog.getByRole('button', { name: 'Add webhook' }), 'Enter')
    await page.getByRole('button', { name: 'Test https://chat.example.org' }).waitFor()
    expect(await problems('admin-webhooks')).toEqual([])
    expect((await admin.get('/api/admin/webhooks')).json).toMatchObject({ items: [{ format: 'json', enabled: true }] })
  })

  test('freeleech starts and ends, and rates are set, by keyboard', async () => {
    const { page, problems } = await site.open('/admin/site', DESKTOP, admin)
    const dialog = page.getByRole('dialog')
    await page.getByText('REGISTRATION=').waitFor()
    await pressOn(page.getByRole('button', { name: 'Start freeleech' }), 'Enter')
    await page.getByText('Downloads no longer count').waitFor()
    expect(await problems('site-freeleech')).toEqual([])
    await pressOn(dialog.getByRole('button', { name: 'Start freeleech' }), 'Enter')
    await page.getByText('Download rate 0 %').waitFor()
    expect((await admin.get('/api/admin/site')).json).toMatchObject({ downloadPercent: 0, uploadPercent: 100 })
    await pressOn(page.getByRole('button', { name: 'End freeleech' }), 'Enter')
    await pressOn(dialog.getByRole('button', { name: 'End freeleech' }), 'Enter')
    await page.getByText('Download rate 100 %').waitFor()
    await typeInto(page.getByLabel('Upload rate'), '200')
    await pressOn(page.getByRole('button', { name: 'Save rates' }), 'Enter')
    await page.getByText('upload rate 200 %').waitFor()
    const { items } = (await admin.get('/api/admin/log')).json as { items: unknown[] }
    expect(items.slice(0, 3)).toMatchObject([
      { action: 'site.update', before: { uploadPercent: 100 }, after: { uploadPercent: 200 } },
      { action: 'site.update', after: { downloadPercent: 100 } },
      { action: 'site.update', after: { downloadPercent: 0 } },
    ])
  })

  test('staff set the rates of a torrent on its page by keyboard; members cannot', async () => {
    const member = await site.tracker.signedIn('of-free-torrents')
    const id = await addTorrent(member, 'Free.Torrent.2024.1080p')
    const { page, problems } = await site.open(`/torrents/${id}`, DESKTOP, admin)
    await pressOn(page.getByRole('button', { name: 'Set rates' }), 'Enter')
    await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Freeleech' }), 'Enter')
    expect(await page.getByLabel('Download rate').inputValue()).toBe('0')
    expect(await problems('torrent-freeleech')).toEqual([])
    await pressOn(page.getByRole('button', { name: 'Save rates' }), 'Enter')
    await page.getByText('Saved.').waitFor()
    expect((await admin.get(`/api/torrents/${id}`)).json).toMatchObject({ downloadPercent: 0 })
    const own = await site.open(`/torrents/${id}`, DESKTOP, member)
    await own.page.getByRole('button', { name: 'Edit torrent' }).waitFor()
    expect(await own.page.getByRole('button', { name: 'Set rates' }).count()).toBe(0)
  })
})

describe('moderation', () => {
  const NAMES = [
    'The.Long.Harbour.S02E05.Night.Tide.1080p.WEB-DL.DDP5.1.H.264-GROUP',
    'Paper.Moons.2024.2160p.UHD.BluRay.REMUX.HDR10.HEVC.TrueHD.7.1.Atmos-OTHER',
    'Distant.Shores.S01.720p.HDTV.x264-GROUP',
  ] as const

  let member: Client

  beforeAll(async () => {
    member = await site.tracker.signedIn('moderated')
  })

  async function uploadAll(): Promise<readonly string[]> {
    await site.tracker.sql('delete from torrents')
    const ids: string[] = []
    for (const name of NAMES)
      ids.push(
        await addTorrent(member, name, {
          files: [
            [`${name}.mkv`, 3_000_000],
            ['readme.txt', 900],
          ],
        }),
      )
    await site.tracker.sql(`update torrents set description = 'Recorded at home.' || chr(10) || 'All of it.'`)
    return ids
  }

  const stateOf = async (id = ''): Promise<unknown> => {
    const { state, stateReason } = (await moderator.get(`/api/torrents/${id}`)).json as {
      state: string
      stateReason: string | null
    }
    return [state, stateReason]
  }

  test('a moderator looks through the queue, opens the record of an uploader, warns them and leaves a note', async () => {
    await uploadAll()
    const { page, problems } = await site.open('/torrents', NARROW, moderator)
    await page.getByRole('link', { name: 'Staff' }).click()
    const list = page.getByRole('navigation', { name: 'Staff' })
    await list.getByRole('link', { name: 'Moderation 3 pending' }).waitFor()
    for (const name of ['Users', 'Categories', 'Site', 'Log'])
      expect(await list.getByRole('link', { name }).count()).toBe(0)
    await list.getByRole('link', { name: 'Moderation 3 pending' }).click()
    await page.getByText('3 torrents').waitFor()
    const queue = page.getByRole('list', { name: 'Torrents' })
    await queue.getByRole('link').first().waitFor()
    expect(await problems('moderation-queue')).toEqual([])
    await queue.getByRole('link', { name: 'Paper' }).click()
    await page.getByRole('heading', { name: 'Paper' }).waitFor()
    await page.getByText('readme.txt').waitFor()
    await page.getByText('Recorded at home.').waitFor()
    await page.getByRole('button', { name: 'Reject torrent' }).click()
    await page.getByLabel('Reason').waitFor()
    expect(await problems('moderation-reject')).toEqual([])
    await page.keyboard.press('Escape')

    await page.getByRole('link', { name: 'View uploader' }).click()
    await page.getByRole('link', { name: 'Record' }).click()
    await page.waitForURL('**/admin/moderation/users/*')
    await page.getByRole('button', { name: 'Warn user' }).press('Enter')
    await page.getByRole('textbox', { name: 'Warning' }).waitFor()
    await page.keyboard.type('Name your uploads.')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Name your uploads.').waitFor()
    await page.getByRole('textbox', { name: 'Note' }).fill('Was asked twice.')
    await page.getByRole('button', { name: 'Add note' }).press('Enter')
    await page.getByRole('list', { name: 'Notes' }).getByText('Was asked twice.').waitFor()
    expect(await problems('moderation-user')).toEqual([])
    await page.goto(`${site.tracker.url}/admin/users`)
    await page.getByText('Page not found').waitFor()
  })

  test('torrents are approved and rejected with keyboard shortcuts', async () => {
    const [first, second, third] = await uploadAll()
    const { page } = await site.open('/admin/moderation', DESKTOP, moderator)
    const heading = (name: string) => page.getByRole('heading', { name })
    await heading('Long.Harbour').waitFor()
    // What the uploader changed in the meantime is not approved unseen.
    await member.patch(`/api/torrents/${first}`, { description: 'Something else.' })
    await page.keyboard.press('a')
    await page.getByText('Something else.').waitFor()
    expect(await stateOf(first)).toEqual(['pending', null])
    await page.keyboard.press('j')
    await heading('Paper.Moons').waitFor()
    await page.keyboard.press('k')
    await heading('Long.Harbour').waitFor()
    await page.keyboard.press('a')
    await page.getByText('approved.').waitFor()
    await heading('Paper.Moons').waitFor()
    expect(await stateOf(first)).toEqual(['approved', null])
    await page.keyboard.press('r')
    await page.getByLabel('Reason').waitFor()
    await page.keyboard.type('a sample is missing')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('rejected.').waitFor()
    await heading('Distant.Shores').waitFor()
    expect(await stateOf(second)).toEqual(['rejected', 'a sample is missing'])
    await page.getByText('1 torrent', { exact: true }).waitFor()
    await page.keyboard.press('a')
    await page.getByText('No torrents are awaiting approval.').waitFor()
    expect(await stateOf(third)).toEqual(['approved', null])

    await page.getByRole('link', { name: 'Rejected' }).click()
    await page.getByText('Rejected: a sample is missing').waitFor()
    await page.getByRole('button', { name: 'Approve torrent' }).click()
    await page.getByText('No rejected torrents.').waitFor()
    expect(await stateOf(second)).toEqual(['approved', null])
    const { items } = (await admin.get('/api/admin/log')).json as { items: { action: string }[] }
    expect(items.slice(0, 4).map(({ action }) => action)).toEqual([
      'torrent.approve',
      'torrent.approve',
      'torrent.reject',
      'torrent.approve',
    ])
  })

  test('a moderator edits, notes and decides several torrents with the keyboard', async () => {
    const [first, second, third] = await uploadAll()
    const { page, problems } = await site.open('/admin/moderation', DESKTOP, moderator)
    await page.getByRole('heading', { name: 'Long.Harbour' }).waitFor()
    await page.getByRole('note', { name: 'Uploader’s record' }).filter({ hasText: '3 pending' }).waitFor()
    await page.keyboard.press('e')
    await page.getByRole('dialog').waitFor()
    await tabTo(page.getByRole('dialog').getByLabel('Name'))
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('The.Long.Harbour.S02E06.1080p.WEB-DL.H.264-GROUP')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'S02E06' }).waitFor()
    await page.getByRole('list', { name: 'Torrents' }).getByText('S02E06').waitFor()
    expect(await stateOf(first)).toEqual(['pending', null])

    await typeInto(page.getByRole('textbox', { name: 'Note' }), 'Asked for a sample.')
    // The actions stay at the lower end of the window, where the button would be.
    const place = await page.getByRole('button', { name: 'Add note' }).boundingBox()
    await page.setViewportSize({ width: 1280, height: Math.ceil((place?.y ?? 0) + (place?.height ?? 0)) })
    await tabTo(page.getByRole('button', { name: 'Add note' }))
    expect(await page.evaluate(HIT_FOCUS)).toBe('Add note')
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Notes' }).getByText('Asked for a sample.').waitFor()

    for (const name of ['Paper', 'Distant']) await pressOn(page.getByLabel(`Select ${name}`), 'Space')
    expect(await problems('moderation-selected')).toEqual([])
    await pressOn(page.getByRole('button', { name: 'Reject selected' }), 'Enter')
    await page.getByLabel('Reason').waitFor()
    await page.keyboard.type('a sample is missing')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('2 torrents rejected.').waitFor()
    for (const id of [second, third]) expect(await stateOf(id)).toEqual(['rejected', 'a sample is missing'])
    await page.getByLabel('Select The.Long').press('Space')
    await page.getByRole('button', { name: 'Approve selected' }).press('Enter')
    await page.getByText('No torrents are awaiting approval.').waitFor()
    expect(await stateOf(first)).toEqual(['approved', null])
  })
})

describe('the categories', () => {
  beforeEach(async () => {
    await site.tracker.sql('delete from torrents')
    await site.tracker.sql('delete from categories')
    await site.tracker.context.useCases.categories.seed()
  })

  const actions = async (): Promise<unknown> =>
    ((await admin.get('/api/admin/log')).json as { items: { action: string }[] }).items.map(({ action }) => action)
  const slugs = async (): Promise<readonly string[]> =>
    ((await admin.get('/api/categories')).json as { items: { slug: string }[] }).items.map(({ slug }) => slug)

  test('a category is created, moved, renamed and deleted, unless it has torrents', async () => {
    await addTorrent(admin, 'Held.Torrent', { category: 'other' })
    const { page, problems } = await site.open('/admin/categories', DESKTOP, admin)
    await page.getByRole('link', { name: 'Create category' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Maps')
    await dialog.getByLabel('Slug').fill('books')
    await dialog.getByLabel('Torznab ID').fill('7050')
    await dialog.getByLabel('Parent category').selectOption('Books')
    await dialog.getByRole('button', { name: 'Create category' }).click()
    await dialog.getByText('slug is taken').waitFor()
    await dialog.getByLabel('Slug').fill('maps')
    await dialog.getByRole('button', { name: 'Create category' }).click()
    await page.getByRole('link', { name: 'Books: Maps' }).click()
    expect(await problems('categories-edit')).toEqual([])
    expect(page.url()).toContain('edit=maps')
    await dialog.getByLabel('Name').fill('Charts')
    await dialog.getByLabel('Parent category').selectOption('None')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'Charts', exact: true }).waitFor()
    await page.goBack()
    await page.goForward()
    await page.getByRole('button', { name: 'Delete Charts' }).click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Category Charts deleted.').waitFor()
    await page.getByRole('button', { name: 'Delete Other' }).click()
    await dialog.getByText('It contains 1 torrent').waitFor()
    expect(await slugs()).not.toContain('maps')
    expect(await actions()).toEqual(expect.arrayContaining(['category.create', 'category.update', 'category.delete']))
  })

  test('categories are ordered with the keyboard, which keeps the focus', async () => {
    const { page, problems } = await site.open('/admin/categories', DESKTOP, admin)
    const up = page.getByRole('button', { name: 'Move Other up' })
    await up.press('Enter')
    await page.getByText('Other is now 7 of 8.').waitFor()
    await page.getByRole('button', { name: 'Discard order' }).press('Enter')
    await page.getByText('Other is now 7 of 8.').waitFor({ state: 'detached' })
    await up.focus()
    await page.keyboard.press('Enter')
    await page.getByText('Other is now 7 of 8.').waitFor()
    await page.waitForFunction(`document.activeElement.ariaLabel === 'Move Other up'`)
    await page.keyboard.press('Enter')
    await page.getByText('Other is now 6 of 8.').waitFor()
    expect(await problems('categories-order')).toEqual([])
    await page.getByRole('button', { name: 'Save order' }).click()
    await page.getByText('Order saved.').waitFor()
    expect((await slugs()).slice(5)).toEqual(['other', 'books', 'xxx'])
    expect(await actions()).toEqual(expect.arrayContaining(['category.arrange']))
  })

  test('all categories are deleted after a confirmation; the standard ones get their torrents back', async () => {
    const id = await addTorrent(admin, 'Kept.Torrent', { category: 'comics' })
    const { page, problems } = await site.open('/admin/categories', DESKTOP, admin)
    expect(await page.getByRole('button', { name: 'Seed Torznab Categories' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Delete all categories' }).click()
    await page.getByText('28 categories').waitFor()
    await page.getByText('1 torrent loses').waitFor()
    expect(await problems('categories-delete-all')).toEqual([])
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Type “delete all” to confirm').fill('yes')
    await dialog.getByRole('button', { name: 'Delete all categories' }).click()
    expect(await slugs()).toHaveLength(8)
    await dialog.getByLabel('Type “delete all” to confirm').fill('delete all')
    await dialog.getByRole('button', { name: 'Delete all categories' }).click()
    await page.getByText('1 torrent has no category').waitFor()
    await page.getByRole('button', { name: 'Seed Torznab Categories' }).click()
    await page.getByRole('link', { name: 'Books: Comics' }).waitFor()
    expect((await admin.get(`/api/torrents/${id}`)).json).toMatchObject({ category: 'comics' })
    expect(await page.getByRole('status').filter({ hasText: 'no category' }).count()).toBe(0)
    expect(await actions()).toEqual(expect.arrayContaining(['category.seed', 'category.delete-all']))
  })
})

describe('the overview', () => {
  beforeAll(async () => {
    await fillCatalogue(site.tracker, await site.tracker.signedIn('of-the-catalogue'))
    await site.tracker.sql(
      `update torrents set state = 'pending' where id in (select id from torrents order by name limit 3)`,
    )
    for (let i = 0; i < 4; i += 1) await site.tracker.client().get('/api/torznab?t=search&apikey=wrong')
    await requestsAreWritten(site.tracker)
  })

  test('an administrator finds the overview, whose numbers link to their pages; members cannot open it', async () => {
    const { page, problems } = await site.open('/torrents', DESKTOP, admin)
    await page.getByRole('link', { name: 'Staff' }).click()
    await page.getByText('uploads to review').waitFor()
    await page.getByText('100.0 % of requests').waitFor()
    expect(await problems('overview')).toEqual([])
    await page.getByRole('link', { name: 'Announces per second' }).click()
    await page.waitForURL('**/admin/swarms')
    await page.goBack()
    await page.getByRole('link', { name: 'Blocked addresses' }).click()
    await page.waitForURL('**/admin/torznab?tab=blocks')

    const member = await site.open('/admin', DESKTOP, await site.tracker.signedIn('nobody'))
    await member.page.getByText('Page not found').waitFor()
    expect(await member.page.getByRole('link', { name: 'Staff' }).count()).toBe(0)
  })
})
