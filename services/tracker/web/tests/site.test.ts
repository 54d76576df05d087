import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { addTorrent, DESKTOP, type Site, startSite, VIEWS } from './support/site.ts'

let site: Site
let admin: Client

beforeAll(async () => {
  site = await startSite()
  admin = await site.tracker.signedIn('the-admin', 'admin')
})
afterAll(() => site.stop())

test.each(VIEWS)('an administrator sees what holds for the site ($width px)', async (view) => {
  const { page, problems } = await site.open('/admin/site', view, admin)
  await page.getByText('REGISTRATION=').waitFor()
  expect(await problems('site')).toEqual([])
  await page.getByRole('button', { name: 'Make everything freeleech' }).click()
  await page.getByText('From now on no download of any member is charged.').waitFor()
  expect(await problems('site-freeleech')).toEqual([])
  await page.context().close()
})

test('the site is made freeleech and ends it, and shares are set', async () => {
  const { page } = await site.open('/admin/site', DESKTOP, admin)
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Make everything freeleech' }).click()
  await dialog.getByRole('button', { name: 'Make everything freeleech' }).click()
  await page.getByText('Downloads are charged 0 %').waitFor()
  expect((await admin.get('/api/admin/site')).json).toEqual({ downloadPercent: 0, uploadPercent: 100 })
  await page.getByRole('button', { name: 'End freeleech' }).click()
  await dialog.getByRole('button', { name: 'End freeleech' }).click()
  await page.getByText('Downloads are charged 100 %').waitFor()
  await page.getByLabel('Uploads are credited').fill('200')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('uploads are credited 200 %').waitFor()
  const { items } = (await admin.get('/api/admin/log')).json as { items: unknown[] }
  expect(items).toMatchObject([
    { action: 'site.update', before: { uploadPercent: 100 }, after: { uploadPercent: 200 } },
    { action: 'site.update', after: { downloadPercent: 100 } },
    { action: 'site.update', after: { downloadPercent: 0 } },
  ])
  await page.context().close()
})

test('staff make one torrent freeleech on its page; members have no such button', async () => {
  const member = await site.tracker.signedIn('uploader')
  const id = await addTorrent(member, 'Free.Torrent.2024.1080p')
  const { page, problems } = await site.open(`/torrents/${id}`, DESKTOP, admin)
  await page.getByRole('button', { name: 'Freeleech' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Freeleech' }).click()
  expect(await page.getByLabel('Downloads are charged').inputValue()).toBe('0')
  expect(await problems('torrent-freeleech')).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  expect((await admin.get(`/api/torrents/${id}`)).json).toMatchObject({ downloadPercent: 0 })
  const own = await site.open(`/torrents/${id}`, DESKTOP, member)
  await own.page.getByRole('button', { name: 'Edit' }).waitFor()
  expect(await own.page.getByRole('button', { name: 'Freeleech' }).count()).toBe(0)
  await page.context().close()
  await own.page.context().close()
})
