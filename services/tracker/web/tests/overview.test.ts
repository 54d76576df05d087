import { beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { requestsAreWritten } from '../../tests/support/torznab-log.ts'
import { fillCatalogue } from './support/catalogue.ts'
import { DESKTOP, useSite } from './support/site.ts'

const site = useSite()
let admin: Client

beforeAll(async () => {
  admin = await site.tracker.signedIn('admin', 'admin')
  await fillCatalogue(site.tracker, await site.tracker.signedIn('uploader'))
  await site.tracker.sql(
    `update torrents set state = 'pending' where id in (select id from torrents order by name limit 3)`,
  )
  for (let i = 0; i < 4; i += 1) await site.tracker.client().get('/api/torznab?t=search&apikey=wrong')
  await requestsAreWritten(site.tracker)
})

test('the overview shows what needs attention', async () => {
  const { page, problems } = await site.open('/admin', DESKTOP, admin)
  await page.getByText('uploads to review').waitFor()
  await page.getByText('100.0 % of requests').waitFor()
  expect(await problems('overview')).toEqual([])
})

test('a number links to its page', async () => {
  const { page } = await site.open('/admin', DESKTOP, admin)
  await page.getByRole('link', { name: 'Announces per second' }).click()
  await page.waitForURL('**/admin/swarms')
  await page.goBack()
  await page.getByRole('link', { name: 'Blocked addresses' }).click()
  await page.waitForURL('**/admin/torznab?tab=blocks')
})

test('an administrator finds the staff pages', async () => {
  const { page, problems } = await site.open('/torrents', DESKTOP, admin)
  await page.getByRole('link', { name: 'Staff' }).click()
  await page.getByRole('heading', { name: 'Staff' }).waitFor()
  expect(await problems('staff')).toEqual([])
})

test('members cannot open staff pages', async () => {
  const member = await site.tracker.signedIn('nobody')
  const { page } = await site.open('/admin', DESKTOP, member)
  await page.getByText('Page not found').waitFor()
  expect(await page.getByRole('link', { name: 'Staff' }).count()).toBe(0)
})
