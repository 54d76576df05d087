import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Answer, Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let admin: Client

beforeAll(async () => {
  tracker = await startTracker()
  admin = await tracker.signedIn('admin', 'admin')
})

beforeEach(async () => {
  await tracker.sql('delete from torrents')
  await tracker.sql('delete from categories')
})

afterAll(() => tracker.stop())

type Node = { id: string; slug: string; name: string; torznabId: number; subcategories: Node[] }
const itemsOf = (answer: Answer) => (answer.json as { items: Node[] }).items
const outline = (answer: Answer) =>
  itemsOf(answer).map(({ name, torznabId, subcategories }) => [
    `${name} ${torznabId}`,
    ...subcategories.map((sub) => `${sub.name} ${sub.torznabId}`),
  ])

test('seeding creates the standard tree, which is public', async () => {
  expect(itemsOf(await tracker.client().get('/api/categories'))).toEqual([])
  expect((await admin.post('/api/admin/categories/seed')).status).toBe(201)
  const listed = await tracker.client().get('/api/categories')
  expect(outline(listed)).toEqual([
    ['Movies 2000', 'HD 2040', 'UHD/4K 2045', 'SD 2030', 'Blu-ray disc 2050'],
    ['TV 5000', 'HD 5040', 'UHD/4K 5045', 'SD 5030', 'Anime 5070', 'Documentary 5080'],
    ['Audio 3000', 'MP3 3010', 'Lossless 3040'],
    ['Games 4050', 'PC 4050', 'Console 1000', 'PlayStation 1180', 'Xbox 1040'],
    ['Software 4000', 'Windows 4020', 'macOS 4030'],
    ['Books 7000', 'Ebooks 7020', 'Comics 7030', 'Magazines 7010'],
    ['XXX 6000'],
    ['Other 8000'],
  ])
})

test('seeding requires a site without categories, even for two concurrent requests', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => admin.post('/api/admin/categories/seed')))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
  const refused = await admin.post('/api/admin/categories/seed')
  expect(refused.member('error', 'code')).toBe('CONFLICT')
  expect(itemsOf(await admin.get('/api/categories'))).toHaveLength(8)
})

test('the tree can be seeded again after all categories are deleted', async () => {
  await admin.post('/api/admin/categories/seed')
  for (const root of itemsOf(await admin.get('/api/categories'))) {
    for (const { id } of [...root.subcategories, root])
      expect((await admin.delete(`/api/admin/categories/${id}`)).status).toBe(204)
  }
  expect((await admin.post('/api/admin/categories/seed')).status).toBe(201)
})

test.each([
  ['movies', 2000],
  ['movies-hd', 2040],
  ['movies-uhd', 2045],
  ['movies-4k', 2045],
  ['tv', 5000],
  ['tv-hd', 5040],
  ['tv-uhd', 5045],
  ['tv-4k', 5045],
  ['anime', 5070],
  ['tv-anime', 5070],
  ['audio', 3000],
  ['music', 3000],
  ['games', 4050],
  ['games-pc', 4050],
  ['ebooks', 7020],
  ['books', 7020],
])('a category created with the slug %s gets the Torznab ID %i', async (slug, torznabId) => {
  const made = await admin.post('/api/admin/categories', { slug, name: 'A name' })
  expect([made.status, made.json]).toMatchObject([201, { slug, torznabId }])
})

test('creates, changes and deletes categories', async () => {
  const root = await admin.post('/api/admin/categories', { slug: 'maps', name: 'Maps', torznabId: 8000 })
  const leaf = await admin.post('/api/admin/categories', { slug: 'sea', name: 'Sea', torznabId: 8010, parent: 'maps' })
  const deeper = await admin.post('/api/admin/categories', { slug: 'x', name: 'X', torznabId: 8020, parent: 'sea' })
  expect([deeper.status, deeper.member('error', 'message')]).toEqual([400, expect.stringMatching(/^parent: /)])
  expect(outline(await admin.get('/api/categories'))).toEqual([['Maps 8000', 'Sea 8010']])
  const changed = await admin.patch(`/api/admin/categories/${leaf.member('id')}`, { name: 'Charts', slug: 'charts' })
  expect(changed.json).toMatchObject({ name: 'Charts', slug: 'charts', torznabId: 8010 })
  const busy = await admin.delete(`/api/admin/categories/${root.member('id')}`)
  expect([busy.status, busy.member('error', 'code')]).toEqual([409, 'CONFLICT'])
  expect((await admin.delete(`/api/admin/categories/${leaf.member('id')}`)).status).toBe(204)
  expect((await admin.delete(`/api/admin/categories/${root.member('id')}`)).status).toBe(204)
  expect((await admin.delete(`/api/admin/categories/${root.member('id')}`)).status).toBe(404)
})

test('the tree has at most two levels', async () => {
  for (const slug of ['land', 'water', 'sea'])
    await admin.post('/api/admin/categories', { slug, name: slug, torznabId: 8000 })
  const ids = new Map(itemsOf(await admin.get('/api/categories')).map(({ slug, id }) => [slug, id]))
  const move = (slug: string, parent: string | null) =>
    admin.patch(`/api/admin/categories/${ids.get(slug) ?? ''}`, { parent })
  expect((await move('sea', 'water')).status).toBe(200)
  expect(outline(await admin.get('/api/categories'))).toEqual([['land 8000'], ['water 8000', 'sea 8000']])
  for (const [slug, parent] of [
    ['water', 'land'],
    ['land', 'sea'],
    ['land', 'land'],
    ['land', 'nowhere'],
  ] as const) {
    const refused = await move(slug, parent)
    expect([refused.status, refused.member('error', 'message')]).toEqual([400, expect.stringMatching(/^parent: /)])
  }
  expect((await move('sea', null)).json).toMatchObject({ position: 2 })
  expect(outline(await admin.get('/api/categories'))).toEqual([['land 8000'], ['water 8000'], ['sea 8000']])
})

test('orders all categories together', async () => {
  await admin.post('/api/admin/categories/seed')
  const before = itemsOf(await admin.get('/api/categories'))
  const ids = before.flatMap(({ id, subcategories }) => [id, ...subcategories.map((sub) => sub.id)]).toReversed()
  const ordered = await admin.post('/api/admin/categories/order', { ids })
  expect(ordered.status).toBe(200)
  const names = (nodes: readonly Node[]): readonly string[] => nodes.map(({ name }) => name)
  expect(names(itemsOf(ordered))).toEqual(names(before).toReversed())
  expect(names(itemsOf(ordered)[6]?.subcategories ?? [])).toEqual(['Documentary', 'Anime', 'SD', 'UHD/4K', 'HD'])
  for (const wrong of [ids.slice(1), [...ids, ids[0]], [...ids.slice(1), ids[1]], ['nonsense']])
    expect((await admin.post('/api/admin/categories/order', { ids: wrong })).status).toBe(409)
})

test('counts the torrents of each category for staff', async () => {
  await admin.post('/api/admin/categories/seed')
  for (const name of ['One', 'Two']) await admin.upload(makeTorrent(name), { category: 'comics' })
  const deleted = await admin.upload(makeTorrent('Three'), { category: 'comics' })
  await admin.delete(`/api/torrents/${deleted.member('id')}`)
  const managed = await admin.get('/api/admin/categories')
  const books = itemsOf(managed).find(({ slug }) => slug === 'books')
  expect(managed.json).toMatchObject({ uncategorised: 0 })
  expect(books).toMatchObject({ torrents: 0, subcategories: [{ torrents: 0 }, { slug: 'comics', torrents: 2 }, {}] })
})

test('torrents survive the deletion of all categories and return to new ones with the same slugs', async () => {
  await admin.post('/api/admin/categories/seed')
  const id = (await admin.upload(makeTorrent('Staying'), { category: 'comics' })).member('id')
  await admin.upload(makeTorrent('Waiting.Elsewhere'), { category: 'other' })
  expect((await admin.delete('/api/admin/categories')).json).toEqual({ categories: 28, torrents: 2 })
  expect((await admin.get('/api/admin/categories')).json).toMatchObject({ items: [], total: 0, uncategorised: 2 })
  expect(itemsOf(await admin.get('/api/categories'))).toEqual([])
  expect((await admin.get(`/api/torrents/${id}`)).json).toMatchObject({ name: 'Staying', category: '' })
  for (const sort of ['created', 'seeders', 'size'])
    expect((await admin.get(`/api/torrents?sort=${sort}`)).json).toMatchObject({ total: 2, items: [{}, {}] })
  expect((await admin.get('/api/torrents?category=comics')).status).toBe(400)
  expect((await admin.upload(makeTorrent('Nowhere'), { category: 'comics' })).status).toBe(400)

  const made = await admin.post('/api/admin/categories', { slug: 'comics', name: 'Comic books', torznabId: 7030 })
  expect((await admin.get(`/api/torrents/${id}`)).json).toMatchObject({ category: 'comics' })
  expect((await admin.get('/api/torrents?category=comics')).json).toMatchObject({ total: 1 })
  expect((await admin.delete(`/api/admin/categories/${made.member('id')}`)).status).toBe(409)

  expect((await admin.delete('/api/admin/categories')).json).toEqual({ categories: 1, torrents: 1 })
  expect((await admin.post('/api/admin/categories/seed')).status).toBe(201)
  expect((await admin.get('/api/admin/categories')).json).toMatchObject({ uncategorised: 0 })
  expect((await admin.get('/api/torrents?category=books')).json).toMatchObject({ items: [{ category: 'comics' }] })
})

test('a hidden category cannot be changed, used as a parent or deleted', async () => {
  const root = await admin.post('/api/admin/categories', { slug: 'gone', name: 'Gone', torznabId: 8000 })
  await admin.delete('/api/admin/categories')
  const path = `/api/admin/categories/${root.member('id')}`
  expect((await admin.patch(path, { name: 'Back' })).status).toBe(404)
  expect((await admin.delete(path)).status).toBe(404)
  const below = await admin.post('/api/admin/categories', { slug: 'sub', name: 'Sub', torznabId: 1, parent: 'gone' })
  expect(below.status).toBe(400)
  expect((await admin.delete('/api/admin/categories')).json).toEqual({ categories: 0, torrents: 0 })
})

test('slugs are unique', async () => {
  const one = await admin.post('/api/admin/categories', { slug: 'one', name: 'One', torznabId: 1 })
  const again = await admin.post('/api/admin/categories', { slug: 'one', name: 'Uno', torznabId: 2 })
  await admin.post('/api/admin/categories', { slug: 'two', name: 'Two', torznabId: 2 })
  const renamed = await admin.patch(`/api/admin/categories/${one.member('id')}`, { slug: 'two' })
  expect([again.status, renamed.status]).toEqual([409, 409])
})

test.each([
  [{ slug: 'Big', name: 'n', torznabId: 1 }, 'slug'],
  [{ slug: 'a--b', name: 'n', torznabId: 1 }, 'slug'],
  [{ slug: 'ok', name: '  ', torznabId: 1 }, 'name'],
  [{ slug: 'ok', name: 'n' }, 'torznabId'],
  [{ slug: 'ok', name: 'n', torznabId: 1.5 }, 'torznabId'],
  [{ slug: 'ok', name: 'n', torznabId: 1, parent: 'nowhere' }, 'parent'],
])('refuses the category %j, naming %s', async (body, name) => {
  const answer = await admin.post('/api/admin/categories', body)
  expect([answer.status, answer.member('error', 'message')]).toEqual([
    400,
    expect.stringMatching(new RegExp(`^${name}: `)),
  ])
})

test('a category with torrents cannot be deleted', async () => {
  const made = await admin.post('/api/admin/categories', { slug: 'held', name: 'Held', torznabId: 8000 })
  const upload = await admin.upload(makeTorrent('Holding'), { category: 'held' })
  expect((await admin.delete(`/api/admin/categories/${made.member('id')}`)).status).toBe(409)
  await admin.delete(`/api/torrents/${upload.member('id')}`)
  expect((await admin.delete(`/api/admin/categories/${made.member('id')}`)).status).toBe(204)
})
