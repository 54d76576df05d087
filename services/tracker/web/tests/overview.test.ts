import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { requestsAreWritten } from '../../tests/support/torznab-log.ts'
import { fillCatalogue } from './support/catalogue.ts'
import { DESKTOP, type Site, startSite, VIEWS } from './support/site.ts'

let site: Site
let admin: Client

beforeAll(async () => {
  site = await startSite()
  admin = await site.tracker.signedIn('admin', 'admin')
  await fillCatalogue(site.tracker, await site.tracker.signedIn('uploader'))
  await site.tracker.sql(
    `update torrents set state = 'pending' where id in (select id from torrents order by name limit 3)`,
  )
  for (let i = 0; i < 4; i += 1) await site.tracker.client().get('/api/torznab?t=search&apikey=wrong')
  await requestsAreWritten(site.tracker)
})
afterAll(() => site.stop())

test.each(VIEWS)('the overview shows what there is to do ($width px)', async (view) => {
  const { page, problems } = await site.open('/admin', view, admin)
  await page.getByText('uploads to look at').waitFor()
  await page.getByText('100.0 % of them').waitFor()
  expect(await problems('overview')).toEqual([])
  await page.context().close()
})

test('a number leads to its page', async () => {
  const { page } = await site.open('/admin', DESKTOP, admin)
  await page.getByRole('link', { name: 'Announces a second' }).click()
  await page.waitForURL('**/admin/swarms')
  await page.goBack()
  await page.getByRole('link', { name: 'Blocked addresses' }).click()
  await page.waitForURL('**/admin/torznab?tab=blocks')
})

test.each(VIEWS)('an administrator finds the pages of the staff ($width px)', async (view) => {
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
