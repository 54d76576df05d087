import { beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { addTorrent, DESKTOP, useSite } from './support/site.ts'

const site = useSite()
let admin: Client

beforeAll(async () => {
  admin = await site.tracker.signedIn('the-admin', 'admin')
})

test('an administrator sees the settings of the site', async () => {
  const { page, problems } = await site.open('/admin/site', DESKTOP, admin)
  await page.getByText('REGISTRATION=').waitFor()
  expect(await problems('site')).toEqual([])
  await page.getByRole('button', { name: 'Start freeleech' }).click()
  await page.getByText('will no longer count').waitFor()
  expect(await problems('site-freeleech')).toEqual([])
})

test('freeleech starts and ends, and rates are set', async () => {
  const { page } = await site.open('/admin/site', DESKTOP, admin)
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Start freeleech' }).click()
  await dialog.getByRole('button', { name: 'Start freeleech' }).click()
  await page.getByText('Download rate 0 %').waitFor()
  expect((await admin.get('/api/admin/site')).json).toEqual({ downloadPercent: 0, uploadPercent: 100 })
  await page.getByRole('button', { name: 'End freeleech' }).click()
  await dialog.getByRole('button', { name: 'End freeleech' }).click()
  await page.getByText('Download rate 100 %').waitFor()
  await page.getByLabel('Upload rate').fill('200')
  await page.getByRole('button', { name: 'Save rates' }).click()
  await page.getByText('upload rate 200 %').waitFor()
  const { items } = (await admin.get('/api/admin/log')).json as { items: unknown[] }
  expect(items).toMatchObject([
    { action: 'site.update', before: { uploadPercent: 100 }, after: { uploadPercent: 200 } },
    { action: 'site.update', after: { downloadPercent: 100 } },
    { action: 'site.update', after: { downloadPercent: 0 } },
  ])
})

test('staff set the rates of a torrent on its page; members cannot', async () => {
  const member = await site.tracker.signedIn('uploader')
  const id = await addTorrent(member, 'Free.Torrent.2024.1080p')
  const { page, problems } = await site.open(`/torrents/${id}`, DESKTOP, admin)
  await page.getByRole('button', { name: 'Set rates' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Freeleech' }).click()
  expect(await page.getByLabel('Download rate').inputValue()).toBe('0')
  expect(await problems('torrent-freeleech')).toEqual([])
  await page.getByRole('button', { name: 'Save rates' }).click()
  await page.getByText('Saved.').waitFor()
  expect((await admin.get(`/api/torrents/${id}`)).json).toMatchObject({ downloadPercent: 0 })
  const own = await site.open(`/torrents/${id}`, DESKTOP, member)
  await own.page.getByRole('button', { name: 'Edit torrent' }).waitFor()
  expect(await own.page.getByRole('button', { name: 'Set rates' }).count()).toBe(0)
})
