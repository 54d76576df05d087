import { beforeAll, expect, test } from '@jest/globals'
import { createMember, type TestMember, uploadTorrent } from '../../tests/support/members.ts'
import { setLimits } from '../../tests/support/torznab.ts'
import { DESKTOP, useSite } from './support/site.ts'

const site = useSite()
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
    `update users set (uploaded, downloaded, uploaded_actual, downloaded_actual) =
       (select sum(uploaded) + 9e11, sum(downloaded) + 8e11, sum(uploaded) + 9e11, sum(downloaded) + 9e11
        from user_days) where id = $1`,
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

test('a member sees transfers per day', async () => {
  const { page, problems } = await site.open('/me', DESKTOP, member.client)
  await page.locator('.u-over').nth(1).waitFor()
  expect(await problems('me-statistics')).toEqual([])
})

test('the range is in the address', async () => {
  const { page, problems } = await site.open('/me', DESKTOP, member.client)
  await page.getByText('Values of Transfers as a table').click()
  const rows = page.getByRole('region', { name: 'Values of Transfers' }).getByRole('row')
  await rows.nth(30).waitFor()
  expect(await rows.count()).toBe(31)
  await page.getByRole('link', { name: '1 year' }).click()
  await page.waitForURL('**/me?days=365')
  await rows.nth(365).waitFor()
  expect(await problems('me-statistics-year')).toEqual([])
  await page.route('**/history?*', (route) => route.abort())
  await page.getByRole('link', { name: '90 days' }).click()
  await page.waitForURL('**/me?days=90')
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
  for (const [tab, name, torrent] of [
    ['Seeding', 'own-seeding', 'Paper.Moons'],
    ['Snatched', 'own-snatched', 'Paper.Moons'],
    ['Still to seed', 'own-duties', 'The.Long.Harbour'],
  ] as const) {
    await tabs.getByRole('link', { name: tab }).press('Enter')
    await page.getByRole('link', { name: torrent }).waitFor()
    await page.getByText('Downloaded', { exact: true }).first().waitFor()
    expect(await problems(name)).toEqual([])
  }
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
  const { page, problems } = await site.open('/me/torrents', DESKTOP, other)
  await page.getByText('You have not uploaded any torrents.').waitFor()
  await page.getByRole('navigation', { name: 'Lists' }).getByRole('link', { name: 'Still to seed' }).click()
  await page.getByText('You have nothing left to seed.').waitFor()
  await page.getByText('for 3 d').waitFor()
  expect(await problems('own-duties-empty')).toEqual([])
})

test('the meter shows what is left of the Torznab limits', async () => {
  const { tracker } = site
  await setLimits(tracker, { searches: 4, downloads: 20 })
  const asker = await createMember(tracker, 'asker')
  tracker.holdClock(Math.ceil(tracker.now() / 60_000) * 60_000 + 1_000)
  for (let i = 0; i < 3; i += 1) await tracker.client().get(`/api/torznab?t=search&apikey=${asker.passkey}`)
  const { page, problems } = await site.open('/me?tab=keys', DESKTOP, asker.client)
  await page.getByText('3 of 4 used, 1 left').waitFor()
  await page.getByText('0 of 20 used, 20 left').waitFor()
  expect(await problems('me-meter')).toEqual([])
  await tracker.client().get(`/api/torznab?t=search&apikey=${asker.passkey}`)
  await page.getByText('4 of 4 used, none left').waitFor()
})
