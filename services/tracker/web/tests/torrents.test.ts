import { beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { makeTorrent } from '../../tests/support/make-torrent.ts'
import { fillCatalogue, RELEASES } from './support/catalogue.ts'
import { DESKTOP, NARROW, pressOn, toggleFilter, typeInto, useSite, type Visit } from './support/site.ts'

const site = useSite()
let member: Client

beforeAll(async () => {
  member = await site.tracker.signedIn('alice')
  await fillCatalogue(site.tracker, member)
})

const namesIn = ({ page }: Visit): Promise<string[]> =>
  page.evaluate(`Array.from(document.querySelectorAll('tbody .row-link'), (link) => link.textContent)`)

test('the list is paged, sorted, filtered and searched by its address', async () => {
  const visit = await site.open('/', DESKTOP, member)
  const { page, problems } = visit
  await page.getByText('60 torrents').waitFor()
  expect(await problems('torrents')).toEqual([])
  expect(new URL(page.url()).pathname).toBe('/torrents')

  await page.getByRole('link', { name: 'Next' }).click()
  await page.waitForURL('**/torrents?page=2')
  await page.getByText('Page 2 of 2').waitFor()

  await page.getByRole('link', { name: /^Sort by size/ }).click()
  await page.waitForURL('**/torrents?sort=size')
  await page.locator('tbody tr').first().getByText('Freeleech').waitFor()

  await toggleFilter(visit, 'Category', 'Books')
  await page.waitForURL(
    ({ searchParams }) => searchParams.get('category') === 'books' && searchParams.get('sort') === 'size',
  )
  await page.getByText('1 torrent', { exact: true }).waitFor()
  expect(await namesIn(visit)).toEqual([RELEASES.book])

  await page.goBack()
  await page.getByText('60 torrents').waitFor()
  await page.locator('h1').waitFor({ state: 'attached' })
  await page.locator('body').press('/')
  await page.keyboard.type('harbour tide')
  await page.waitForURL('**search=harbour+tide**')
  await page.getByText('1 torrent', { exact: true }).waitFor()
  expect(await namesIn(visit)).toEqual([RELEASES.episode])
  expect(await problems('torrents-search')).toEqual([])
})

test('a search without results shows similar names', async () => {
  const { page, problems } = await site.open('/torrents?search=harbuor', DESKTOP, member)
  await page.getByText('No torrents match').waitFor()
  expect(await problems('torrents-nothing')).toEqual([])
})

test('on a narrow screen, the list has a menu for its order', async () => {
  const visit = await site.open('/torrents', NARROW, member)
  await visit.page.getByLabel('Order').selectOption('Largest first')
  await visit.page.waitForURL('**/torrents?sort=size')
  await visit.page.locator('tbody tr').first().getByText('Freeleech').waitFor()
  // The heads, which are hidden, take no focus.
  expect(await visit.page.getByRole('link', { name: /^Sort by/ }).count()).toBe(0)
})

test('invalid parameters of an address are ignored', async () => {
  const { page } = await site.open('/torrents?page=-3&sort=colour&order=up&category=A%20B', DESKTOP, member)
  await page.getByText('60 torrents').waitFor()
  await page.getByText('Page 1 of 2').waitFor()
})

test('a list that cannot be loaded shows an error and can be retried', async () => {
  const { page, problems } = await site.open('/upload', DESKTOP, member)
  await page.route('**/api/torrents?*', (route) => route.abort())
  await page.getByRole('link', { name: 'Torrents', exact: true }).click()
  await page.getByText('Could not reach the server.').waitFor()
  expect(await problems('torrents-error')).toEqual([])
  await page.unroute('**/api/torrents?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('60 torrents').waitFor()
})

test('a torrent has tabs for its facts, files and swarm', async () => {
  const { page, problems } = await site.open('/torrents?search=paper+moons', DESKTOP, member)
  await page.getByRole('link', { name: RELEASES.film, exact: true }).click()
  await page.getByRole('heading', { name: RELEASES.film }).waitFor()
  expect(await problems('torrent')).toEqual([])

  await page.getByRole('link', { name: 'Files (1)' }).click()
  await page.waitForURL('**?tab=files')
  await page.getByRole('cell', { name: '58.0 GiB' }).waitFor()
  expect(await problems('torrent-files')).toEqual([])

  await page.getByRole('link', { name: 'Swarm' }).click()
  await page.waitForURL('**?tab=swarm')
  await page.getByText('Download rate').waitFor()
  expect(await problems('torrent-swarm')).toEqual([])

  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download .torrent' }).click()
  expect((await download).suggestedFilename()).toBe(`${RELEASES.film}.torrent`)
})

test('its uploader edits and deletes a torrent by keyboard', async () => {
  const name = 'Short.Lived.Torrent'
  const uploaded = await member.upload(makeTorrent(name), {
    category: 'tv-hd',
  })
  const staff = await site.tracker.signedIn('rejecting', 'moderator')
  await staff.post(`/api/admin/torrents/${uploaded.member('id')}/reject`, { reason: 'Describe it.' })
  const { page, problems } = await site.open(`/torrents/${uploaded.member('id')}`, DESKTOP, member)
  await page.getByText('Describe it.').waitFor()
  expect(await page.getByRole('link', { name: 'Download .torrent' }).count()).toBe(0)
  expect(await problems('torrent-rejected')).toEqual([])
  await pressOn(page.getByRole('button', { name: 'Edit torrent' }), 'Enter')
  await typeInto(page.getByLabel('Description'), 'Recorded at home.')
  expect(await problems('torrent-edit')).toEqual([])
  await pressOn(page.getByRole('button', { name: 'Save torrent' }), 'Enter')
  await page.getByText('Recorded at home.').waitFor()
  await page.getByRole('heading', { name: 'Short.Lived.Torrent Awaiting approval' }).waitFor()

  await pressOn(page.getByRole('button', { name: 'Delete torrent' }), 'Enter')
  await page.getByText('permanently').waitFor()
  await typeInto(page.getByLabel('Reason'), 'A better copy is here.')
  expect(await problems('torrent-delete')).toEqual([])
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Delete torrent' }), 'Enter')
  await page.getByText('60 torrents').waitFor()
  expect((await member.get(`/api/torrents/${uploaded.member('id')}`)).status).toBe(404)
  const id = uploaded.member('id')
  expect(await site.tracker.sql('select delete_reason as reason from torrents where id = $1', [id])).toEqual([
    { reason: 'A better copy is here.' },
  ])
})

test('ids of other catalogues are corrected and removed', async () => {
  const torrent = makeTorrent(`Wrong.Ids.2024`)
  const uploaded = await member.upload(torrent, { category: 'movies', imdb: 'tt0111161', tmdb: '278', tvdb: '121361' })
  const address = `/api/torrents/${uploaded.member('id')}`
  const { page, problems } = await site.open(`/torrents/${uploaded.member('id')}`, DESKTOP, member)
  await page.getByRole('button', { name: 'Edit torrent' }).click()
  expect(await page.getByLabel('IMDb').inputValue()).toBe('tt0111161')
  expect(await page.getByLabel('TMDB').inputValue()).toBe('278')
  await page.getByLabel('IMDb').fill('tt0000000')
  await page.getByRole('button', { name: 'Save torrent' }).click()
  await page.locator('.field-problem').waitFor()
  expect(await problems('torrent-edit-ids')).toEqual([])
  await page.getByLabel('IMDb').fill('tt0068646')
  await page.getByLabel('TMDB').fill('238')
  await page.getByLabel('TVDB').fill('')
  await page.getByRole('button', { name: 'Save torrent' }).click()
  await page.getByText('tt0068646').waitFor()
  expect((await member.get(address)).json).toMatchObject({ imdb: 'tt0068646', tmdb: 238, tvdb: null })
  await page.getByRole('button', { name: 'Edit torrent' }).click()
  await page.getByLabel('IMDb').fill('')
  await page.getByLabel('TMDB').fill('')
  await page.getByRole('button', { name: 'Save torrent' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect((await member.get(address)).json).toMatchObject({ imdb: null, tmdb: null, tvdb: null })
  await member.delete(address)
})

test('a torrent of another member can be neither edited nor deleted', async () => {
  const other = await site.tracker.signedIn('bob')
  const { page } = await site.open('/torrents?search=paper+moons', DESKTOP, other)
  await page.getByRole('link', { name: RELEASES.film, exact: true }).click()
  await page.getByRole('link', { name: 'Download .torrent' }).waitFor()
  await page.getByRole('button', { name: 'bob' }).waitFor()
  expect(await page.getByRole('button', { name: 'Delete torrent' }).count()).toBe(0)
})

test('pointing at rows reads nothing, so that scrolling does not spend the rate limit', async () => {
  const { page } = await site.open('/torrents', DESKTOP, member)
  await page.getByText('60 torrents').waitFor()
  const read: string[] = []
  page.on('request', (request) => read.push(new URL(request.url()).pathname))
  for (const row of (await page.locator('.row-link').all()).slice(0, 4)) {
    await row.hover()
    // The router waits for 50 ms before it reads a page.
    await page.waitForTimeout(80)
  }
  expect(read.filter((path) => path.startsWith('/api/torrents/'))).toEqual([])
})

test('a refused download says why', async () => {
  const leecher = await site.tracker.signedIn('leecher')
  await site.tracker.sql(`update users set can_download = false where username = 'leecher'`)
  const { page, problems } = await site.open('/torrents?search=paper+moons', DESKTOP, leecher)
  await page.getByRole('link', { name: `Download .torrent of ${RELEASES.film}` }).click()
  await page.getByText('Downloads are disabled for your account.').waitFor()
  expect(new URL(page.url()).pathname).toBe('/torrents')
  await page.getByRole('link', { name: RELEASES.film, exact: true }).click()
  await page.getByRole('link', { name: 'Download .torrent' }).click()
  await page.getByRole('status').getByText('Downloads are disabled for your account.').first().waitFor()
  expect(await problems('download-refused')).toEqual([])
})

test('Back after a search returns to the list before it', async () => {
  const visit = await site.open('/torrents', DESKTOP, member)
  const { page } = visit
  await page.getByText('60 torrents').waitFor()
  const box = page.getByLabel('Search torrents')
  await box.pressSequentially('harb')
  await page.waitForURL('**/torrents?search=harb')
  await box.pressSequentially('our')
  await page.waitForURL('**/torrents?search=harbour')
  await page.goBack()
  await page.waitForURL('**/torrents')
  await page.getByText('60 torrents').waitFor()
  expect(await box.inputValue()).toBe('')
})

test('a category is chosen by its full name', async () => {
  const { page } = await site.open('/torrents?search=paper+moons', DESKTOP, member)
  await page.getByRole('link', { name: RELEASES.film, exact: true }).click()
  await page.getByRole('button', { name: 'Edit torrent' }).click()
  const options = await page.getByLabel('Category').locator('option').allTextContents()
  expect(options).toContain('Movies / UHD/4K')
  expect(new Set(options).size).toBe(options.length)
})

test('names are written in their own direction', async () => {
  const name = 'קול.המים.2024.1080p'
  const uploaded = await member.upload(makeTorrent(name), { category: 'movies-hd', description: 'שלום' })
  const { page } = await site.open(`/torrents/${uploaded.member('id')}`, DESKTOP, member)
  const directionOf = (selector: string): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`)
  await page.getByText('שלום').waitFor()
  expect(await directionOf('h1 bdi')).toBe('rtl')
  const text = `Array.from(document.querySelectorAll('p')).find(({ textContent }) => textContent.trim() === 'שלום')`
  expect(await page.evaluate(`getComputedStyle(${text}).direction`)).toBe('rtl')
  await page.getByRole('button', { name: 'Edit torrent' }).click()
  await page.getByLabel('Name').waitFor()
  expect(await directionOf('input[name="name"]')).toBe('rtl')
  expect(await directionOf('textarea[name="description"]')).toBe('rtl')
  await page.goto(`${site.tracker.url}/torrents?search=2024`)
  await page.getByRole('link', { name, exact: true }).waitFor()
  const order = page.evaluate<string[]>(
    `Array.from(document.querySelectorAll('.row-link bdi'), (each) => getComputedStyle(each).direction)`,
  )
  expect(new Set(await order)).toEqual(new Set(['rtl', 'ltr']))
  await member.delete(`/api/torrents/${uploaded.member('id')}`)
})

test('a dialog with typed text closes only after a question', async () => {
  const { page, problems } = await site.open('/torrents?search=paper+moons', DESKTOP, member)
  await page.getByRole('link', { name: RELEASES.film, exact: true }).click()
  const opener = page.getByRole('button', { name: 'Edit torrent' })
  await opener.click()
  const dialog = page.getByRole('dialog', { name: 'Edit torrent' })
  await dialog.getByLabel('Description').focus()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await opener.click()
  await dialog.getByLabel('Description').fill('Recorded at home.')
  const asked = page.getByRole('dialog', { name: 'Discard changes?' })
  await page.keyboard.press('Escape')
  await asked.waitFor()
  expect(await problems('discard-dialog')).toEqual([])
  await page.keyboard.press('Escape')
  await asked.waitFor({ state: 'detached' })
  await page.goBack()
  await asked.getByRole('button', { name: 'Keep editing' }).click()
  expect(await dialog.getByLabel('Description').inputValue()).toBe('Recorded at home.')
  await page.keyboard.press('Escape')
  await asked.getByRole('button', { name: 'Discard changes' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Edit torrent')
})

test('a list without an exact total ends at its last page', async () => {
  const { page, problems } = await site.open('/torrents', DESKTOP, member)
  await page.getByText('60 torrents').waitFor()
  await page.route('**/api/torrents?*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), total: 50, totalIsExact: false } })
  })
  await page.getByRole('link', { name: 'Next' }).click()
  await page.getByText('Page 2 of 2', { exact: true }).waitFor()
  expect(await page.getByRole('link', { name: 'Next' }).count()).toBe(0)
  expect(await problems('last-page')).toEqual([])
})

test('beyond the last page, a link leads back to it', async () => {
  const { page, problems } = await site.open('/torrents?page=9', DESKTOP, member)
  await page.getByText('There is no page 9.').waitFor()
  expect(await problems('no-such-page')).toEqual([])
  await page.getByRole('link', { name: 'Last page' }).click()
  await page.getByText('Page 2 of 2').waitFor()
})
