import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import RssParser from 'rss-parser'
import { apiError } from '../src/errors.ts'
import { createSavedSearchStore } from '../src/saved-searches/saved-searches.store.ts'
import { createSavedSearches } from '../src/saved-searches/saved-searches.ts'
import { readListFilters } from '../src/torrents/torrent-filters.routes.ts'
import { createClient } from './support/client.ts'
import { createMember, type TestMember } from './support/members.ts'
import { type ReadFeed, readFeed, setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'
import { PASSWORD, type TestTracker } from './support/tracker.ts'

let site: TorznabSite
let replica: TestTracker
let alice: TestMember
let bob: TestMember

beforeAll(async () => {
  site = await startTorznabSite()
  replica = await site.tracker.replica()
  await setLimits(site.tracker)
  alice = await createMember(site.tracker, 'alice')
  bob = await createMember(site.tracker, 'bob')
})
afterAll(async () => {
  await replica.stop()
  await site.tracker.stop()
})

type Saved = { id: string; name: string; filters: string; notify: boolean; recent: unknown }

const save = (member: TestMember, name: string, filters: string, notify?: boolean) =>
  member.client.post('/api/saved-searches', { name, filters, ...(notify !== undefined && { notify }) })
const savedBy = async ({ client }: TestMember) =>
  ((await client.get('/api/saved-searches')).json as { items: Saved[] }).items
const bookmark = (member: TestMember, id: string, method = 'PUT') => member.client.send(method, `/api/bookmarks/${id}`)
const list = async ({ client }: TestMember, query: string) =>
  ((await client.get(`/api/torrents?${query}`)).json as { items: { name: string; bookmarked: boolean }[] }).items
const createFeed = ({ client }: TestMember, savedSearch: string | null, category: string | null = null) =>
  client.post('/api/feed-tokens', { savedSearch, category })

/** A feed address as a reader uses it, at another replica and without a session. */
const pathOf = (url: string): string => url.replace('http://tracker.test', '')
const read = (url: string, headers?: Record<string, string>) => createClient(replica.url).get(pathOf(url), headers)
const items = async (url: string): Promise<ReadFeed['items']> => (await readFeed(await read(url))).items

test('a search is saved, renamed, changed and deleted', async () => {
  const created = await save(alice, 'Films in 4K', 'resolution=2160p&category=movies&sort=size')
  expect([created.status, created.json]).toEqual([
    201,
    expect.objectContaining({
      name: 'Films in 4K',
      filters: 'resolution=2160p&category=movies&sort=size',
      notify: false,
    }),
  ])
  const path = `/api/saved-searches/${created.member('id')}`
  expect((await alice.client.patch(path, { name: 'Films', notify: true })).json).toMatchObject({
    ...{ name: 'Films', notify: true, filters: 'resolution=2160p&category=movies&sort=size' },
  })
  expect((await alice.client.patch(path, { filters: 'search=-x264' })).json).toMatchObject({ filters: 'search=-x264' })
  expect(await savedBy(alice)).toMatchObject([{ name: 'Films', filters: 'search=-x264', notify: true }])
  expect((await alice.client.delete(path)).status).toBe(204)
  expect((await alice.client.delete(path)).status).toBe(404)
  expect(await savedBy(alice)).toEqual([])
})

test.each([
  ['page=2'],
  ['resolution=2160p&state=pending'],
  ['resolution=9000p'],
  ['season=1-50&episode=1-9'],
  ['search=a&search=b'],
  ['year=%zz'],
  ['__proto__=1'],
])('a search with the filters %j is refused', async (filters) => {
  const refused = await save(alice, 'Refused', filters)
  expect([refused.status, refused.member('error', 'message')]).toEqual([400, expect.stringMatching(/^filters: /)])
})

test('control characters are refused', async () => {
  for (const filters of ['search=a\u0000', 'search=a\u202e', '\n'.repeat(3) + 'search=\u0007'])
    expect((await save(alice, 'Refused', filters)).status).toBe(400)
})

test('names are unique, ignoring case, and there are at most 25 searches, even if created concurrently', async () => {
  const taken = await save(bob, 'Mine', 'alive=true')
  const other = await save(bob, 'Other', '')
  for (const refused of [
    await save(bob, 'MINE', ''),
    await bob.client.patch(`/api/saved-searches/${other.member('id')}`, { name: 'mine' }),
  ])
    expect([refused.status, refused.member('error', 'message')]).toEqual([409, expect.stringMatching(/^name: /)])
  expect((await save(alice, 'Mine', '')).status).toBe(201)
  const more = await Promise.all(Array.from({ length: 30 }, (_, i) => save(bob, `Search ${String(i)}`, 'season=1')))
  expect(more.filter(({ status }) => status === 201)).toHaveLength(23)
  expect(new Set(more.map(({ status }) => status))).toEqual(new Set([201, 409]))
  for (const { id } of await savedBy(bob)) await bob.client.delete(`/api/saved-searches/${id}`)
  expect(taken.status).toBe(201)
})

test('a saved search belongs to one member', async () => {
  const id = (await save(alice, 'Private', 'season=1')).member('id')
  const path = `/api/saved-searches/${id}`
  const tries = [
    await bob.client.patch(path, { name: 'Taken' }),
    await bob.client.delete(path),
    await bob.client.post(`${path}/visit`),
    await createFeed(bob, id),
  ]
  expect(tries.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  expect(await savedBy(alice)).toContainEqual(expect.objectContaining({ id, name: 'Private' }))
})

test('matches are counted since the last visit, and not those of other searches or states', async () => {
  await site.upload('Counted.Harbour.S01E01.1080p.WEB.x264-GRP')
  const id = (await save(alice, 'Counted', 'search=counted harb&resolution=1080p')).member('id')
  const gone = (await save(alice, 'Gone', 'category=music')).member('id')
  const recentOf = async (searched: string) => (await savedBy(alice)).find((each) => each.id === searched)?.recent
  expect(await recentOf(id)).toEqual({ count: 0, isExact: true })
  site.tracker.advance(1_000)
  replica.advance(1_000)
  await site.upload('Counted.Harbour.S01E02.1080p.WEB.x264-GRP')
  await site.upload('Counted.Harbour.S01E02.720p.WEB.x264-GRP')
  const pending = await site.upload('Counted.Harbour.S01E03.1080p.WEB.x264-GRP')
  await site.tracker.sql("update torrents set state = 'pending' where id = $1", [pending.id])
  expect(await recentOf(id)).toEqual({ count: 1, isExact: true })
  site.tracker.advance(1_000)
  expect((await alice.client.post(`/api/saved-searches/${id}/visit`)).status).toBe(204)
  expect(await recentOf(id)).toEqual({ count: 0, isExact: true })
  await site.tracker.sql(`update saved_searches set filters = 'uploader=nobody-here' where id = $1`, [gone])
  expect(await recentOf(gone)).toBeNull()
  await site.tracker.sql(`update saved_searches set filters = 'colour=green' where id = $1`, [gone])
  expect(await recentOf(gone)).toBeNull()
})

test('new matches notify the member once, if they want that', async () => {
  const wanted = (await save(alice, 'Notifying', 'search=notified&alive=true', true)).member('id')
  await save(alice, 'Silent', 'search=notified')
  const { id } = await site.upload('Notified.Harbour.S01E01.1080p.WEB.x264-GRP')
  const notices = async () => ((await alice.client.get('/api/notices?unread=true')).json as { items: unknown[] }).items
  site.tracker.advance(120_000)
  const before = site.tracker.now()
  for (const { context } of [site.tracker, site.tracker, replica])
    await context.useCases.savedSearches.notifyOfMatches()
  const notice = {
    ...{ kind: 'search', times: 1, torrent: { id, name: 'Notified.Harbour.S01E01.1080p.WEB.x264-GRP' } },
    details: { search: { id: wanted, name: 'Notifying' } },
  }
  expect(await notices()).toMatchObject([notice])
  // Notices that the member has seen are marked as read up to a time, which must not contain later ones.
  const [{ created }] = (await notices()) as [{ created: string }]
  expect(Date.parse(created)).toBeGreaterThanOrEqual(before)
  site.tracker.advance(120_000)
  await site.upload('Notified.Harbour.S01E02.1080p.WEB.x264-GRP')
  await site.upload('Notified.Harbour.S01E03.1080p.WEB.x264-GRP')
  await site.tracker.sql("update saved_searches set filters = 'category=gone' where name = 'Silent'")
  site.tracker.advance(120_000)
  await site.tracker.context.useCases.savedSearches.notifyOfMatches()
  expect(await notices()).toMatchObject([{ kind: 'search', times: 3 }])
})

test('a search that is refused notifies later, and does not keep others from their turn', async () => {
  await save(alice, 'Refused', 'search=refused', true)
  await save(bob, 'Admitted', 'search=refused', true)
  const { search } = site.tracker.context.useCases
  let isBusy = true
  const savedSearches = createSavedSearches({
    store: createSavedSearchStore(site.tracker.db),
    search: {
      recent: (queries, member, holder) =>
        isBusy && member === alice.id
          ? Promise.reject(apiError('UNAVAILABLE'))
          : search.recent(queries, member, holder),
    },
    readFilters: readListFilters,
    publish: () => Promise.resolve(),
    clock: { now: () => site.tracker.now() },
  })
  await site.upload('Refused.Harbour.S01E01.1080p.WEB.x264-GRP')
  const namesOf = async ({ client }: TestMember) =>
    ((await client.get('/api/notices?unread=true')).json as { items: { torrent: { name: string } | null }[] }).items
      .map(({ torrent }) => torrent?.name ?? '')
      .filter((name) => name.startsWith('Refused'))
  site.tracker.advance(120_000)
  await savedSearches.notifyOfMatches()
  expect(await namesOf(bob)).toHaveLength(1)
  isBusy = false
  await savedSearches.notifyOfMatches()
  expect([await namesOf(alice), await namesOf(bob)]).toEqual([[expect.anything()], [expect.anything()]])
})

test('bookmarks are a list, end with their torrent, and are one of each', async () => {
  const kept = await site.upload('Bookmarked.Kept.S01E01.1080p.WEB.x264-GRP')
  const other = await site.upload('Bookmarked.Other.S01E01.1080p.WEB.x264-GRP')
  const adds = await Promise.all([kept, kept, other].map(({ id }) => bookmark(alice, id)))
  expect(adds.map(({ status }) => status)).toEqual([204, 204, 204])
  expect(await list(alice, 'mine=bookmarked')).toMatchObject([
    { name: expect.stringContaining('Other'), bookmarked: true },
    { name: expect.stringContaining('Kept'), bookmarked: true },
  ])
  expect(await list(alice, 'mine=bookmarked&search=kept')).toHaveLength(1)
  expect(await list(bob, 'search=bookmarked')).toMatchObject([{ bookmarked: false }, { bookmarked: false }])
  expect(await list(bob, 'mine=bookmarked')).toEqual([])
  expect((await alice.client.get(`/api/torrents/${kept.id}`)).json).toMatchObject({ bookmarked: true })
  expect((await bookmark(alice, other.id, 'DELETE')).status).toBe(204)
  expect((await bookmark(alice, other.id, 'DELETE')).status).toBe(204)
  await site.uploader.client.delete(`/api/torrents/${kept.id}`)
  expect(await list(alice, 'mine=bookmarked')).toEqual([])
  const refused = [await bookmark(alice, kept.id), await bookmark(alice, 'x'), await bookmark(alice, alice.id)]
  expect(refused.map(({ status }) => status)).toEqual([404, 404, 404])
  await site.tracker.sql("update torrents set deleted_at = deleted_at - interval '40 days' where id = $1", [kept.id])
  await site.tracker.context.useCases.torrents.purgeDeleted()
  expect(await site.tracker.sql('select 1 from bookmarks where torrent_id = $1', [kept.id])).toEqual([])
})

test('a member has at most 1,000 bookmarks', async () => {
  const { id } = await site.upload('Thousand.And.First.S01E01.1080p.WEB.x264-GRP')
  await site.tracker.sql(
    `with made as (
       insert into torrents (id, info_hash, name, category_id, size, file_count, search, created_at)
       select gen_random_uuid(), decode(lpad(to_hex(n), 40, '0'), 'hex'), 'many ' || n,
         (select id from categories where slug = 'books'), 1, 1, '', now() from generate_series(1, 1000) as n
       returning id)
     insert into bookmarks select $1, id, now() from made`,
    [bob.id],
  )
  expect((await bookmark(bob, id)).status).toBe(409)
  await site.tracker.sql('delete from bookmarks where user_id = $1', [bob.id])
})

describe('a feed', () => {
  let url: string
  let tokenId: string
  let searchId: string

  beforeAll(async () => {
    await site.upload('Feeding.Harbour.S01E01.1080p.WEB.x264-GRP')
    await site.upload('Feeding.Harbour.S01E02.720p.WEB.x264-GRP')
    searchId = (await save(alice, 'Harbour <&> more', 'search=feeding&resolution=1080p&sort=seeders')).member('id')
    const created = await createFeed(alice, searchId)
    expect(created.status).toBe(201)
    ;[url, tokenId] = [created.member('url'), created.member('id')]
  })

  test('has the matches of its search, and a reader downloads their torrents for its owner', async () => {
    const answer = await read(url)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/rss+xml; charset=utf-8'])
    const [item, ...others] = (await readFeed(answer)).items
    expect(others).toEqual([])
    const { title, items: entries } = await new RssParser().parseString(answer.text)
    expect([title?.startsWith('Harbour <&> more'), entries]).toEqual([
      true,
      [expect.objectContaining({ title: item?.title, link: item?.link, guid: item?.guid })],
    ])
    expect(item).toMatchObject({ title: 'Feeding.Harbour.S01E01.1080p.WEB.x264-GRP' })
    const file = await read(item?.enclosure['url'] ?? '')
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'application/x-bittorrent'])
    expect(file.bytes.includes(alice.passkey)).toBe(false)
    expect(answer.text).not.toContain(alice.passkey)
  })

  test('has links that download one torrent and open nothing else', async () => {
    const [{ link } = { link: '' }] = await items(url)
    const { id } = (await list(alice, 'search=feeding&resolution=720p'))[0] as unknown as { id: string }
    const key = new URL(link).searchParams.get('token') ?? ''
    const token = new URL(url).searchParams.get('token') ?? ''
    expect((await read(link)).status).toBe(200)
    for (const path of [
      `/api/feeds/download?id=${id}&token=${key}`,
      `/api/feeds/download?id=${id}&token=${token}`,
      link.replace(key, `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`),
      `/api/feeds/rss?token=${key}`,
      `/api/torznab?t=search&apikey=${key}`,
    ])
      expect([path, (await read(path)).status]).toEqual([path, 401])
    expect((await read(`${link}&id=${id}`)).status).toBe(400)
  })

  test('refuses lists that do not exist, whatever their names', async () => {
    for (const name of ['%00', '..%2F', 'a'.repeat(5_000), '%ED%A0%80', '__proto__', ''])
      for (const list of ['category', 'savedSearch'])
        for (const format of ['rss', 'json']) {
          const { status } = await alice.client.get(`/api/feeds/${format}?${list}=${name}`)
          expect([list, name, [400, 404].includes(status)]).toEqual([list, name, true])
        }
    const both = `/api/feeds/rss?category=tv&savedSearch=${searchId}`
    expect((await alice.client.get(both)).text).toContain('<title>Harbour &lt;&amp;&gt; more')
  })

  test('is also a JSON Feed, whose entries are for people to read', async () => {
    const jsonUrl = url.replace('/rss?', '/json?')
    await site.tracker.sql('update torrent_stats set seeders = 1, leechers = 2')
    const answer = await read(jsonUrl)
    expect(answer.headers.get('content-type')).toBe('application/feed+json; charset=utf-8')
    const [{ guid, link } = { guid: '', link: '' }] = await items(url)
    const entry = {
      ...{ id: guid, url: guid, title: 'Feeding.Harbour.S01E01.1080p.WEB.x264-GRP', tags: [] },
      content_text: 'TV / HD, 976.6 KiB, 1 seeder, 2 leechers',
      date_published: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      authors: [{ name: 'uploader' }],
      attachments: [{ url: link, mime_type: 'application/x-bittorrent' }],
    }
    expect(JSON.parse(answer.text)).toEqual({
      ...{ version: 'https://jsonfeed.org/version/1.1', language: 'en', home_page_url: 'http://tracker.test/saved' },
      title: expect.stringMatching(/^Harbour <&> more/),
      description: expect.any(String),
      items: [entry],
    })
    const etag = answer.headers.get('etag') ?? ''
    await site.tracker.sql('update torrent_stats set seeders = 5')
    expect((await read(jsonUrl, { 'if-none-match': etag })).status).toBe(304)
    expect((await read(url)).text).toContain('<description>TV / HD, 976.6 KiB, 5 seeders, 2 leechers</description>')
  })

  test('of a category follows its slug and ends with it', async () => {
    const admin = await site.tracker.signedIn('boss', 'admin')
    const sub = { slug: 'harbours', name: 'Harbours', torznabId: 100_500, parent: 'tv' }
    const made = await admin.post('/api/admin/categories', sub)
    await site.upload('Categorised.Harbour.S01E01.1080p.WEB.x264-GRP', { category: 'harbours', anonymous: 'true' })
    const created = await createFeed(alice, null, 'harbours')
    const feed = created.member('url')
    const titles = async () => (await items(feed)).map(({ title }) => title)
    expect(await titles()).toEqual(['Categorised.Harbour.S01E01.1080p.WEB.x264-GRP'])
    const json: unknown = JSON.parse((await read(created.member('jsonUrl'))).text)
    expect(json).toMatchObject({ title: expect.stringMatching(/^TV \/ Harbours/) })
    expect(json).not.toHaveProperty('items.0.authors')
    const renamed = await admin.patch(`/api/admin/categories/${made.member('id')}`, { slug: 'ports' })
    expect(renamed.status).toBe(200)
    expect(await titles()).toHaveLength(1)
    expect((await alice.client.get('/api/feed-tokens')).json).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ category: 'ports', savedSearch: null })]),
    })
    expect((await createFeed(alice, null, 'harbours')).status).toBe(404)
    expect((await createFeed(alice, searchId, 'ports')).status).toBe(400)
    await site.tracker.sql("update categories set deleted_at = now() where slug = 'ports'")
    expect((await read(feed)).status).toBe(401)
    await site.tracker.sql("update categories set deleted_at = null where slug = 'ports'")
  })

  test('opens with the session of a browser, whose links need it too', async () => {
    const own = (list: string) => alice.client.get(`/api/feeds/rss?${list}`)
    const [item] = (await readFeed(await own(`savedSearch=${searchId}`))).items
    expect(item?.link).toMatch(/^http:\/\/tracker\.test\/api\/torrents\/[^/]+\/download$/)
    expect((await alice.client.get(pathOf(item?.link ?? ''))).status).toBe(200)
    expect((await readFeed(await own('category=tv'))).items).not.toHaveLength(0)
    expect((await own('category=nothing')).status).toBe(404)
    expect((await bob.client.get(`/api/feeds/json?savedSearch=${searchId}`)).status).toBe(404)
    expect((await read('/api/feeds/rss')).status).toBe(401)
  })

  test('has a tag that only its items change', async () => {
    const first = await read(url)
    const etag = first.headers.get('etag') ?? ''
    await site.tracker.sql('update torrent_stats set seeders = seeders + 7, completed = completed + 3')
    const unchanged = await read(url, { 'if-none-match': etag })
    expect([unchanged.status, unchanged.text, unchanged.headers.get('etag')]).toEqual([304, '', etag])
    const before = (await items(url)).map(({ guid, link, pubDate }) => ({ guid, link, pubDate }))
    site.tracker.advance(1_000)
    await site.upload('Feeding.Harbour.S01E03.1080p.WEB.x264-GRP')
    const changed = await read(url, { 'if-none-match': etag })
    expect(changed.status).toBe(200)
    const after = (await readFeed(changed)).items.map(({ guid, link, pubDate }) => ({ guid, link, pubDate }))
    expect(after.slice(1)).toEqual(before)
  })

  test('of bookmarks has the last bookmarked first', async () => {
    const feed = (await createFeed(alice, null)).member('url')
    const [older, newer] = (await list(site.uploader, 'search=feeding')).map(
      (each) => each as unknown as { id: string },
    )
    for (const { id } of [older, newer].flatMap((each) => each ?? [])) {
      site.tracker.advance(1_000)
      expect((await bookmark(alice, id)).status).toBe(204)
    }
    expect((await items(feed)).map(({ guid }) => guid)).toEqual([
      `http://tracker.test/torrents/${newer?.id ?? ''}`,
      `http://tracker.test/torrents/${older?.id ?? ''}`,
    ])
  })

  test('needs its own token, which is neither a passkey nor stored', async () => {
    const token = new URL(url).searchParams.get('token') ?? ''
    const wrong = [
      '',
      '?token=',
      `?token=${alice.passkey}`,
      `?token=${token}&token=${token}`,
      `?token=${token.slice(1)}`,
    ]
    for (const query of wrong) expect((await read(`/api/feeds/rss${query}`)).status).toBe(401)
    expect((await site.ask(`t=search&apikey=${token}`)).status).toBe(401)
    expect((await read(`/announce?passkey=${token}&info_hash=${'a'.repeat(20)}`)).text).toContain('failure reason')
    expect((await createClient(replica.url).get('/api/user/me', { cookie: `session=${token}` })).status).toBe(401)
    const [stored] = await site.tracker.sql<{ text: string }>(
      'select string_agg(tokens::text, $1) as text from tokens',
      [','],
    )
    expect(stored?.text).not.toContain(token)
    expect(replica.logged() + site.tracker.logged()).not.toContain(token)
    expect((await replica.client().get('/metrics')).text).not.toContain(token)
  })

  test('stops when its token is revoked, on every replica, and others go on', async () => {
    const second = await createFeed(alice, searchId)
    const other = second.member('url')
    const [item] = await items(other)
    await replica.context.useCases.tokenUses.flush()
    expect((await alice.client.get('/api/feed-tokens')).json).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ id: second.member('id'), lastUsed: expect.any(String) }),
      ]),
    })
    expect((await bob.client.delete(`/api/feed-tokens/${second.member('id')}`)).status).toBe(404)
    expect((await alice.client.delete(`/api/feed-tokens/${second.member('id')}`)).status).toBe(204)
    expect([(await read(other)).status, (await read(item?.link ?? '')).status]).toEqual([401, 401])
    expect((await read(url)).status).toBe(200)
  })

  test('follows the state of its owner and the switch of the API', async () => {
    const link = (await items(url))[0]?.link ?? ''
    const statusWhen = async (changes: string, back: string) => {
      await site.tracker.sql(`update users set ${changes} where id = $1`, [alice.id])
      const statuses = [(await read(url)).status, (await read(link)).status]
      await site.tracker.sql(`update users set ${back} where id = $1`, [alice.id])
      return statuses
    }
    expect(await statusWhen("state = 'suspended'", "state = 'active'")).toEqual([403, 403])
    const { accounts } = site.tracker.context.useCases
    await accounts.change(
      alice.id,
      { state: 'suspended', suspendedUntil: new Date('2999-01-31') },
      undefined,
      'Shared.',
    )
    const signIn = await alice.client.post('/api/auth/login', { username: 'alice', password: PASSWORD })
    expect((await read(url)).json).toEqual(signIn.json)
    await accounts.change(alice.id, { state: 'active' })
    expect(await statusWhen("state = 'banned'", "state = 'active'")).toEqual([401, 401])
    expect(await statusWhen('api_blocked = true', 'api_blocked = false')).toEqual([403, 403])
    expect(await statusWhen('can_download = false', 'can_download = true')).toEqual([200, 403])
    const { torznabConfiguration } = replica.context.useCases
    await torznabConfiguration.change({ enabled: false }, alice.id)
    expect((await read(url)).status).toBe(403)
    await torznabConfiguration.change({ enabled: true }, alice.id)
  })

  test('counts against the limits of the Torznab API', async () => {
    await setLimits(site.tracker, { searches: 2, downloads: 1 })
    const carol = await createMember(site.tracker, 'carol')
    const own = (await createFeed(carol, null)).member('url')
    const torznab = `/api/torznab?t=search&apikey=${carol.passkey}`
    expect([(await read(own)).status, (await read(torznab)).status]).toEqual([200, 200])
    const refused = await read(own)
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    await setLimits(site.tracker)
  })

  test('ends with its saved search', async () => {
    expect((await alice.client.delete(`/api/saved-searches/${searchId}`)).status).toBe(204)
    expect((await read(url)).status).toBe(401)
    expect((await alice.client.delete(`/api/feed-tokens/${tokenId}`)).status).toBe(404)
  })

  test('has at most 50 addresses per member', async () => {
    await site.tracker.sql('delete from tokens where user_id = $1', [bob.id])
    const statuses: number[] = []
    // More at once could wait too long for a connection to Postgres on a busy machine.
    for (let i = 0; i < 5; i++) {
      const created = await Promise.all(Array.from({ length: 11 }, () => createFeed(bob, null)))
      statuses.push(...created.map(({ status }) => status))
    }
    expect(statuses.toSorted()).toEqual([
      ...Array.from({ length: 50 }, () => 201),
      ...Array.from({ length: 5 }, () => 409),
    ])
    await site.tracker.sql('delete from tokens where user_id = $1', [bob.id])
  })

  test('a wrong token is refused 20 times per address, and right ones still work', async () => {
    const feedOfBob = (await createFeed(bob, null)).member('url')
    const wrong = 'w'.repeat(32)
    const statuses = []
    for (let i = 0; i < 25; i++) statuses.push((await read(`/api/feeds/rss?token=${wrong}`)).status)
    expect(statuses.at(-1)).toBe(429)
    expect(statuses).toContain(401)
    expect((await read(feedOfBob)).status).toBe(200)
  })
})
