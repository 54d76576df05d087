import { beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { addTorrent, DESKTOP, useSite } from './support/site.ts'

const site = useSite()
let admin: Client

beforeAll(async () => {
  admin = await site.tracker.signedIn('the-admin', 'admin')
  // Enough for a second page.
  for (let count = 0; count < 45; count += 1) await admin.patch('/api/admin/site', { downloadPercent: count % 2 })
  const moderator = await site.tracker.signedIn('the-moderator', 'moderator')
  const member = await site.tracker.signedIn('member')
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

test('an administrator reads the log', async () => {
  const { page, problems } = await site.open('/admin/log', DESKTOP, admin)
  await page.getByRole('cell', { name: 'rejected a torrent' }).waitFor()
  await page.getByText('too many accounts').waitFor()
  expect(await problems('log')).toEqual([])
})

test('the log is filtered by user, action and time in the address', async () => {
  const { page, problems } = await site.open('/admin/log', DESKTOP, admin)
  await page.getByText('51 actions').waitFor()
  await page.getByRole('link', { name: 'Next' }).click()
  await page.getByText('Page 2 of 2').waitFor()
  await page.getByRole('searchbox', { name: 'Username' }).fill('THE-moderator')
  await page.getByText('2 actions').waitFor()
  await page.getByLabel('Action').selectOption('rejected a torrent')
  await page.getByText('1 action', { exact: true }).waitFor()
  await page.getByText('The audio is out of step').waitFor()
  const today = new Intl.DateTimeFormat('sv-SE').format(new Date())
  await page.getByLabel('From').fill(today)
  await page.getByLabel('To', { exact: true }).fill(today)
  await page.waitForURL('**to=*')
  await page.getByText('1 action', { exact: true }).waitFor()
  await page.getByLabel('To', { exact: true }).fill('2001-01-01')
  await page.getByText('No matching actions.').waitFor()
  expect(await problems('log-none')).toEqual([])
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.getByText('51 actions').waitFor()
})
