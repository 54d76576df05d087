import { beforeAll, expect, test } from '@jest/globals'
import { writeAccounting } from '../../tests/support/accounting.ts'
import { announce } from '../../tests/support/announcer.ts'
import type { Client } from '../../tests/support/client.ts'
import { createAnnouncer, createMember } from '../../tests/support/members.ts'
import { fillCatalogue, RELEASES } from './support/catalogue.ts'
import { DESKTOP, useSite } from './support/site.ts'

const site = useSite({ ALLOW_PRIVATE_PEERS: 'true', ALLOW_IP_PARAM: 'true' })
let admin: Client
let film: string

beforeAll(async () => {
  const { tracker } = site
  admin = await tracker.signedIn('admin', 'admin')
  const uploader = await createMember(tracker, 'uploader')
  await fillCatalogue(tracker, uploader.client)
  const [torrent] = await tracker.sql<{ id: string; hash: string }>(
    `select id, encode(info_hash, 'hex') as hash from torrents where name = $1`,
    [RELEASES.film],
  )
  film = torrent?.id ?? ''
  const clients = ['-qB5010-', '-TR4060-', '-DE2110-', '-lt0D80-']
  for (const [index, name] of ['maria', 'a.member.with.a.long.name-0001', 'jonas', 'ada'].entries())
    await announce(tracker.url, (await createAnnouncer(tracker, name)).passkey, {
      infoHash: torrent?.hash ?? '',
      peerId: `${clients[index] ?? ''}abcdefghijkl`,
      event: 'started',
      left: index < 2 ? 0 : index * 9_000_000_000,
      uploaded: index * 123_456_789_000,
      downloaded: index * 3_000_000_000,
      ip: index === 1 ? '2001:db8:85a3:8d3:1319:8a2e:370:7348' : `198.51.100.${String(index + 7)}`,
    })
  tracker.holdClock()
  await writeAccounting(tracker)
  // The clock is stopped, so no further sample is taken.
  await tracker.context.useCases.swarmStatistics.sample()
  await tracker.sql('delete from swarm_samples')
  await tracker.sql(`insert into swarm_samples (span, start, samples, swarms, seeders, leechers, announces, refused)
    select 'minute', date_trunc('minute', now()) - n * interval '1 minute', 1, 60,
      2400 + round(400 * sin(n / 220.0)), 420 + round(160 * cos(n / 180.0)), 150 + n % 17, n % 7
    from generate_series(1, 1400) as n where n not between 500 and 560`)
})

test('staff see the totals, the history and the busiest torrents', async () => {
  const { page, problems } = await site.open('/admin/swarms', DESKTOP, admin)
  await page.getByRole('heading', { name: 'Busiest torrents' }).waitFor()
  await page.getByRole('link', { name: 'Distant.Shores.S01E' }).first().waitFor()
  await page.locator('.u-over').nth(1).waitFor()
  expect(await problems('swarms')).toEqual([])
})

test('range and order are in the address, and the counts are live', async () => {
  const { page } = await site.open('/admin/swarms', DESKTOP, admin)
  await page.getByRole('link', { name: '7 days' }).click()
  await page.waitForURL('**/admin/swarms?range=7d')
  await page.getByText('No data for this range.').waitFor()
  await page.getByLabel('Order').selectOption('Most leechers')
  await page.waitForURL('**/admin/swarms?range=7d&busiest=leechers')
  await page.goBack()
  await page.goBack()
  await page.locator('.u-over').first().waitFor()
  await page.getByText('Values of Peers as a table').click()
  const values = page.getByRole('region', { name: 'Values of Peers' }).getByRole('row')
  await values.nth(288).waitFor()
  expect(await values.count()).toBe(289)

  const peers = page.locator('.numbers dd').first()
  const before = await peers.textContent()
  await site.tracker.sql('update torrent_stats set seeders = seeders + 1000 where seeders > 0')
  for (let tries = 0; (await peers.textContent()) === before; tries += 1) {
    expect(tries).toBeLessThan(100)
    await page.waitForTimeout(200)
  }
})

test('an administrator sees the peers of a torrent with addresses', async () => {
  const { page, problems } = await site.open(`/admin/swarms/${film}`, DESKTOP, admin)
  await page.getByRole('heading', { name: RELEASES.film }).waitFor()
  await page.getByText('Transmission 4.0.6').waitFor()
  await page.getByText('198.51.100.7:6881').waitFor()
  await page.getByText('16.8 GiB (29 %)').waitFor()
  expect(await problems('swarm-peers')).toEqual([])
})

test('a moderator sees no addresses; a member cannot open the page', async () => {
  const moderator = await site.tracker.signedIn('moderator', 'moderator')
  const { page } = await site.open('/admin/swarms', DESKTOP, moderator)
  await page.getByLabel('Order').waitFor()
  await page.goto(`${site.tracker.url}/admin/swarms/${film}`)
  await page.getByText('qBittorrent 5.0.1').waitFor()
  expect(await page.content()).not.toContain('198.51.100')
  expect(await page.getByRole('columnheader', { name: 'Address' }).count()).toBe(0)

  const member = await site.tracker.signedIn('nobody')
  const other = await site.open(`/admin/swarms/${film}`, DESKTOP, member)
  await other.page.getByText('Page not found').waitFor()
})

test('an unknown torrent, an empty page and a failed request are explained', async () => {
  const { page, problems } = await site.open('/admin/swarms/01890a5d-ac96-774b-bcce-b302099a8057', DESKTOP, admin)
  await page.getByText('Page not found').waitFor()
  await page.goto(`${site.tracker.url}/admin/swarms/${film}?page=9`)
  await page.getByText('No peers on this page.').waitFor()
  expect(await problems('swarm-peers-empty')).toEqual([])
  await page.route('**/api/admin/swarms*', (route) => route.abort())
  await page.getByRole('link', { name: 'All swarms' }).click()
  await page.getByText('Could not reach the server.').first().waitFor()
  expect(await problems('swarms-error')).toEqual([])
})
