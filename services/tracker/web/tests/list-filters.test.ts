import { beforeAll, expect, test } from '@jest/globals'
import { RELEASE_VALUES } from '../../src/releases/release-name-tags.ts'
import type { Client } from '../../tests/support/client.ts'
import { makeTorrent } from '../../tests/support/make-torrent.ts'
import { VALUES } from '../src/torrents/list-search.ts'
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

test('the page knows the values of the API, except resolutions that nothing is broadcast or sold in', () => {
  const unused = ['540i', '720i', '1440i', '2160i', '4320i']
  const sorted = (values: readonly string[]): readonly string[] => values.toSorted()
  for (const field of ['resolution', 'source', 'codec', 'hdr', 'audio'] as const)
    expect(sorted(VALUES[field])).toEqual(sorted(RELEASE_VALUES[field].filter((value) => !unused.includes(value))))
})

test.each([DESKTOP, NARROW])('filters are in the address, and chips remove them ($width px)', async (view) => {
  const visit = await site.open('/torrents', view, member)
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
  expect(await problems('torrents-filters')).toEqual([])

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

test('an empty result says what to do', async () => {
  const visit = await site.open('/torrents?resolution=480p&search=harbour', DESKTOP, member)
  await visit.page.getByText('No matching torrents. Try fewer filters.').waitFor()
  expect(await visit.problems('torrents-filters-nothing')).toEqual([])
  await visit.page.getByRole('link', { name: 'Clear filters' }).click()
  await addressed(visit, 'search=harbour')
  await counted(visit, '1 torrent')
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

test.each([
  ['tt0944947', 'imdb=tt0944947'],
  ['https://www.imdb.com/title/tt0944947/?ref_=fn_al_tt_1', 'imdb=tt0944947'],
  ['https://www.themoviedb.org/movie/1399-a-title', 'tmdb=movie%2F1399'],
])('%s in the search box finds its torrents', async (text, query) => {
  const visit = await site.open('/torrents', DESKTOP, member)
  await counted(visit, '61 torrents')
  await visit.page.getByLabel('Search torrents').focus()
  await visit.page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
  await visit.page.keyboard.press('Control+V')
  await addressed(visit, query)
  await counted(visit, '1 torrent')
  expect(await names(visit)).toEqual([GERMAN])
  expect(await visit.page.getByLabel('Search torrents').inputValue()).toBe('')
})

test('a word after a hyphen is excluded', async () => {
  const visit = await site.open('/torrents', NARROW, member)
  await visit.page.getByLabel('Search torrents').fill('quiet -flac')
  await counted(visit, '1 torrent')
  expect(await names(visit)).toEqual([GERMAN])
})

test('unknown values of an address are ignored', async () => {
  const visit = await site.open(
    '/torrents?resolution=9000p,720p&language=xx&year=2024-2020&minSize=large&mine=liked&imdb=7',
    DESKTOP,
    member,
  )
  await counted(visit, '56 torrents')
  expect(await visit.page.getByRole('button', { name: /^Remove filter/ }).allTextContents()).toEqual(['720p ×'])
})

test.each([DESKTOP, NARROW])(
  'a search is saved, changed, followed as a feed and deleted with the keyboard ($width px)',
  async (view) => {
    const visit = await site.open('/torrents?resolution=1080p', view, member)
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
    expect(await problems('saved-search')).toEqual([])

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
    expect(await problems('saved-nothing')).toEqual([])
  },
)

test('a category has feeds of its own, which the saved searches list', async () => {
  const visit = await site.open('/torrents?category=movies', DESKTOP, member)
  const { page, problems } = visit
  await page.getByRole('heading', { name: 'Movies', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Feeds' }).press('Enter')
  await page.getByRole('button', { name: 'Create feed address' }).press('Enter')
  await page.getByRole('list', { name: 'Feed addresses' }).waitFor()
  expect(await problems('category-feeds')).toEqual([])
  await page.goto(new URL('/saved', page.url()).href)
  await page.getByRole('button', { name: 'Feeds of Movies' }).press('Enter')
  await page.getByRole('button', { name: /^Revoke feed address/ }).press('Enter')
  await page.getByRole('button', { name: 'Feeds of Movies' }).waitFor({ state: 'detached' })
})

test('a torrent is bookmarked in its row and on its page', async () => {
  const visit = await site.open('/torrents?resolution=1080p', NARROW, member)
  const { page, problems } = visit
  const star = page.getByRole('button', { name: `Bookmark ${GERMAN}` })
  await star.press('Space')
  await page.getByRole('button', { name: `Bookmark ${GERMAN}`, pressed: true }).waitFor()
  await page.goto(new URL('/saved', page.url()).href)
  await page.getByRole('link', { name: 'Bookmarks' }).click()
  await counted(visit, '1 torrent')
  expect(await names(visit)).toEqual([GERMAN])
  expect(await problems('bookmarks')).toEqual([])
  await page.getByRole('link', { name: GERMAN, exact: true }).click()
  await page.getByRole('button', { name: 'Remove bookmark' }).press('Enter')
  await page.getByRole('button', { name: 'Bookmark', exact: true }).waitFor()
  await page.goBack()
  await page.getByText('No matching torrents').waitFor()
})
