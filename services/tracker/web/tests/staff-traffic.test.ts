import { beforeAll, describe, expect, test } from '@jest/globals'
import { writeAccounting } from '../../tests/support/accounting.ts'
import { announce } from '../../tests/support/announcer.ts'
import type { Client } from '../../tests/support/client.ts'
import { createAnnouncer, createMember } from '../../tests/support/members.ts'
import { setLimits } from '../../tests/support/torznab.ts'
import { requestsAreWritten } from '../../tests/support/torznab-log.ts'
import { fillCatalogue, RELEASES } from './support/catalogue.ts'
import { addTorrent, DESKTOP, pressOn, tabTo, typeInto, useSite, type Visit } from './support/site.ts'
import { useTorznab } from './support/torznab-use.ts'

const site = useSite({ TRUSTED_PROXIES: '127.0.0.1', ALLOW_PRIVATE_PEERS: 'true', ALLOW_IP_PARAM: 'true' })
let admin: Client

const ADDRESS = '203.0.113.9'

beforeAll(async () => {
  admin = await site.tracker.signedIn('admin', 'admin')
})

const open = (search = ''): Promise<Visit> => site.open(`/admin/torznab${search}`, DESKTOP, admin)

/** The actions of the admin log, the newest first. */
async function actions(): Promise<readonly string[]> {
  const { items } = (await admin.get('/api/admin/log')).json as { items: readonly { action: string }[] }
  return items.map(({ action }) => action)
}

describe('before the first request', () => {
  test('each tab has an empty state', async () => {
    for (const [search, text] of [
      ['?tab=statistics', 'No requests yet.'],
      ['?tab=users', 'No user has used the API yet.'],
      ['?tab=requests', 'No refused or anonymous requests.'],
      ['?tab=blocks', 'No blocked addresses.'],
    ] as const) {
      const { page } = await open(search)
      await page.getByText(text).waitFor()
    }
  })

  test('the connection check warns if there are no releases', async () => {
    const { page } = await open('?tab=check')
    await page.getByRole('button', { name: 'Check connection' }).click()
    await page.getByText('The API works').waitFor()
    await page.getByText('reject an indexer without releases').waitFor()
  })
})

describe('an API that is used', () => {
  let lastDay: number

  beforeAll(async () => {
    site.tracker.holdClock()
    await requestsAreWritten(site.tracker)
    for (const table of ['requests', 'addresses', 'hours', 'users'])
      await site.tracker.sql(`delete from torznab_${table}`)
    lastDay = await useTorznab(site.tracker)
    await addTorrent(admin, 'The.Long.Harbour.S02E05.1080p.WEB-DL.H264-GROUP')
    await addTorrent(admin, 'Paper.Moons.2024.1080p.WEB-DL.H264-GROUP', { category: 'movies-hd' })
    const heavy = await createMember(site.tracker, 'heavy')
    await setLimits(site.tracker, { searches: 1 })
    for (let i = 0; i < 12; i += 1)
      await heavy.client.get(`/api/torznab?t=search&limit=0&apikey=${heavy.passkey}`, { 'x-forwarded-for': ADDRESS })
    await setLimits(site.tracker, { searches: 30, downloads: 20 })
    await site.tracker.sql(`update users set api_blocked = true where username = 'heavy'`)
    await requestsAreWritten(site.tracker)
    lastDay += 12
  })

  test('values are shown under the pointer and as a table; the rest of the page follows the range', async () => {
    const { page, problems } = await open()
    const numbers = page.locator('.numbers dd')
    await numbers.first().waitFor()
    expect(await numbers.first().textContent()).toContain(`${lastDay}+`)
    const chart = page.getByRole('figure', { name: 'Requests' })
    await chart.locator('.u-over').hover()
    await chart.locator('.chart-reading b').first().waitFor()
    await chart.getByText('Values').click()
    await chart.getByRole('row').nth(24).waitFor()
    expect(await chart.getByRole('row').count()).toBe(25)
    expect(await problems('torznab-statistics-values')).toEqual([])

    await page.getByRole('link', { name: '7 days' }).click()
    await page.waitForURL('**/admin/torznab?range=7d')
    await page.getByText('no earlier data for comparison').waitFor()
    await page.getByRole('link', { name: 'All', exact: true }).click()
    await page.waitForURL('**/admin/torznab?range=all')
    await page.goBack()
    await page.waitForURL('**/admin/torznab?range=7d')

    await page.getByText('Custom range').click()
    await page.getByLabel('From', { exact: true }).fill('2026-01-01T00:00')
    await page.getByLabel('To', { exact: true }).fill('2025-01-01T00:00')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText('from: must be before to').waitFor()
    const hour = 3_600_000
    const own = [3, 2].map((hours) => new Date(site.tracker.now() - hours * hour).toISOString())
    await page.goto(`${site.tracker.url}/admin/torznab?from=${own.join('&to=')}`)
    await page.getByRole('figure', { name: 'Requests' }).locator('canvas').waitFor()
    expect(await page.getByLabel('From', { exact: true }).inputValue()).not.toBe('')
  })

  test('each tab shows its data', async () => {
    const { page, problems } = await open()
    const passkey = (await admin.get('/api/user/me')).member('passkey')
    const tab = (name: string): Promise<void> =>
      page.getByRole('navigation', { name: 'Torznab API' }).getByRole('link', { name }).click()
    await page.locator('.chart canvas').nth(2).waitFor()
    await page.getByText('Before', { exact: true }).first().waitFor()

    await tab('Settings')
    await page.getByLabel('Strict').check()
    await page.getByText('Each user may send 15 searches and 10 downloads per minute.').waitFor()
    expect(await problems('torznab-configuration')).toEqual([])
    await page.getByRole('button', { name: 'Discard' }).click()
    expect(await page.getByLabel('Searches per window').inputValue()).toBe('30')

    await tab('Users')
    await page.getByRole('link', { name: 'alice' }).waitFor()
    expect(await problems('torznab-users')).toEqual([])

    await tab('Requests')
    await page.locator('.tag', { hasText: '201 incorrect parameter' }).first().waitFor()
    expect(await page.locator('.tag', { hasText: '500 limit reached' }).count()).toBe(0)
    const counted = page.getByRole('region', { name: 'Refused and anonymous requests' })
    await counted.getByText(ADDRESS).waitFor()
    expect(await counted.getByText('11', { exact: true }).count()).toBe(2)
    expect(await problems('torznab-requests')).toEqual([])

    await tab('Blocks')
    await page.getByText(ADDRESS).waitFor()
    await page.getByRole('button', { name: 'Unblock heavy' }).waitFor()
    expect(await problems('torznab-blocks')).toEqual([])

    await tab('Connection check')
    await page.getByRole('button', { name: 'Check connection' }).click()
    await page.getByText('returned 2 releases').waitFor()
    expect(await page.content()).not.toContain(passkey)
    expect(await problems('torznab-check')).toEqual([])
  })

  test('settings are saved by keyboard, refused by their bounds, and are in the admin log', async () => {
    const { page } = await open('?tab=configuration')
    await tabTo(page.getByRole('radio', { checked: true }))
    while (!(await page.getByLabel('Generous').isChecked())) await page.keyboard.press('ArrowDown')
    await pressOn(page.getByLabel('Request logging'), 'Space')
    await page.getByText('New requests are no longer logged.').waitFor()
    await pressOn(page.getByRole('button', { name: 'Save' }), 'Enter')
    await page.getByText('Saved.').waitFor()
    const { json } = await admin.get('/api/admin/torznab/settings')
    expect(json).toEqual({ enabled: true, logging: false, windowSeconds: 60, searchLimit: 120, downloadLimit: 80 })
    expect((await actions())[0]).toBe('torznab.settings.update')
    await page.evaluate(`document.querySelector('form[aria-label^="Settings"]').noValidate = true`)
    await typeInto(page.getByLabel('Window in seconds'), '5')
    await pressOn(page.getByRole('button', { name: 'Save' }), 'Enter')
    await page.getByText('Must be a whole number from 10 to 3600').waitFor()
    await page.goto(`${site.tracker.url}/admin/torznab?tab=requests`)
    await page.getByText('New requests are not logged').waitFor()
    await admin.patch('/api/admin/torznab/settings', { preset: 'default', logging: true })
  })

  test('an administrator finds a user by keyboard, blocks and unblocks them, and resets their passkey', async () => {
    const passkeyOfBob = async () =>
      (await site.tracker.sql<{ passkey: string }>(`select passkey from users where username = 'bob'`))[0]?.passkey
    const { page, problems } = await open('?tab=users')
    await typeInto(page.getByRole('searchbox', { name: 'Username' }), 'bo')
    await page.waitForURL('**/admin/torznab?tab=users&search=bo')
    await page.getByText('1 user', { exact: true }).waitFor()
    await pressOn(page.getByRole('button', { name: 'Block bob' }), 'Enter')
    await page.getByText('refused with error 102').waitFor()
    expect(await problems('torznab-users-block')).toEqual([])
    await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Block', exact: true }), 'Enter')
    await page.getByText('bob blocked.').waitFor()
    await typeInto(page.getByLabel('Access'), 'Blocked users')
    await page.waitForURL('**/admin/torznab?tab=users&search=bo&blocked=true')
    await pressOn(page.getByRole('button', { name: 'Unblock bob' }), 'Enter')
    await page.getByText('No matching users.').waitFor()
    await pressOn(page.getByRole('link', { name: 'Show all users' }), 'Enter')

    const before = await passkeyOfBob()
    await pressOn(page.getByRole('button', { name: 'Reset passkey of bob' }), 'Enter')
    const dialog = page.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Reset passkey' })
    await pressOn(confirm, 'Enter')
    await typeInto(dialog.getByLabel('Type “bob” to confirm'), 'bo')
    await pressOn(confirm, 'Enter')
    await dialog.waitFor()
    expect(await passkeyOfBob()).toBe(before)
    expect(await problems('torznab-users-reset')).toEqual([])
    await typeInto(dialog.getByLabel('Type “bob” to confirm'), 'bob')
    await pressOn(confirm, 'Enter')
    await page.getByText('Passkey reset.').waitFor()
    expect(await passkeyOfBob()).not.toBe(before)
    expect((await actions()).slice(0, 3)).toEqual(['user.passkey.reset', 'user.update', 'user.update'])
  })

  test('the log is narrowed by keyboard: by user, function, outcome and time, all in the address', async () => {
    const { page } = await open('?tab=requests')
    await typeInto(page.getByLabel('User'), 'alice')
    await typeInto(page.getByLabel('Function'), 'tvsearch')
    await typeInto(page.getByLabel('Outcome'), 'Success')
    await page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00')
    await pressOn(page.getByRole('button', { name: 'Show' }), 'Enter')
    await page.waitForURL('**/admin/torznab?tab=requests&user=alice&function=tvsearch&error=false&from=*')
    await page.getByText('alice').first().waitFor()
    await page.getByRole('cell', { name: 'bob' }).first().waitFor({ state: 'detached' })
    expect(await page.getByRole('cell', { name: 'bob' }).count()).toBe(0)
    await typeInto(page.getByLabel('User'), 'nobody-of-this-name')
    await pressOn(page.getByRole('button', { name: 'Show' }), 'Enter')
    await page.getByText('No matching requests.').waitFor()
    await page.goBack()
    await page.getByText('alice').first().waitFor()
    expect(await page.getByLabel('User').inputValue()).toBe('alice')
  })

  test('an administrator lifts the block of an address and of a user by keyboard', async () => {
    const { page } = await open('?tab=blocks')
    await pressOn(page.getByRole('button', { name: `Unblock ${ADDRESS}` }), 'Enter')
    await page.getByText('No blocked addresses.').waitFor()
    await pressOn(page.getByRole('button', { name: 'Unblock heavy' }), 'Enter')
    await page.getByText('No blocked users.').waitFor()
    expect((await actions()).slice(0, 2)).toEqual(['user.update', 'torznab.unblock'])
  })

  test('the connection check is limited to categories and explains refusals', async () => {
    const { page } = await open('?tab=check')
    const check = () => pressOn(page.getByRole('button', { name: 'Check connection' }), 'Enter')
    await page.getByLabel('Categories').fill('5030, 5040')
    await check()
    await page.getByText('returned 1 release.').waitFor()
    expect(await page.locator('.exchanges code').allTextContents()).toEqual([
      'GET /api/torznab/api?t=caps&apikey=…',
      'GET /api/torznab/api?t=search&limit=100&cat=5030,5040&apikey=…',
      expect.stringMatching(/^GET \/api\/torznab\/api\?t=details&id=[0-9a-f]{40}&apikey=…$/),
      expect.stringMatching(/^GET \/api\/torznab\/download\?id=[0-9a-f]{40}&apikey=…$/),
      expect.stringMatching(/^GET \/scrape\?passkey=…&info_hash=(?:%[0-9a-f]{2}){20}$/),
    ])

    const failed = async (step: string, explanation: string | RegExp): Promise<void> => {
      await check()
      await page
        .locator('.check-result p')
        .filter({ hasText: `${step} failed:` })
        .filter({ hasText: explanation })
        .waitFor()
    }
    await admin.patch('/api/admin/torznab/settings', { enabled: false })
    await failed('Capabilities', /the API is disabled in the settings\.$/)
    await admin.patch('/api/admin/torznab/settings', { enabled: true, searchLimit: 1 })
    await failed('Search', /a limit was reached\. Try again in/)
    await admin.patch('/api/admin/torznab/settings', { preset: 'generous' })
    for (const [step, path, body, problem] of [
      ['Item', '**/api/torznab/api?t=details*', '<rss/>', 'the release has no link'],
      ['Download', '**/api/torznab/download*', 'd4:infodee', 'the .torrent file does not have your announce URL'],
      ['Download', '**/api/torznab/download*', '<error code="102" description="No"/>', 'or may not download'],
      ['Announce URL', '**/scrape?*', 'd14:failure reason12:unregisterede', 'the tracker answered “unregistered”'],
    ] as const) {
      await page.route(path, (route) => route.fulfill({ body }))
      await failed(step, `${problem}.`)
      await page.unroute(path)
    }
    await admin.patch('/api/admin/torznab/settings', { preset: 'default' })
  })
})

describe('the swarms', () => {
  let film: string

  beforeAll(async () => {
    const { tracker } = site
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

  test('staff see totals, history and busiest torrents, in a range and order of the address, with live counts', async () => {
    const { page, problems } = await site.open('/admin/swarms', DESKTOP, admin)
    await page.getByRole('heading', { name: 'Busiest torrents' }).waitFor()
    await page.getByRole('link', { name: 'Distant.Shores.S01E' }).first().waitFor()
    await page.locator('.u-over').nth(1).waitFor()
    expect(await problems('swarms')).toEqual([])
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

  test('a moderator sees no addresses; a member can open neither the page nor that of the API', async () => {
    const moderator = await site.tracker.signedIn('moderator', 'moderator')
    const { page } = await site.open('/admin/swarms', DESKTOP, moderator)
    await page.getByLabel('Order').waitFor()
    await page.goto(`${site.tracker.url}/admin/swarms/${film}`)
    await page.getByText('qBittorrent 5.0.1').waitFor()
    expect(await page.content()).not.toContain('198.51.100')
    expect(await page.getByRole('columnheader', { name: 'Address' }).count()).toBe(0)

    const member = await site.tracker.signedIn('nobody')
    for (const path of [`/admin/swarms/${film}`, '/admin/torznab']) {
      const other = await site.open(path, DESKTOP, member)
      await other.page.getByText('Page not found').waitFor()
    }
  })

  test('an unknown torrent, an empty page and a failed request are explained', async () => {
    const { page } = await site.open('/admin/swarms/01890a5d-ac96-774b-bcce-b302099a8057', DESKTOP, admin)
    await page.getByText('Page not found').waitFor()
    await page.goto(`${site.tracker.url}/admin/swarms/${film}?page=9`)
    await page.getByText('No peers on this page.').waitFor()
    await page.route('**/api/admin/swarms*', (route) => route.abort())
    await page.getByRole('link', { name: 'All swarms' }).click()
    await page.getByText('Could not reach the server.').first().waitFor()
  })
})
