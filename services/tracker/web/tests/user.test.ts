import { beforeAll, expect, test } from '@jest/globals'
import { createMember, type TestMember, uploadTorrent } from '../../tests/support/members.ts'
import { DESKTOP, useSite } from './support/site.ts'

const site = useSite()
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

  const moderator = await site.tracker.signedIn('moderator', 'moderator')
  const staff = await site.open(`/users/${shown.id}`, DESKTOP, moderator)
  await staff.page.getByText('Seed time').waitFor()
  await staff.page.locator('.u-over').first().waitFor()
  expect(await staff.problems('user-staff')).toEqual([])
  await staff.page.getByRole('link', { name: '90 days' }).click()
  await staff.page.waitForURL(`**/users/${shown.id}?days=90`)

  await page.goto(`${site.tracker.url}/users/nobody`)
  await page.getByText('Page not found').waitFor()
})
