import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let member: Client
let other: Client

beforeAll(async () => {
  tracker = await startTracker()
  await tracker.context.useCases.categories.seed()
  member = await tracker.signedIn('member')
  other = await tracker.signedIn('other')
})

afterAll(() => tracker.stop())

async function uploaded(name: string, fields: Record<string, string> = {}): Promise<string> {
  const answer = await member.upload(makeTorrent(name), { category: 'movies', ...fields })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.member('id')
}

test('a list has a page of items and the total', async () => {
  for (const name of ['First', 'Second', 'Third', 'Fourth']) await uploaded(name)
  const answer = await other.get('/api/torrents?limit=2&page=2')
  expect(answer.json).toMatchObject({ page: 2, limit: 2, items: [{}, {}] })
  const all = await other.get('/api/torrents')
  expect(all.json).toMatchObject({ page: 1, limit: 25 })
  const beyond = await other.get('/api/torrents?page=401')
  expect(beyond.json).toMatchObject({ items: [] })
})

test.each([
  ['limit=101', 'limit'],
  ['limit=0', 'limit'],
  ['limit=-1', 'limit'],
  ['limit=ten', 'limit'],
  ['limit=1&limit=2', 'limit'],
  ['page=0', 'page'],
  ['page=1e3', 'page'],
  ['sort=name', 'sort'],
  ['order=up', 'order'],
  ['category=nowhere', 'category'],
  ['category=No%20Where', 'category'],
  [`search=${'x'.repeat(257)}`, 'search'],
  ['search=a&search=b', 'search'],
])('?%s is refused, naming %s', async (query, name) => {
  await refuses('/api/torrents', query, name)
})

async function refuses(path: string, query: string, name: string): Promise<void> {
  const answer = await other.get(`${path}?${query}`)
  expect([answer.status, answer.member('error', 'code')]).toEqual([400, 'BAD_REQUEST'])
  expect(answer.member('error', 'message')).toMatch(new RegExp(`^${name}: `))
}

test.each([
  ['category=movies,nowhere', 'category'],
  ['category=movies,,tv', 'category'],
  ['category=movies&category=tv', 'category'],
  ['category[]=movies', 'category'],
  ['resolution=9000p', 'resolution'],
  ['resolution=1080p,', 'resolution'],
  ['source=web-dl', 'source'],
  ['codec=', 'codec'],
  ['hdr=HDR12', 'hdr'],
  ['audio=loud', 'audio'],
  ['language=xx', 'language'],
  ['language=english', 'language'],
  ['year=next', 'year'],
  ['year=2024-2020', 'year'],
  ['year=1950-2024', 'year'],
  ['season=-1', 'season'],
  ['season=1-2-3', 'season'],
  ['episode=1-51', 'episode'],
  ['episode=100000', 'episode'],
  ['season=1-10&episode=1-6', 'episode'],
  ['minSize=-1', 'minSize'],
  ['minSize=1.5', 'minSize'],
  ['maxSize=9007199254740992', 'maxSize'],
  ['maxSize=1GB', 'maxSize'],
  ['maxAge=0', 'maxAge'],
  ['maxAge=36501', 'maxAge'],
  ['freeleech=yes', 'freeleech'],
  ['alive=1', 'alive'],
  ['uploader=nobody', 'uploader'],
  ['uploader=', 'uploader'],
  ['uploader=%00', 'uploader'],
  ['imdb=tt0', 'imdb'],
  ['imdb=https://www.imdb.com/title/tt0944947/', 'imdb'],
  ['tmdb=0', 'tmdb'],
  ['tmdb=tv/0', 'tmdb'],
  ['tmdb=anime/7', 'tmdb'],
  ['tmdb=tv/', 'tmdb'],
  ['tvdb=one', 'tvdb'],
  ['mine=liked', 'mine'],
])('?%s is refused by lists and facets, naming %s', async (query, name) => {
  await refuses('/api/torrents', query, name)
  await refuses('/api/torrents/facets', query, name)
})

test('a category includes its subcategories, and a well-known slug finds its Torznab ID', async () => {
  const root = await uploaded('In.Books', { category: 'books' })
  const leaf = await uploaded('In.Comics', { category: 'comics' })
  const ids = async (slug: string) => idsOf(await other.get(`/api/torrents?category=${slug}`))
  expect(await ids('books')).toEqual([leaf, root])
  expect(await ids('comics')).toEqual([leaf])
  const uhd = await uploaded('In.UHD', { category: 'movies-4k' })
  expect(await ids('movies-4k')).toEqual([uhd])
  expect(await ids('movies-uhd')).toEqual([uhd])
})

test.each([
  ['searchable example', ['dotted', 'accented']],
  ['SEARCHABLE.EXAMPLE.2001', ['dotted']],
  ['the searchable example', ['dotted', 'accented']],
  ['example searchable cafe', ['accented']],
  ['searchable swat', ['initials']],
  ['searchable dont', ['apostrophe']],
  ["searchable don't", ['apostrophe']],
  ['searchable example nothing', []],
  ['searchabl', ['dotted', 'accented', 'initials', 'apostrophe', 'japanese']],
  ['example searchab', ['dotted', 'accented']],
  ['searchab example', []],
  ['earchable', []],
  ["searchable ' & | ! <-> :* \\", ['dotted', 'accented', 'initials', 'apostrophe', 'japanese']],
  ['searchable 東京', ['japanese']],
  ['searchable 京喰', ['japanese']],
  ['searchable 東喰', []],
  ['searchable -café', ['dotted', 'initials', 'apostrophe', 'japanese']],
  ['searchable -cafe -s01', ['dotted', 'apostrophe', 'japanese']],
  ['searchable -caf', ['dotted', 'accented', 'initials', 'apostrophe', 'japanese']],
  ['searchable -1080p-2001', ['accented', 'initials', 'apostrophe', 'japanese']],
  ['searchable -1080p-2002', ['dotted', 'accented', 'initials', 'apostrophe', 'japanese']],
  ['-example searchabl', ['initials', 'apostrophe', 'japanese']],
  ['searchable - example', ['dotted', 'accented']],
  ['searchable-example', ['dotted', 'accented']],
  ['searchable -searchable', []],
  ['...', []],
])('a search for %j finds %j', async (search, expected) => {
  const found = await other.get(`/api/torrents?limit=100&search=${encodeURIComponent(search)}`)
  const names: Record<string, string> = {
    'Searchable.Example.2001.1080p.BluRay.x264-GRP': 'dotted',
    'Searchable Éxample Café': 'accented',
    'S.W.A.T.Searchable.S01': 'initials',
    "Searchable - Don't Look": 'apostrophe',
    'Searchable 東京喰種': 'japanese',
  }
  if ((await other.get('/api/torrents?search=searchable')).text.includes('"total":0'))
    for (const name of Object.keys(names)) await uploaded(name)
  const again = await other.get(`/api/torrents?limit=100&search=${encodeURIComponent(search)}`)
  expect(found.status).toBe(200)
  expect(
    itemsOf(again)
      .map(({ name }) => names[name])
      .toSorted(),
  ).toEqual([...expected].toSorted())
})

test('sorts by each column in both directions, with a stable order of ties', async () => {
  const made = []
  for (const [i, size] of [300_000, 100_000, 200_000].entries()) {
    const answer = await member.upload(makeTorrent(`Sorted.${i}`, { size }), { category: 'xxx' })
    made.push(answer.member('id'))
  }
  const [a = '', b = '', c = ''] = made
  const set = (...counts: readonly [id: string, seeders: number, leechers: number, completed: number]) =>
    tracker.sql('update torrent_stats set seeders = $2, leechers = $3, completed = $4 where torrent_id = $1', counts)
  await Promise.all([set(a, 5, 1, 30), set(b, 7, 1, 10), set(c, 6, 1, 20)])
  const order = async (query: string) => idsOf(await other.get(`/api/torrents?category=xxx&${query}`))
  expect(await order('')).toEqual([c, b, a])
  expect(await order('sort=created&order=asc')).toEqual([a, b, c])
  expect(await order('sort=size')).toEqual([a, c, b])
  expect(await order('sort=size&order=asc')).toEqual([b, c, a])
  expect(await order('sort=seeders')).toEqual([b, c, a])
  expect(await order('sort=seeders&search=sorted')).toEqual([b, c, a])
  expect(await order('sort=leechers')).toEqual([c, b, a])
  expect(await order('sort=leechers&order=asc')).toEqual([a, b, c])
  expect(await order('sort=completed')).toEqual([a, c, b])
  expect(await order('sort=completed&order=asc&search=sorted')).toEqual([b, c, a])
  const pages = await Promise.all([1, 2, 3].map((page) => order(`sort=leechers&limit=1&page=${page}`)))
  expect(pages.flat()).toEqual([c, b, a])
})

function itemsOf(answer: { json: unknown }): { id: string; name: string }[] {
  return (answer.json as { items: { id: string; name: string }[] }).items
}

function idsOf(answer: { json: unknown }): string[] {
  return itemsOf(answer).map(({ id }) => id)
}

describe('the other lists', () => {
  let admin: Client
  const paths = new Map<string, string>()

  beforeAll(async () => {
    admin = await tracker.signedIn('admin', 'admin')
    const { json } = await admin.get('/api/user/me')
    const { id } = json as { id: string }
    for (let i = 0; i < 3; i++) {
      await admin.post('/api/user/invites')
      await tracker.client().post('/api/auth/login', { username: 'admin', password: PASSWORD })
    }
    const file = makeTorrent('Folder', { files: ['a', 'b', 'c'].map((name) => [name, 1_000] as const) })
    const torrent = await admin.upload(file, { category: 'other' })
    paths.set('files', `/api/torrents/${torrent.member('id')}/files`)
    paths.set('own sessions', '/api/auth/sessions')
    paths.set('sessions', `/api/admin/users/${id}/sessions`)
    paths.set('own invites', '/api/user/invites')
    paths.set('invites', `/api/admin/users/${id}/invites`)
    paths.set('categories', '/api/categories')
    paths.set('managed categories', '/api/admin/categories')
  })

  type List = { items: object[]; page: number; limit: number; total: number; totalIsExact: boolean }

  test.each([
    ['files', 25],
    ['own sessions', 25],
    ['sessions', 25],
    ['own invites', 25],
    ['invites', 25],
    ['categories', 1_000],
    ['managed categories', 1_000],
  ])('the list of %s is paginated in the same way', async (name, limit) => {
    const path = paths.get(name) ?? ''
    const read = async (query: string) => (await admin.get(path + query)).json as List
    const all = await read('')
    expect(all).toMatchObject({ page: 1, limit, total: all.items.length, totalIsExact: true })
    expect(all.total).toBeGreaterThan(2)
    const second = await read('?page=2&limit=2')
    expect(second).toMatchObject({ page: 2, limit: 2, total: all.total, totalIsExact: true })
    expect(second.items).toEqual(all.items.slice(2, 4))
    expect((await read('?page=5000&limit=2')).items).toEqual([])
    const refused = await admin.get(`${path}?limit=0`)
    expect([refused.status, refused.member('error', 'message')]).toEqual([400, expect.stringMatching(/^limit: /)])
  })
})
