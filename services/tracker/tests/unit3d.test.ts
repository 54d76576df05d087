import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parseTorrent } from '@vault-and-tracker/bencode-tracker/testing'
import { eventually } from '@vault-and-tracker/dev-env'
import { bearer, createToken } from './support/api-tokens.ts'
import { type Answer, type Client, createClient } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { createMember, type TestMember } from './support/members.ts'
import { metricOf } from './support/metrics.ts'
import { startRawUpload } from './support/raw-upload.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'
import { type Meta, type SiteEntry, searchExisting, torrentInfo, upload } from './tools/upload-assistant.ts'

/** The address of the site, which does not resolve. Earlier site entries have the second one. */
const SITE = 'http://tracker.test'
const BELOW = `${SITE}/unit3d`
const FILM = 'The.Long.Harbour.2020.1080p.WEB-DL.H.264-GROUP'

let tracker: TestTracker
let alice: TestMember
let bob: TestMember
let moderator: Client
/** The entries of alice and bob with tokens for uploading tools. */
let site: SiteEntry
let other: SiteEntry

beforeAll(async () => {
  tracker = await startTracker()
  await tracker.context.useCases.categories.seed()
  alice = await createMember(tracker, 'alice')
  bob = await createMember(tracker, 'bob')
  moderator = await tracker.signedIn('moderator', 'moderator')
  site = await entryOf(alice.client, BELOW)
  other = await entryOf(bob.client, SITE)
})
afterAll(() => tracker.stop())

async function entryOf(client: Client, baseUrl: string): Promise<SiteEntry> {
  const { token } = await createToken(client, ['upload', 'read', 'download', 'account'])
  return { fetch: reach, baseUrl, apiKey: token }
}

const reach = (url: string, init?: RequestInit) => fetch(url.replace(SITE, tracker.url), init)

const film = (more: Partial<Meta> = {}): Meta => ({
  ...{ name: FILM, torrent: makeTorrent(more.name ?? FILM), category: 'MOVIE', type: '4', resolution: '3', tmdb: 550 },
  ...more,
})
const get = (path: string, token: string, below = '') => createClient(tracker.url).get(below + path, bearer(token))
const form = (fields: Readonly<Record<string, string>>) => {
  const body = new FormData()
  for (const [name, value] of Object.entries({ category_id: '8000', ...fields })) body.append(name, value)
  body.append('torrent', new Blob([Uint8Array.from(makeTorrent(fields['name'] ?? ''))]), 'x.torrent')
  return body
}
const namesOf = (answer: Answer) =>
  (answer.json as { data: { attributes: { name: string } }[] }).data.map(({ attributes }) => attributes.name)
const filtered = async (query: string) => namesOf(await get(`/api/torrents/filter?${query}`, other.apiKey))

describe('an upload with the requests of Upload-Assistant', () => {
  test('arrives with everything that the catalogue knows, and is found and downloaded', async () => {
    const torrent = makeTorrent('harbour.mkv')
    const nfo = Buffer.from('NFO text')
    const fields = {
      ...{ description: '[center][url=https://example.org][img]https://example.org/a.png[/img][/url][/center]' },
      ...{ mediainfo: 'General\nComplete name : /home/alice/harbour.mkv', imdb: '0137523', anonymous: '1', scene: '1' },
    }
    const uploaded = await upload(site, film({ torrent, nfo, fields }))
    expect(uploaded.message).toBe('Torrent uploaded successfully.')
    const read = parseTorrent(uploaded.file)
    expect(uploaded.file.includes(alice.passkey)).toBe(false)

    const { items } = (await alice.client.get('/api/torrents')).json as { items: { id: string }[] }
    const id = items[0]?.id ?? ''
    expect((await alice.client.get(`/api/torrents/${id}`)).json).toMatchObject({
      ...{ name: FILM, infoHash: read.infoHash, category: 'movies-hd', imdb: 'tt0137523', tmdb: 550, tvdb: null },
      ...{ anonymous: true, scene: true, internal: false, description: '[Image](<https://example.org>)' },
    })
    const details = await alice.client.get(`/api/torrents/${id}/details`)
    expect(details.json).toMatchObject({ nfo: 'NFO text', mediaInfo: 'General\nComplete name : harbour.mkv' })

    const [dupe, ...others] = await searchExisting(other, film())
    expect(others).toEqual([])
    expect(dupe).toEqual({
      ...{
        name: FILM,
        size: 1_000_000,
        files: ['harbour.mkv'],
        link: `${SITE}/torrents/${id}`,
        id: uploaded.id,
      },
      ...{ download: expect.any(String), type: 'WEB-DL', res: '1080p', internal: false },
    })
    // Unit3Dup downloads without headers.
    const file = await reach(dupe?.download ?? '')
    expect(parseTorrent(Buffer.from(await file.arrayBuffer())).infoHash).toBe(read.infoHash)

    const known = { tmdb: 550, imdb: 137_523, tvdb: 0, mal: 0, category: 'Movies', infoHash: read.infoHash }
    const description = '[Image](<https://example.org>)'
    expect(await torrentInfo(other, { id: uploaded.id })).toEqual({ ...known, description })
    expect((await get(`/api/torrents/${uploaded.id}`, other.apiKey)).json).toMatchObject({
      ...{ type: 'torrent', id: uploaded.id },
      attributes: {
        ...{ uploader: 'Anonymous', media_info: 'General\nComplete name : harbour.mkv', category_id: 2040, type_id: 4 },
        ...{ resolution_id: 3, freeleech: '0%', double_upload: false, num_file: 1, release_year: 2020 },
      },
    })
    expect(await filtered('uploader=alice')).toEqual([])
    // Upload-Assistant prints this address.
    const page = await alice.client.get(`/unit3d/torrents/${uploaded.id}`)
    expect([page.status, page.headers.get('location')]).toEqual([302, `/torrents/${id}`])
    expect((await createClient(tracker.url).get(`/unit3d/torrents/${uploaded.id}`)).status).toBe(401)
  })

  test.each<[string, Partial<Meta>, Record<string, unknown>]>([
    ['the same torrent', {}, { info_hash: [expect.any(String)] }],
    ['an unknown category', { fields: { category_id: '77' } }, { category_id: [expect.any(String)] }],
    ['a malformed category', { fields: { category_id: 'x' } }, { category_id: [expect.any(String)] }],
    ['an empty name', { fields: { name: '' } }, { name: [expect.any(String)] }],
    ['no .torrent file', { torrent: Buffer.from('text') }, { torrent: [expect.any(String)] }],
    ['too long a text', { fields: { description: 'x'.repeat(20_001) } }, { description: [expect.any(String)] }],
  ])('names the field of %s, with the status and body of UNIT3D', async (_, more, data) => {
    const torrent = makeTorrent('refused', { pieces: Buffer.alloc(80) })
    await upload(site, film({ torrent })).catch(() => undefined)
    const error = await upload(site, film({ torrent, ...more })).then(() => '', String)
    const [, status, body = ''] = /HTTP (\d+) - (.*)$/.exec(error) ?? []
    expect([status, JSON.parse(body)]).toEqual(['404', { success: false, message: 'Validation Error.', data }])
  })

  test('an NFO file beyond the limit is refused, and its slot is free again', async () => {
    const error = await upload(site, film({ name: 'Large NFO', nfo: Buffer.alloc(48 * 1024 + 1) })).catch(String)
    expect(error).toMatch(/HTTP 413 - \{"success":false,"message":/)
    expect(await metricOf(tracker, 'tracker_uploads')).toBe(0)
  })

  test('internal counts from staff only', async () => {
    const staff = await entryOf(moderator, SITE)
    for (const [entry, internal] of [
      [site, false],
      [staff, true],
    ] as const) {
      const { id } = await upload(entry, film({ name: `Internal ${String(internal)}`, fields: { internal: '1' } }))
      const { json } = await get(`/api/torrents/${id}`, other.apiKey)
      expect(json).toMatchObject({ attributes: { internal } })
    }
  })

  test('a pending upload is for its uploader only', async () => {
    const admin = await tracker.signedIn('chief', 'admin')
    await admin.patch('/api/admin/site', { uploadApproval: 'manual' })
    const pending = await upload(site, film({ name: 'Pending 2021 720p WEB-DL' }))
    await admin.patch('/api/admin/site', { uploadApproval: 'automatic' })
    expect(parseTorrent(pending.file).infoHash).toMatch(/^[0-9a-f]{40}$/)
    expect((await get(`/api/torrents/${pending.id}`, site.apiKey)).status).toBe(200)
    expect((await get(`/api/torrents/${pending.id}`, other.apiKey)).json).toEqual({
      ...{ success: false, message: 'There is no such torrent.' },
    })
    expect(await filtered('name=Pending')).toEqual([])
  })
})

describe('the filter', () => {
  const NAMES = {
    dvd: 'Old.Pier.1999.480p.DVDRip.XviD-GROUP',
    uhd: 'Old.Pier.1999.2160p.UHD.BluRay.Remux.HEVC-GROUP',
    pack: 'Lighthouse.S02.1080p.WEBRip.x264-GROUP',
    episode: 'Lighthouse.S03E04.720p.HDTV.x264-GROUP',
  } as const
  let hash: string

  beforeAll(async () => {
    await upload(site, film({ name: NAMES.dvd, torrent: makeTorrent('a', { size: 100 }), tmdb: 1999 }))
    await upload(site, film({ name: NAMES.uhd, torrent: makeTorrent('b', { size: 900 }), tmdb: 1999 }))
    const files = [['Disc/Lighthouse.S02E01.mkv', 400]] as const
    const pack = { category: 'TV', tmdb: 1999, fields: { tvdb: '4', category_id: '5040' } } as const
    const { file } = await upload(site, film({ ...pack, name: NAMES.pack, torrent: makeTorrent('c', { files }) }))
    hash = parseTorrent(file).infoHash
    const episode = { category: 'TV', tmdb: 1, fields: { free: '100' } } as const
    const name = 'Lighthouse.S03E04.720p.HDTV.x264-GROUP.mkv'
    await upload(site, film({ ...episode, name: NAMES.episode, torrent: makeTorrent(name) }))
  })

  test.each<[string, readonly (keyof typeof NAMES)[]]>([
    ['tmdbId=1999', ['pack', 'uhd', 'dvd']],
    ['tmdbId=1999&categories[]=1', ['uhd', 'dvd']],
    ['tmdbId=1999&categories[]=2000&sortField=size&sortDirection=asc', ['dvd', 'uhd']],
    ['tmdbId=1999&categories[0]=5000&categories[1]=2045', ['pack', 'uhd']],
    ['tmdbId=1999&types[]=2', ['uhd']],
    ['tmdbId=1999&types[]=1&types[]=5', ['pack', 'dvd']],
    ['tmdbId=1999&types[]=0', ['pack', 'uhd', 'dvd']],
    ['tmdbId=1999&resolutions[]=8', ['dvd']],
    ['tmdbId=1999&resolutions[]=3&resolutions[]=4', ['pack']],
    ['name=lighthouse', ['episode', 'pack']],
    ['name=lighthouse&tmdbId=0', ['episode', 'pack']],
    ['name=lighthouse+S02', ['pack']],
    ['seasonNumber=3&episodeNumber=4', ['episode']],
    ['tvdbId=4', ['pack']],
    ['name=pier&startYear=1998&endYear=2000', ['uhd', 'dvd']],
    ['name=pier&startYear=2001', []],
    ['name=pier&uploader=alice&sortField=constructor&unknown=1', ['uhd', 'dvd']],
    ['name=pier&uploader=nobody', []],
    ['name=pier%00&uploader=alice%00', ['uhd', 'dvd']],
    ['categories[]=77', []],
    ['free[]=100', []],
    ['name=lighthouse&alive=1', []],
    ['name=lighthouse&dead=1', ['episode', 'pack']],
    ['name=lighthouse&dead=0&doubleup=0', ['episode', 'pack']],
    ['name=lighthouse&doubleup=1', []],
    ['name=lighthouse&featured=true', []],
    ['tmdbId=1999&perPage=1&page=2', ['uhd']],
    ['name=pier&page=9999&perPage=100', []],
    ['file_name=Lighthouse.S03E04.720p.HDTV.x264-GROUP.mkv', ['episode']],
    ['file_name=Lighthouse.mkv', []],
    ['infoHash=0000000000000000000000000000000000000000', []],
    ['%zz=1&name[]=x&tmdbId=1999&tmdbId=1&perPage=-1&imdbId=tt', ['pack', 'uhd', 'dvd']],
  ])('%s', async (query, found) => {
    expect(await filtered(query)).toEqual(found.map((key) => NAMES[key]))
  })

  test('by info hash, in either case', async () => {
    expect(await filtered(`infoHash=${hash.toUpperCase()}`)).toEqual([NAMES.pack])
  })

  test.each([SITE, BELOW])('files of folders have their path, and the list its pages, below %s', async (base) => {
    const query = `api_token=${other.apiKey}&tmdbId=1999&perPage=2`
    const answer = await reach(`${base}/api/torrents/filter?${query}`)
    const text = await answer.text()
    const at = (page: number) => `${base}/api/torrents/filter?tmdbId=1999&perPage=2&page=${String(page)}`
    expect(JSON.parse(text)).toMatchObject({
      data: [{ attributes: { files: [{ index: 1, name: 'Disc/Lighthouse.S02E01.mkv', size: 400 }] } }, {}],
      links: { first: at(1), last: null, prev: null, next: at(2), self: at(1) },
      meta: { current_page: 1, per_page: 2, from: 1, to: 2 },
    })
    expect(text).not.toContain(other.apiKey)
  })
})

test('a dashboard reads the figures of its member', async () => {
  await tracker.sql('update users set uploaded = $1, downloaded = $2 where id = $3', [
    ...[3 * 1024 ** 3, 1024 ** 3 + 10 * 1024 ** 2, bob.id],
  ])
  expect((await get('/api/user', other.apiKey)).json).toEqual({
    ...{
      username: 'bob',
      group: 'member',
      uploaded: '3 GiB',
      downloaded: '1.01 GiB',
      ratio: '2.97',
      buffer: '1.99 GiB',
    },
    ...{ seeding: 0, leeching: 0, seedbonus: '0', hit_and_runs: 0 },
  })
  // A completed torrent with seed time left, which the member is seeding, has just stopped, or abandoned.
  await tracker.sql(
    `insert into user_torrents (user_id, torrent_id, last_state, first_seen_at, last_seen_at, completed_at, downloaded_actual)
      select $1, id, 'seeder', now(), now(), now(), 10 from torrents where state = 'approved' limit 1`,
    [bob.id],
  )
  expect((await get('/api/user', other.apiKey)).json).toMatchObject({ seeding: 1, hit_and_runs: 0 })
  await tracker.sql(`update user_torrents set last_state = 'stopped' where user_id = $1`, [bob.id])
  expect((await get('/api/user', other.apiKey)).json).toMatchObject({ seeding: 0, hit_and_runs: 0 })
  const abandoned = `update user_torrents set last_seen_at = now() - interval '25 hours' where user_id = $1`
  await tracker.sql(abandoned, [bob.id])
  expect((await get('/api/user', other.apiKey)).json).toMatchObject({ seeding: 0, hit_and_runs: 1 })
  await tracker.sql('delete from user_torrents where user_id = $1', [bob.id])
  await tracker.sql('update users set downloaded = 0, uploaded = 0 where id = $1', [bob.id])
  expect((await get('/api/user', other.apiKey)).json).toMatchObject({ uploaded: '0 B', ratio: '∞', buffer: '0 B' })
})

describe('a tool that takes only the host of the address', () => {
  test.each([SITE, `${SITE}/`, BELOW])('tracker-tracker reads the figures from %s', async (base) => {
    const url = new URL('/api/user', base)
    url.searchParams.set('api_token', other.apiKey)
    expect(await (await reach(url.href)).json()).toMatchObject({ username: 'bob', seeding: 0 })
  })

  test.each([SITE, `${SITE}/`, BELOW, `${BELOW}/`])('Unit3Dup uploads, filters and lists at %s', async (base) => {
    const headers = bearer(site.apiKey)
    const at = (path: string) => new URL(path, base).href
    const name = `Unit3Dup.${String(base.length)}.2024.1080p.WEB-DL-GROUP`
    const body = form({ name, category_id: '1', type_id: '4', resolution_id: '3', tmdb: '77' })
    const uploaded = await reach(at('api/torrents/upload'), { method: 'POST', body, headers })
    expect(await uploaded.json()).toMatchObject({ success: true })
    const found = await Promise.all(
      ['filter?tmdbId=77&perPage=1', '?perPage=1'].map(async (list) => {
        const answer = await reach(at(`api/torrents/${list}`), { headers })
        return ((await answer.json()) as { data: { id: string; attributes: { name: string } }[] }).data[0]
      }),
    )
    expect(found.map((each) => each?.attributes.name)).toEqual([name, name])
    const one = await reach(at(`api/torrents/${found[0]?.id ?? ''}`), { headers })
    expect(await one.json()).toMatchObject({ type: 'torrent', attributes: { name } })
  })
})

describe('the token', () => {
  const post = (body: FormData, query = '') =>
    createClient(tracker.url).send('POST', `/api/torrents/upload${query}`, { body })

  test('may be a parameter or a field of the form, and is never logged', async () => {
    expect((await post(form({ name: 'By field', api_token: site.apiKey }))).status).toBe(200)
    expect((await post(form({ name: 'By parameter' }), `?api_token=${site.apiKey}`)).status).toBe(200)
    expect((await createClient(tracker.url).get(`/api/user?api_token=${site.apiKey}`)).status).toBe(200)
    const written = tracker.logged() + (await tracker.client().get('/metrics')).text
    expect(written).not.toContain(site.apiKey)
  })

  test.each([
    ['no token', () => post(form({ name: 'x' })), 401],
    ['an unknown one in a field', () => post(form({ name: 'x', api_token: 'vtt_x' })), 401],
    ['an unknown one in a parameter', () => post(form({ name: 'x', api_token: site.apiKey }), '?api_token=x'), 401],
    ['a cookie', () => alice.client.get('/api/user'), 401],
    ['a passkey', () => get('/api/user', alice.passkey), 401],
    ['JSON', () => createClient(tracker.url).post('/api/torrents/upload', { api_token: 'x' }), 401],
    ['an unknown path', () => get('/api/torrents', site.apiKey, '/unit3d'), 404],
    ['a number that no torrent has', () => get('/api/torrents/999999999999999', site.apiKey), 404],
    ['a path of the REST API', () => get('/api/torrents/facets', site.apiKey, '/unit3d'), 404],
    ['another method', () => createClient(tracker.url).delete('/api/user'), 405],
  ])('%s is refused in the shape of UNIT3D', async (_, ask, status) => {
    const answer = await ask()
    expect([answer.status, answer.json]).toEqual([status, { success: false, message: expect.any(String) }])
    expect(await metricOf(tracker, 'tracker_uploads')).toBe(0)
  })

  test('needs the scope of each request', async () => {
    const { token } = await createToken(alice.client, ['torznab'])
    const denied = [
      await get('/api/user', token),
      await get('/api/torrents/filter', token),
      await get('/api/torrents/1', token),
      await post(form({ name: 'x', api_token: token })),
    ]
    expect(denied.map(({ status, json }) => [status, (json as { message: string }).message])).toEqual(
      ['account', 'read', 'read', 'upload'].map((scope) => [403, `This API token does not have the scope ${scope}.`]),
    )
  })

  test('does not open the REST API as a parameter, whose answers stay as they are', async () => {
    const anyone = createClient(tracker.url)
    expect((await anyone.get(`/api/torrents?api_token=${site.apiKey}`)).status).toBe(401)
    for (const missing of [
      await alice.client.get('/api/torrents/1'),
      await anyone.get(`/api/torrents/${randomUUID()}`, bearer(site.apiKey)),
      await anyone.get('/api/torrents/1x', bearer(site.apiKey)),
    ])
      expect([missing.status, missing.member('error', 'code')]).toEqual([404, 'NOT_FOUND'])
    expect((await anyone.get('/api/torrents', bearer(site.apiKey))).json).toHaveProperty('items')
  })

  test('revoked, its links end; a link opens nothing but its torrent', async () => {
    const { id: token, token: text } = await createToken(bob.client, ['read', 'download'])
    const { json } = await get('/api/torrents/filter?perPage=2', text)
    const { data } = json as { data: { id: string; attributes: { download_link: string } }[] }
    const [first, second] = data
    const link = first?.attributes.download_link ?? ''
    const [, key = ''] = /\.torrent\?rsskey=([0-9a-f]{64})$/.exec(link) ?? []
    expect((await reach(link)).status).toBe(200)
    expect((await reach(link, { method: 'HEAD' })).status).toBe(200)
    const swapped = `${SITE}/unit3d/torrent/download/${second?.id ?? ''}.torrent?rsskey=${key}`
    expect([(await reach(swapped)).status, (await get('/api/user', key)).status]).toEqual([401, 401])
    const flipped = key.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
    expect((await reach(link.replace(key, flipped))).status).toBe(401)
    expect((await reach(link.replace(key, ''))).status).toBe(401)
    await bob.client.delete(`/api/tokens/${token}`)
    expect((await reach(link)).status).toBe(401)
    expect(tracker.logged()).not.toContain(key)
  })

  test('forms that are read before it take slots of their own', async () => {
    const start = () =>
      startRawUpload(tracker.url, createClient(tracker.url), makeTorrent('x'), '/unit3d/api/torrents/upload')
    const stalled = await start()
    stalled.send(10)
    await eventually(async () => (await metricOf(tracker, 'tracker_uploads')) === 1)
    const second = await post(form({ name: 'Second', api_token: site.apiKey }))
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '5'])
    expect(second.json).toEqual({ success: false, message: expect.any(String) })
    const identified = await upload(site, film({ name: 'Identified' }))
    expect(identified.id).toMatch(/^\d+$/)
    stalled.socket.destroy()
    await eventually(async () => (await metricOf(tracker, 'tracker_uploads')) === 0)
    expect((await post(form({ name: 'Second', api_token: site.apiKey }))).status).toBe(200)
  })
})
