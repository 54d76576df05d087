import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createReindexStore } from '../src/torrents/reindex.store.ts'
import { createReindex } from '../src/torrents/reindex.ts'
import type { Answer, Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { createMember, type TestMember } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let alice: TestMember
let bob: TestMember
let moderator: Client

beforeAll(async () => {
  tracker = await startTracker()
  await tracker.context.useCases.categories.seed()
  alice = await createMember(tracker, 'alice')
  bob = await createMember(tracker, 'bob')
  moderator = await tracker.signedIn('mod', 'moderator')
})
afterAll(() => tracker.stop())

/** Uploads a torrent with this name and new content. */
function upload(name: string, fields: Record<string, string> = {}, by: Client = alice.client): Promise<Answer> {
  return by.upload(makeTorrent(name), { category: 'movies', ...fields })
}

function preview(torrent: Buffer, fields: Record<string, string> = {}, by: Client = bob.client): Promise<Answer> {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  body.append('torrent', new Blob([Uint8Array.from(torrent)]), 'upload.torrent')
  return by.send('POST', '/api/torrents/preview', { body })
}

/** The relations of a list of related torrents, by name. */
function relationsOf(answer: Answer): Record<string, string> {
  const { related } = answer.json as { related: { relation: string; torrent: { name: string } }[] }
  return Object.fromEntries(related.map(({ relation, torrent }) => [torrent.name, relation]))
}

test('only staff and the uploader see who uploaded an anonymous torrent', async () => {
  const name = 'Hidden.Hand.2024.1080p.WEB-DL.H.264-ONE'
  const id = (await upload(name, { anonymous: 'true', duplicateReason: 'alice says so' })).member('id')
  const other = (await upload(name.replace('1080p', '720p'))).member('id')
  const everything = [
    ...[`/api/torrents/${id}`, `/api/torrents/${id}/details`, `/api/torrents/${other}/details`, '/api/categories'],
    ...['/api/torrents?search=hidden', '/api/torrents?uploader=bob', '/api/torrents/facets?uploader=alice'],
    ...[`/api/user/${alice.id}/stats`, `/api/torznab?t=search&q=hidden&apikey=${bob.passkey}`],
  ]
  const asBob = await Promise.all(everything.map((path) => bob.client.get(path)))
  const texts = asBob.map(({ text }) => text.replaceAll(other, ''))
  // The other torrent of alice is not anonymous.
  expect(texts[0]).not.toMatch(/alice/)
  expect(asBob[0]?.json).toMatchObject({ uploader: null, uploaderId: null, anonymous: true, duplicateReason: null })
  const list = asBob[4]?.json as { items: { id: string; uploader: string | null; uploaderId: string | null }[] }
  expect(list.items.map((each) => [each.id, each.uploader, each.uploaderId])).toEqual([
    [other, 'alice', alice.id],
    [id, null, null],
  ])
  expect(relationsOf(asBob[2] as Answer)).toEqual({ [name]: 'version' })
  expect(asBob[2]?.text).not.toMatch(/alice/)
  expect(asBob[6]?.json).toMatchObject({ total: 1 })
  const feed = asBob[8]?.text ?? ''
  expect(feed.match(/name="(?:poster|author)"/g)).toHaveLength(2)
  const listed = async (by: Client, path = '/api/torrents?uploader=alice') => {
    const { items } = (await by.get(path)).json as { items: { id: string }[] }
    return items.map((each) => each.id)
  }
  expect(await listed(bob.client)).toEqual([other])
  for (const sort of ['seeders', 'size'])
    expect(await listed(bob.client, `/api/torrents?uploader=alice&search=hidden&sort=${sort}`)).toEqual([other])
  expect(await listed(alice.client)).toEqual([other, id])
  expect(await listed(moderator)).toEqual([other, id])
  for (const by of [alice.client, moderator])
    expect((await by.get(`/api/torrents/${id}`)).json).toMatchObject({
      ...{ uploader: 'alice', uploaderId: alice.id, anonymous: true, duplicateReason: 'alice says so' },
    })
  await alice.client.patch(`/api/torrents/${id}`, { anonymous: false })
  expect((await bob.client.get(`/api/torrents/${id}`)).json).toMatchObject({ uploader: 'alice', anonymous: false })
})

test('a preview finds what the catalogue has of the release', async () => {
  const base = 'Long.Harbour.S01E02.1080p.WEB-DL.H.264-ONE'
  const torrent = makeTorrent(base)
  const uploaded = await alice.client.upload(torrent, { category: 'tv', tvdb: '77' })
  const pack = base.replace('E02', '').replace('1080p', '720p')
  await upload(pack, { category: 'tv' })
  const same = await preview(torrent)
  expect(same.json).toMatchObject({ verdict: 'exists', proposedCategory: 'tv-hd', category: null })
  expect(relationsOf(same)).toEqual({ [base]: 'same', [pack]: 'pack' })
  expect(same.json).toMatchObject({ related: [{ torrent: { id: uploaded.member('id') } }, {}] })
  const verdicts = [
    [base.replace('ONE', 'TWO'), 'duplicate'],
    [base.replace('1080p', 'PROPER.1080p'), 'replaces'],
    [base.replace('1080p', '720p'), 'covered'],
    [base.replace('1080p', '2160p'), null],
    [base.replace('E02', 'E03'), null],
    ['Port.Long.S01E02.1080p.WEB-DL.H.264-ONE', null],
  ] as const
  for (const [name, verdict] of verdicts)
    expect([name, (await preview(makeTorrent(name))).json]).toMatchObject([name, { verdict }])
  const renamed = 'Port.Long.S01E02.1080p.WEB-DL.H.264-ONE'
  expect((await preview(makeTorrent(renamed), { tvdb: '77' })).json).toMatchObject({ verdict: 'duplicate' })
  expect((await preview(makeTorrent(renamed), { name: base })).json).toMatchObject({ verdict: 'duplicate' })
})

test('a preview says that a torrent exists without showing a pending one of another member', async () => {
  const torrent = makeTorrent('Waiting.Room.2024.1080p.WEB-DL.H.264-ONE')
  const id = (await alice.client.upload(torrent, { category: 'movies' })).member('id')
  await tracker.sql("update torrents set state = 'pending' where id = $1", [id])
  expect((await preview(torrent)).json).toMatchObject({ verdict: 'exists', related: [] })
  expect((await preview(torrent, {}, alice.client)).json).toMatchObject({ related: [{ relation: 'same' }] })
  await moderator.post(`/api/admin/torrents/${id}/reject`, { reason: 'no' })
  const again = makeTorrent('Waiting.Room.2024.1080p.WEB-DL.H.264-TWO')
  expect((await preview(again)).json).toMatchObject({ verdict: null, related: [] })
})

test('a duplicate is listed with its verdict, unless the client asks to refuse it without a reason', async () => {
  const name = 'Twice.Told.2024.1080p.WEB-DL.H.264-ONE'
  expect((await upload(name)).json).toMatchObject({ verdict: null, duplicateReason: null })
  const plain = await upload(name)
  expect([plain.status, plain.json]).toMatchObject([201, { verdict: 'duplicate', duplicateReason: null }])
  const refused = await upload(name, { refuseDuplicate: 'true' })
  expect(refused.status).toBe(409)
  expect(refused.member('error', 'message')).toMatch(/^duplicateReason: /)
  const reason = 'The other has the wrong aspect ratio.'
  const stated = await upload(name, { refuseDuplicate: 'true', duplicateReason: reason })
  expect(stated.json).toMatchObject({ verdict: 'duplicate', duplicateReason: reason })
  const address = `/api/torrents/${stated.member('id')}`
  expect((await moderator.get(address)).json).toMatchObject({ verdict: 'duplicate', duplicateReason: reason })
  expect((await bob.client.get(address)).json).toMatchObject({ verdict: null, duplicateReason: null })
})

test('of simultaneous uploads of the same content one is accepted', async () => {
  const names = Array.from({ length: 6 }, (_, i) => `Race.Day.2024.1080p.WEB-DL.H.264-G${i}`)
  const answers = await Promise.all(
    names.map((name, i) =>
      upload(name, { refuseDuplicate: 'true', imdb: '4711' }, i % 2 === 0 ? alice.client : bob.client),
    ),
  )
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409, 409])
})

test('pending uploads of other members neither hide approved releases nor count as duplicates', async () => {
  const name = 'Crowded.House.2024.1080p.WEB-DL.H.264-ONE'
  const id = (await upload(name)).member('id')
  const other = (await upload(name.replace('1080p', '720p'))).member('id')
  // The columns of a torrent that are not set here are those of the other slot.
  const columns = `name, category_id, size, file_count, uploader_id, release_keys, release_title, release_year,
    resolution, source, codec, search`
  await tracker.sql(
    `with copies as (
       insert into torrents (id, info_hash, state, created_at, ${columns})
       select gen_random_uuid(), decode(md5(n::text) || '00000000', 'hex'), 'pending', now() + interval '1 hour', ${columns}
       from torrents, generate_series(1, 120) as n where id = $1 returning id
     ) insert into torrent_stats (torrent_id) select id from copies`,
    [other],
  )
  const related = async (by: Client) => relationsOf(await by.get(`/api/torrents/${other}/details`))
  for (const by of [bob.client, moderator]) expect(await related(by)).toMatchObject({ [name]: 'version' })
  const third = makeTorrent(name.replace('ONE', 'TWO'))
  expect((await preview(third)).json).toMatchObject({ verdict: 'duplicate' })
  await tracker.sql("delete from torrents where created_at > now() + interval '30 minutes'")
  await tracker.sql("update torrents set state = 'pending' where id = any($1)", [[id, other]])
  expect((await preview(third)).json).toMatchObject({ verdict: null, related: [] })
  expect((await preview(third, {}, alice.client)).json).toMatchObject({ verdict: 'duplicate' })
  const sent = await bob.client.upload(third, { category: 'movies', refuseDuplicate: 'true' })
  expect([sent.status, sent.json]).toMatchObject([201, { verdict: null }])
})

test('editing the name or an id, and parsing names again, changes what a torrent is related to', async () => {
  const one = (await upload('First.Name.2024.1080p.WEB-DL.H.264-ONE', { imdb: '5001' })).member('id')
  const two = (await upload('Second.Name.2024.720p.WEB-DL.H.264-ONE')).member('id')
  const related = async () => Object.values(relationsOf(await bob.client.get(`/api/torrents/${one}/details`)))
  expect(await related()).toEqual([])
  await alice.client.patch(`/api/torrents/${two}`, { imdb: 'tt5001' })
  expect(await related()).toEqual(['version'])
  await alice.client.patch(`/api/torrents/${two}`, { imdb: null })
  expect(await related()).toEqual([])
  await alice.client.patch(`/api/torrents/${two}`, { name: 'First.Name.2024.1080p.WEB-DL.H.264-TWO' })
  expect(await related()).toEqual(['duplicate'])
  // As the previous release stores a torrent.
  await tracker.sql("update torrents set release_keys = '{}', reader_version = 2 where id = $1", [two])
  expect(await related()).toEqual([])
  await createReindex({ store: createReindexStore(tracker.db) })()
  expect(await related()).toEqual(['duplicate'])
})

const NFO = Buffer.from([0xdb, 0xdb, 0x0d, 0x0a, 0x82]).toString('base64')
const MEDIA_INFO =
  'General\nComplete name : /home/alice/film.mkv\n\nVideo\nFormat : AVC\nWidth : 1 920 pixels\nHeight : 800'

test('an upload can have an NFO and MediaInfo, which lists do not carry', async () => {
  const sent = await upload('Told.In.Full.2024.1080p.WEB-DL.H.264-ONE', {
    nfo: NFO,
    mediaInfo: MEDIA_INFO,
    scene: 'true',
  })
  expect(sent.json).toMatchObject({ hasNfo: true, hasMediaInfo: true, scene: true, internal: false })
  const address = `/api/torrents/${sent.member('id')}`
  const { json, text } = await bob.client.get(`${address}/details`)
  expect(json).toMatchObject({ nfo: '██\né', media: { video: [{ codec: 'H.264', resolution: '1080p' }] } })
  expect(text).not.toContain('alice')
  expect((await bob.client.get('/api/torrents?search=told')).text).not.toContain('██')
  await alice.client.patch(address, { nfo: null, mediaInfo: '' })
  expect((await bob.client.get(address)).json).toMatchObject({ hasNfo: false, hasMediaInfo: false })
  expect((await bob.client.get(`${address}/details`)).json).toMatchObject({ nfo: null, mediaInfo: null, media: null })
})

test.each([
  ['nfo', 'not base64', 400],
  ['nfo', Buffer.alloc(49_153).toString('base64'), 413],
  ['nfo', Buffer.alloc(49_152 - 3, 0xdb).toString('base64'), 201],
  ['mediaInfo', 'm'.repeat(60_001), 400],
  ['mediaInfo', 'm\u0000', 400],
  ['duplicateReason', 'r'.repeat(501), 400],
  ['anonymous', 'yes', 400],
  ['refuseDuplicate', '1', 400],
  ['internal', 'true', 403],
] as const)('an upload with %s is bounded (%#)', async (field, value, status) => {
  expect((await upload(`Bounded.${field}.${status}`, { [field]: value })).status).toBe(status)
})

test('only staff can mark a torrent as internal, which Torznab shows as a tag', async () => {
  const id = (await upload('Made.Here.2024.1080p.WEB-DL.H.264-ONE')).member('id')
  const address = `/api/torrents/${id}`
  expect((await alice.client.patch(address, { internal: true })).status).toBe(403)
  expect((await moderator.patch(address, { internal: true })).json).toMatchObject({ internal: true })
  expect((await alice.client.patch(address, { internal: true, scene: true })).json).toMatchObject({ scene: true })
  const feed = await bob.client.get(`/api/torznab?t=search&q=made+here&apikey=${bob.passkey}`)
  expect(feed.text.match(/(?<=name="tag" value=")[a-z]+/g)).toEqual(['internal', 'scene'])
})

test('a download costs what the best rate counts, and the ratio after it is known', async () => {
  const torrent = makeTorrent('Dear.Film.2024.1080p.WEB-DL.H.264-ONE', { size: 1_000_000 })
  const id = (await alice.client.upload(torrent, { category: 'movies' })).member('id')
  const costOf = async () => ((await bob.client.get(`/api/torrents/${id}/details`)).json as { cost: unknown }).cost
  expect(await costOf()).toEqual({
    ...{
      downloadPercent: 100,
      uploadPercent: 100,
      counted: 1_000_000,
      ratio: null,
      ratioAfter: 0,
      seedSeconds: 259_200,
    },
  })
  await tracker.sql('update users set uploaded = 3000000, downloaded = 1000000 where id = $1', [bob.id])
  await moderator.patch(`/api/torrents/${id}`, { downloadPercent: 50, uploadPercent: 200 })
  expect(await costOf()).toMatchObject({ uploadPercent: 200, counted: 500_000, ratio: 3, ratioAfter: 2 })

  const transferOf = async () =>
    ((await bob.client.get(`/api/torrents/${id}/details`)).json as { transfer: unknown }).transfer
  expect(await transferOf()).toBeNull()
  await tracker.sql(
    `insert into user_torrents (user_id, torrent_id, last_state, seed_seconds, uploaded_actual, downloaded_actual,
       first_seen_at, last_seen_at, completed_at) values ($1, $2, 'seeder', 60, 5, 1000000, $3, $3, $3)`,
    [bob.id, id, new Date(tracker.now())],
  )
  const transfer = { uploaded: 5, downloaded: 1_000_000, seedSeconds: 60 }
  expect(await transferOf()).toMatchObject({ ...transfer, isSeeding: true, completed: expect.any(String) })
  tracker.advance(3 * 3_600_000)
  expect(await transferOf()).toMatchObject({ ...transfer, isSeeding: false })
})

test('a member reports a torrent once, and hears that staff resolved the report, without their note', async () => {
  const id = (await upload('Reported.2024.1080p.WEB-DL.H.264-ONE')).member('id')
  const address = `/api/torrents/${id}/reports`
  const reason = 'The sound is missing.\nFrom minute 40 on.'
  const answers = await Promise.all([1, 2, 3].map(() => bob.client.post(address, { reason })))
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 409, 409])
  expect((await bob.client.get('/api/admin/reports')).status).toBe(403)
  const { items } = (await moderator.get('/api/admin/reports')).json as { items: { id: string }[] }
  expect(items).toMatchObject([{ torrent: { id, isDeleted: false }, reporter: { username: 'bob' }, reason }])
  const resolve = `/api/admin/reports/${items[0]?.id}/resolve`
  expect((await bob.client.post(resolve, { note: 'mine' })).status).toBe(403)
  await alice.client.delete(`/api/torrents/${id}`)
  const resolved = await moderator.post(resolve, { note: 'Deleted by its uploader.' })
  expect(resolved.json).toMatchObject({ torrent: { isDeleted: true }, resolvedBy: { username: 'mod' } })
  expect((await bob.client.get('/api/notices')).json).toMatchObject({
    items: [{ kind: 'report', torrent: null, details: { name: expect.stringMatching(/^Reported/) } }],
  })
  expect((await bob.client.get('/api/notices')).text).not.toContain('Deleted by its uploader')
  expect((await moderator.post(resolve, {})).status).toBe(409)
  expect((await moderator.get('/api/admin/reports')).json).toMatchObject({ items: [], total: 0 })
  expect((await moderator.get('/api/admin/reports?state=resolved')).json).toMatchObject({
    items: [{ note: 'Deleted by its uploader.' }],
  })
  const admin = await tracker.signedIn('root', 'admin')
  expect((await admin.get('/api/admin/log?action=report.resolve')).json).toMatchObject({
    items: [{ actor: { username: 'mod' }, target: { type: 'torrent', id }, before: { reason } }],
  })
})

test('a member has at most ten open reports, and cannot report what they cannot see', async () => {
  const ids = []
  for (let n = 0; n < 12; n++) ids.push((await upload(`Many.${n}`)).member('id'))
  await tracker.sql("update torrents set state = 'pending' where id = $1", [ids[11]])
  const report = (id = '') => bob.client.post(`/api/torrents/${id}/reports`, { reason: 'no' })
  expect((await report(ids[11])).status).toBe(404)
  const statuses = (await Promise.all(ids.slice(0, 11).map(report))).map(({ status }) => status)
  expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array.from({ length: 10 }, () => 204), 409])
  await tracker.sql('delete from reports')
})

const SPAN_MS = 6 * 3_600_000

test('the peers of a torrent are kept for 30 days, with zeros while it had none', async () => {
  const [one, other] = [(await upload('Seen.Over.Time')).member('id'), (await upload('Never.Seeded')).member('id')]
  const histories = tracker.context.useCases.torrentHistories
  const viewer = await tracker.context.useCases.accounts.byUsername('bob')
  const historyOf = async (id: string) =>
    (await histories.read(id, viewer)).items.map((each) => [each.seeders, each.leechers])
  const sample = async (seeders: number, leechers: number): Promise<void> => {
    await tracker.sql('update torrent_stats set seeders = $2, leechers = $3 where torrent_id = $1', [
      one,
      seeders,
      leechers,
    ])
    await histories.sample()
  }
  await sample(3, 1)
  await sample(9, 9)
  expect((await bob.client.get(`/api/torrents/${one}/history`)).json).toMatchObject({
    stepSeconds: SPAN_MS / 1_000,
    items: [{ seeders: 3, leechers: 1 }],
  })
  tracker.advance(3 * SPAN_MS)
  await sample(5, 0)
  tracker.advance(SPAN_MS)
  await sample(0, 0)
  const expected = [[3, 1], ...[0, 0].map(() => [0, 0]), [5, 0], [0, 0]]
  expect(await historyOf(one)).toEqual(expected)
  expect(await historyOf(other)).toEqual([])
  for (let n = 0; n < 130; n++) {
    tracker.advance(SPAN_MS)
    await sample(n, 1)
  }
  const kept = await historyOf(one)
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([120, [10, 1], [129, 1]])
  await sample(0, 0)
  tracker.advance(121 * SPAN_MS)
  expect(await historyOf(one)).toEqual([])
  await histories.sample()
  expect(await tracker.sql('select * from torrent_history')).toEqual([])
})
