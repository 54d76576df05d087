import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createMember, type TestMember, uploadTorrent } from '../../tests/support/members.ts'
import { DESKTOP, type Site, startSite, VIEWS } from './support/site.ts'

let site: Site
let shown: TestMember
let viewer: TestMember

beforeAll(async () => {
  site = await startSite()
  shown = await createMember(site.tracker, 'open.handed')
  viewer = await createMember(site.tracker, 'viewer')
  await site.tracker.sql('update users set uploaded = 5400000000000, downloaded = 1200000000000 where id = $1', [
    shown.id,
  ])
})
afterAll(() => site.stop())

test.each(VIEWS)('a torrent leads to its uploader, who shows their totals ($width px)', async (view) => {
  const { id } = await uploadTorrent(shown, `Uploaded.${view.width}`)
  const { page, problems } = await site.open(`/torrents/${id}`, view, viewer.client)
  await page.getByRole('link', { name: 'open.handed' }).click()
  await page.waitForURL(`**/users/${shown.id}`)
  await page.getByText('4.50', { exact: true }).waitFor()
  expect(await page.getByText('Seed time').count()).toBe(0)
  expect(await problems('user')).toEqual([])
  await page.context().close()
})

test('staff see everything, others nothing of somebody who shows nothing', async () => {
  await shown.client.patch('/api/user/me', { statsPublic: false })
  const { page, problems } = await site.open(`/users/${shown.id}`, DESKTOP, viewer.client)
  await page.getByText('open.handed keeps their statistics to themselves.').waitFor()
  expect(await problems('user-hidden')).toEqual([])

  const moderator = await site.tracker.signedIn('moderator', 'moderator')
  const staff = await site.open(`/users/${shown.id}`, DESKTOP, moderator)
  await staff.page.getByText('Seed time').waitFor()
  await staff.page.locator('.u-over').first().waitFor()
  expect(await staff.problems('user-staff')).toEqual([])
  await staff.page.getByRole('link', { name: '90 days' }).click()
  await staff.page.waitForURL(`**/users/${shown.id}?days=90`)

  await page.goto(`${site.tracker.url}/users/nobody`)
  await page.getByText('There is nothing at this address.').waitFor()
})
