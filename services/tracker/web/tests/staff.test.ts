import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { DESKTOP, type Site, startSite, VIEWS } from './support/site.ts'

let site: Site

beforeAll(async () => {
  site = await startSite()
})
afterAll(() => site.stop())

test.each(VIEWS)('an administrator finds the pages of the staff ($width px)', async (view) => {
  const admin = await site.tracker.signedIn(`admin-${view.width}`, 'admin')
  const { page, problems } = await site.open('/torrents', view, admin)
  await page.getByRole('link', { name: 'Staff' }).click()
  await page.getByRole('heading', { name: 'Staff' }).waitFor()
  expect(await problems('staff')).toEqual([])
  await page.context().close()
})

test('to a member, an address of the staff leads nowhere', async () => {
  const member = await site.tracker.signedIn('nobody')
  const { page } = await site.open('/admin', DESKTOP, member)
  await page.getByText('There is nothing at this address.').waitFor()
  expect(await page.getByRole('link', { name: 'Staff' }).count()).toBe(0)
})
