import { beforeAll, describe, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { makeTorrent } from '../../tests/support/make-torrent.ts'
import { fillCatalogue, RELEASES } from './support/catalogue.ts'
import { DESKTOP, NARROW, toggleFilter, useSite, type Visit } from './support/site.ts'

const GERMAN = 'Quiet.Field.2021.German.1080p.BluRay.x265-GROUP'

const site = useSite()
let member: Client

beforeAll(async () => {
  member = await site.tracker.signedIn('alice')
  await fillCatalogue(site.tracker, member)
  await member.upload(makeTorrent(GERMAN), { category: 'movies-hd', imdb: 'tt0944947', tmdb: '1399' })
})

const names = ({ page }: Visit): Promise<string[]> =>
  page.evaluate(`Array.from(document.querySelectorAll('tbody .row-link'), (link) => link.textContent)`)
const addressed = ({ page }: Visit, query: string): Promise<void> =>
  page.waitForURL(({ searchParams }) => searchParams.toString() === new URLSearchParams(query).toString())
const counted = ({ page }: Visit, text: string): Promise<void> => page.getByText(text, { exact: true }).waitFor()

test('the list is paged, sorted, filtered and searched by its address', async () => {
  const visit = await site.open('/', DESKTOP, member)
  const { page, problems } = visit
  await counted(visit, '61 torrents')
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
  await counted(visit, '1 torrent')
  expect(await names(visit)).toEqual([RELEASES.book])

  await page.goBack()
  await counted(visit, '61 torrents')
  await page.locator('h1').waitFor({ state: 'attached' })
  await page.locator('body').press('/')
  await page.keyboard.type('harbour tide')
  await page.waitForURL('**search=harbour+tide**')
  await counted(visit, '1 torrent')
  expect(await names(visit)).toEqual([RELEASES.episode])
})

test('Back after a search returns to the list before it', async () => {
  const visit = await site.open('/torrents', DESKTOP, member)
  const { page } = visit
  await counted(visit, '61 torrents')
  const box = page.getByLabel('Search torrents')
  await box.pressSequentially('harb')
  await page.waitForURL('**/torrents?search=harb')
  await box.pressSequentially('our')
  await page.waitForURL('**/torrents?search=harbour')
  await page.goBack()
  await page.waitForURL('**/torrents')
  await counted(visit, '61 torrents')
  expect(await box.inputValue()).toBe('')
})

test('a search without results shows similar names, and which filters to clear', async () => {
  const visit = await site.open('/torrents?search=harbuor', DESKTOP, member)
  const { page, problems } = visit
  await page.getByText('No torrents match').waitFor()
  expect(await problems('torrents-nothing')).toEqual([])
  await page.goto(`${site.tracker.url}/torrents?resolution=480p&search=harbour`)
  await page.getByText('No matching torrents. Try fewer filters.').waitFor()
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await addressed(visit, 'search=harbour')
  await counted(visit, '1 torrent')
})

test('on a narrow screen, the list has a menu for its order, and a word after a hyphen is excluded', async () => {
  const visit = await site.open('/torrents', NARROW, member)
  const { page } = visit
  await page.getByLabel('Order').selectOption('Largest first')
  await page.waitForURL('**/torrents?sort=size')
  await page.locator('tbody tr').first().getByText('Freeleech').waitFor()
  // The heads, which are hidden, take no focus.
  expect(await page.getByRole('link', { name: /^Sort by/ }).count()).toBe(0)
  await page.getByLabel('Search torrents').fill('quiet -flac')
  await counted(visit, '1 torrent')
  expect(await names(visit)).toEqual([GERMAN])
})

test('a list that cannot be loaded shows an error and can be retried', async () => {
  const visit = await site.open('/upload', DESKTOP, member)
  const { page, problems } = visit
  await page.route('**/api/torrents?*', (route) => route.abort())
  await page.getByRole('link', { name: 'Torrents', exact: true }).click()
  await page.getByText('Could not reach the server.').waitFor()
  expect(await problems('torrents-error')).toEqual([])
  await page.unroute('**/api/torrents?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await counted(visit, '61 torrents')
})

test('pointing at rows reads nothing, so that scrolling does not spend the rate limit', async () => {
  const visit = await site.open('/torrents', DESKTOP, member)
  await counted(visit, '61 torrents')
  const read: string[] = []
  visit.page.on('request', (request) => read.push(new URL(request.url()).pathname))
  for (const row of (await visit.page.locator('.row-link').all()).slice(0, 4)) {
    await row.hover()
    // The router waits for 50 ms before it reads a page.
    await visit.page.waitForTimeout(80)
  }
  expect(read.filter((path) => path.startsWith('/api/torrents/'))).toEqual([])
})

test('a list without an exact total ends at its last page, and a link leads back to it from beyond', async () => {
  const visit = await site.open('/torrents', DESKTOP, member)
  const { page } = visit
  await counted(visit, '61 torrents')
  await page.route('**/api/torrents?*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), total: 50, totalIsExact: false } })
  })
  await page.getByRole('link', { name: 'Next' }).click()
  await page.getByText('Page 2 of 2', { exact: true }).waitFor()
  expect(await page.getByRole('link', { name: 'Next' }).count()).toBe(0)
  await page.unroute('**/api/torrents?*')
  await page.goto(`${site.tracker.url}/torrents?page=9`)
  await page.getByText('There is no page 9.').waitFor()
  await page.getByRole('link', { name: 'Last page' }).click()
  await page.getByText('Page 2 of 2').waitFor()
})

test('names are written in their own direction, in the list and on their page', async () => {
  const name = 'קול.המים.2024.1080p'
  const uploaded = await member.upload(makeTorrent(name), { category: 'movies-hd', description: 'שלום' })
  const { page } = await site.open('/torrents?search=2024', DESKTOP, member)
  const directionOf = (selector: string): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`)
  await page.getByRole('link', { name, exact: true }).waitFor()
  const order = page.evaluate<string[]>(
    `Array.from(document.querySelectorAll('.row-link bdi'), (each) => getComputedStyle(each).direction)`,
  )
  expect(new Set(await order)).toEqual(new Set(['rtl', 'ltr']))
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByText('שלום').waitFor()
  expect(await directionOf('h1 bdi')).toBe('rtl')
  const text = `Array.from(document.querySelectorAll('p')).find(({ textContent }) => textContent.trim() === 'שלום')`
  expect(await page.evaluate(`getComputedStyle(${text}).direction`)).toBe('rtl')
  await page.getByRole('button', { name: 'Edit torrent' }).click()
  await page.getByLabel('Name').waitFor()
  expect(await directionOf('input[name="name"]')).toBe('rtl')
  expect(await directionOf('textarea[name="description"]')).toBe('rtl')
  await member.delete(`/api/torrents/${uploaded.member('id')}`)
})

describe('filters', () => {
  test('filters are in the address, and chips remove them', async () => {
    const visit = await site.open('/torrents', NARROW, member)
    const { page, problems } = visit
    await counted(visit, '61 torrents')
    await toggleFilter(visit, 'Resolution', '1080p')
    await addressed(visit, 'resolution=1080p')
    await counted(visit, '2 torrents')
    await toggleFilter(visit, 'Resolution', '2160p')
    await addressed(visit, 'resolution=1080p,2160p')
    await counted(visit, '3 torrents')
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'More filters' }).click()
    await page.locator('summary', { hasText: 'Language' }).click()
    await page.getByRole('checkbox', { name: 'German 1' }).waitFor()
    expect(await problems('torrents-filters-open')).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByLabel('Smallest size').selectOption('At least 10.0 GiB')
    await counted(visit, '1 torrent')
    expect(await names(visit)).toEqual([RELEASES.film])

    await page.getByRole('button', { name: 'Remove filter At least 10.0 GiB' }).click()
    await page.getByLabel('Year').fill('2020-2022')
    await page.getByLabel('Year').press('Enter')
    await counted(visit, '1 torrent')
    expect(await names(visit)).toEqual([GERMAN])
    await page.getByLabel('Seeders', { exact: true }).selectOption('Without seeders')
    await page.getByLabel('Uploader').fill('alice')
    await page.getByLabel('Uploader').press('Enter')
    await addressed(visit, 'resolution=1080p,2160p&year=2020-2022&alive=false&uploader=alice')
    await counted(visit, '1 torrent')

    await page.getByRole('button', { name: 'Clear filters' }).click()
    await addressed(visit, '')
    await counted(visit, '61 torrents')
    expect(await page.getByLabel('Year').inputValue()).toBe('')
    expect(await page.getByRole('list', { name: 'Active filters' }).count()).toBe(0)
  })

  test('filters are set and removed by keyboard alone', async () => {
    const visit = await site.open('/torrents?hdr=HDR10&resolution=2160p', DESKTOP, member)
    const { page } = visit
    await counted(visit, '1 torrent')
    await page.getByRole('button', { name: 'More filters' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.getByRole('group', { name: 'Source' }).waitFor()
    await page.keyboard.press('Space')
    await addressed(visit, 'hdr=HDR10&resolution=2160p&source=WEB-DL')
    await page.getByText('No matching torrents. Try fewer filters.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('group', { name: 'Source' }).waitFor({ state: 'hidden' })
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Source (1)')
    await page.getByRole('button', { name: 'Remove filter WEB-DL' }).focus()
    await page.keyboard.press('Enter')
    await counted(visit, '1 torrent')
    // The focus stays among the filters.
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Clear filters')
  })

  test('what a member has done with torrents is a filter', async () => {
    const [{ id } = { id: '' }] = await site.tracker.sql<{ id: string }>('select id from torrents where name = $1', [
      GERMAN,
    ])
    const bob = await site.tracker.signedIn('bob')
    const own = (await bob.get('/api/user/me')).member('id')
    await site.tracker.sql(
      `insert into user_torrents (user_id, torrent_id, last_state, first_seen_at, last_seen_at, completed_at)
        values ($1, $2, 'seeder', now(), $3, now())`,
      [own, id, new Date(site.tracker.now())],
    )
    const visit = await site.open('/torrents?mine=snatched', DESKTOP, bob)
    await counted(visit, '1 torrent')
    expect(await names(visit)).toEqual([GERMAN])
    await visit.page.getByRole('button', { name: 'More filters' }).click()
    await visit.page.getByLabel('My torrents').selectOption('Seeding now')
    await visit.page.getByRole('button', { name: 'Remove filter Seeding now' }).waitFor()
    await counted(visit, '1 torrent')
    await visit.page.getByLabel('My torrents').selectOption('Not seen yet')
    await counted(visit, '60 torrents')
  })

  test('the URL of a film in the search box finds its torrents', async () => {
    const visit = await site.open('/torrents', DESKTOP, member)
    await counted(visit, '61 torrents')
    await visit.page.getByLabel('Search torrents').focus()
    await visit.page.evaluate(`navigator.clipboard.writeText('https://www.themoviedb.org/movie/1399-a-title')`)
    await visit.page.keyboard.press('Control+V')
    await addressed(visit, 'tmdb=movie%2F1399')
    await counted(visit, '1 torrent')
    expect(await names(visit)).toEqual([GERMAN])
    expect(await visit.page.getByLabel('Search torrents').inputValue()).toBe('')
  })

  test('unknown values of an address are ignored', async () => {
    const visit = await site.open('/torrents?resolution=9000p,720p&sort=colour&page=-3&year=2024-2020', DESKTOP, member)
    await counted(visit, '56 torrents')
    await visit.page.getByText('Page 1 of 2').waitFor()
    expect(await visit.page.getByRole('button', { name: /^Remove filter/ }).allTextContents()).toEqual(['720p ×'])
  })
})

describe('saved searches', () => {
  test('a search is saved, changed, followed as a feed and deleted with the keyboard', async () => {
    const visit = await site.open('/torrents?resolution=1080p', NARROW, member)
    const { page, problems } = visit
    const press = async (name: string, exact = true): Promise<void> =>
      page.getByRole('button', { name, exact }).press('Enter')
    const fetched = async (url: string): Promise<number> =>
      (await site.tracker.client().get(url.replace(/^https?:\/\/[^/]+/, ''))).status

    await press('Save search')
    expect(await problems('saved-search-dialog')).toEqual([])
    await page.keyboard.type('Sharp films')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sharp films' }).waitFor()
    await counted(visit, '2 torrents')
    await toggleFilter(visit, 'Resolution', '2160p')
    await page.keyboard.press('Escape')
    await counted(visit, '3 torrents')
    await press('Save changes')
    await page.getByRole('button', { name: 'Save changes' }).waitFor({ state: 'detached' })

    const discovered: unknown = await page.evaluate(
      `fetch(document.querySelector('link[type="application/feed+json"]').href).then((answer) => answer.json())`,
    )
    expect(discovered).toMatchObject({ title: expect.stringMatching(/^Sharp films/) })

    await press('Feeds')
    await press('Create feed address')
    await press('Show RSS address')
    const url = (await page.locator('dialog code').first().textContent()) ?? ''
    expect(await problems('saved-search-feeds')).toEqual([])
    expect(await fetched(url)).toBe(200)
    await press('Revoke feed address of', false)
    await page.getByText('No feed addresses yet.').waitFor()
    expect(await fetched(url)).toBe(401)
    await page.keyboard.press('Escape')

    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.waitForURL('**/saved')
    await page
      .getByRole('row', { name: /Sharp films/ })
      .getByText('1080p, 2160p')
      .waitFor()
    expect(await problems('saved')).toEqual([])
    await press('Edit Sharp films')
    await page.getByLabel('Name').waitFor()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('Sharpest')
    await page.keyboard.press('Enter')
    await press('Delete Sharpest')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete saved search' }).press('Enter')
    await page.getByText('To save a search').waitFor()
  })

  test('a category has feeds of its own, which the saved searches list', async () => {
    const { page } = await site.open('/torrents?category=movies', DESKTOP, member)
    await page.getByRole('heading', { name: 'Movies', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Feeds' }).press('Enter')
    await page.getByRole('button', { name: 'Create feed address' }).press('Enter')
    await page.getByRole('list', { name: 'Feed addresses' }).waitFor()
    await page.goto(new URL('/saved', page.url()).href)
    await page.getByRole('button', { name: 'Feeds of Movies' }).press('Enter')
    await page.getByRole('button', { name: /^Revoke feed address/ }).press('Enter')
    await page.getByRole('button', { name: 'Feeds of Movies' }).waitFor({ state: 'detached' })
  })

  test('a torrent is bookmarked in its row and on its page', async () => {
    const visit = await site.open('/torrents?resolution=1080p', NARROW, member)
    const { page } = visit
    const star = page.getByRole('button', { name: `Bookmark ${GERMAN}` })
    await star.press('Space')
    await page.getByRole('button', { name: `Bookmark ${GERMAN}`, pressed: true }).waitFor()
    await page.goto(new URL('/saved', page.url()).href)
    await page.getByRole('link', { name: 'Bookmarks' }).click()
    await counted(visit, '1 torrent')
    expect(await names(visit)).toEqual([GERMAN])
    expect(await visit.problems('bookmarks')).toEqual([])
    await page.getByRole('link', { name: GERMAN, exact: true }).click()
    await page.getByRole('button', { name: 'Remove bookmark' }).press('Enter')
    await page.getByRole('button', { name: 'Bookmark', exact: true }).waitFor()
    await page.goBack()
    await page.getByText('No matching torrents').waitFor()
  })
})
