import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parseTorrent } from '@vault-and-tracker/bencode-tracker/testing'
import type { Client } from './support/client.ts'
import { makeHybrid, makeTorrent } from './support/make-torrent.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let member: Client
let other: Client
let moderator: Client

beforeAll(async () => {
  tracker = await startTracker({ TORRENT_SOURCE: 'OurSite' })
  await tracker.context.useCases.categories.seed()
  member = await tracker.signedIn('member')
  other = await tracker.signedIn('other')
  moderator = await tracker.signedIn('moderator', 'moderator')
})

afterAll(() => tracker.stop())

async function uploaded(name: string, fields: Record<string, string> = {}): Promise<string> {
  const answer = await member.upload(makeTorrent(name), { category: 'movies', ...fields })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.member('id')
}

test("a downloaded torrent is private, has the site's source, and no other trackers", async () => {
  const file = makeTorrent('Folder', {
    files: [
      ['a/first.bin', 700_000],
      // Shown as a film without the mark that reverses the direction.
      ['second\u202E4pm.bin', 300_000],
    ],
  })
  const answer = await member.upload(file, { category: 'other', description: 'two files\nin a folder' })
  expect(answer.json).toMatchObject({ size: 1_000_000, files: 2, description: 'two files\nin a folder' })

  const download = await other.get(`/api/torrents/${answer.member('id')}/download`)
  const torrent = parseTorrent(download.bytes)
  expect(torrent).toMatchObject({ private: true, source: 'OurSite', infoHash: answer.member('infoHash') })
  expect(torrent.infoHash).not.toBe(parseTorrent(file).infoHash)
  expect(download.bytes.includes('elsewhere.test')).toBe(false)

  const files = await other.get(`/api/torrents/${answer.member('id')}/files`)
  expect(files.json).toEqual({
    items: [
      { path: 'a/first.bin', size: 700_000 },
      { path: 'second 4pm.bin', size: 300_000 },
    ],
    ...{ page: 1, limit: 25, total: 2, totalIsExact: true },
  })
  const second = await other.get(`/api/torrents/${answer.member('id')}/files?page=2&limit=1`)
  expect(second.json).toEqual({
    items: [{ path: 'second 4pm.bin', size: 300_000 }],
    ...{ page: 2, limit: 1, total: 2, totalIsExact: true },
  })
  expect((await other.get(`/api/torrents/${answer.member('id')}/files?page=3&limit=1`)).json).toMatchObject({
    items: [],
  })
})

test('stores a hybrid torrent under both hashes, with its piece layers', async () => {
  const answer = await member.upload(makeHybrid('Hybrid.bin'), { category: 'other' })
  expect(answer.status).toBe(201)
  const torrent = parseTorrent((await other.get(`/api/torrents/${answer.member('id')}/download`)).bytes)
  expect(torrent).toMatchObject({
    version: 'hybrid',
    infoHash: answer.member('infoHash'),
    infoHashV2: answer.member('infoHashV2'),
  })
})

test('uploading a torrent twice is a conflict, even as the downloaded file', async () => {
  const file = makeTorrent('Twice')
  const first = await member.upload(file, { category: 'other' })
  expect(first.status).toBe(201)
  const copy = await other.get(`/api/torrents/${first.member('id')}/download`)
  expect((await other.upload(copy.bytes, { category: 'other' })).status).toBe(409)
  const again = await other.upload(file, { category: 'movies', name: 'Another name' })
  expect([again.status, again.member('error', 'code')]).toEqual([409, 'CONFLICT'])
})

test('one of five concurrent uploads of the same torrent succeeds', async () => {
  const file = makeTorrent('Contested')
  const clients = [member, other, member, other, member]
  const answers = await Promise.all(clients.map((client) => client.upload(file, { category: 'other' })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409])
})

test('parses the release name', async () => {
  const id = await uploaded('Some.Show.2021.S02E03-E04.2160p.WEB-DL.x265-GRP')
  expect((await other.get(`/api/torrents/${id}`)).json).toMatchObject({
    release: {
      title: 'Some Show',
      year: 2021,
      seasonFrom: 2,
      seasonTo: 2,
      episodeFrom: 3,
      episodeTo: 4,
      airDate: null,
      resolution: '2160p',
      source: 'WEB-DL',
      codec: 'x265',
      group: 'GRP',
    },
  })
  const daily = await uploaded('Daily.Show.2024.05.31.720p.HDTV.x264-GRP')
  expect((await other.get(`/api/torrents/${daily}`)).json).toMatchObject({ release: { airDate: '2024-05-31' } })
})

test('accepts external ids in the usual forms', async () => {
  const id = await uploaded('With.Ids', { imdb: 'tt0133093', tmdb: '603', tvdb: '' })
  expect((await other.get(`/api/torrents/${id}`)).json).toMatchObject({ imdb: 'tt0133093', tmdb: 603, tvdb: null })
  const bare = await uploaded('With.Bare.Id', { imdb: '133093' })
  expect((await other.get(`/api/torrents/${bare}`)).json).toMatchObject({ imdb: 'tt0133093' })
})

test.each([
  ['no file', undefined, { category: 'other' }, 'torrent'],
  ['no category', makeTorrent('x'), {}, 'category'],
  ['an unknown category', makeTorrent('x'), { category: 'nowhere' }, 'category'],
  ['no torrent at all', Buffer.from('hello'), { category: 'other' }, 'torrent'],
  ['a cut-off torrent', makeTorrent('x').subarray(0, 100), { category: 'other' }, 'torrent'],
  [
    'a path that leaves the folder',
    makeTorrent('x', { files: [['../../etc/passwd', 1]] }),
    { category: 'other' },
    'torrent',
  ],
  ['pieces that do not fit the size', makeTorrent('x', { pieces: Buffer.alloc(20) }), { category: 'other' }, 'torrent'],
  ['a name with a NUL', makeTorrent('x'), { category: 'other', name: 'a\u0000b' }, 'name'],
  ['a name too long', makeTorrent('x'), { category: 'other', name: 'n'.repeat(256) }, 'name'],
  ['a malformed id', makeTorrent('x'), { category: 'other', imdb: 'tt' }, 'imdb'],
] as const)('an upload with %s is refused, naming the field', async (_what, file, fields, name) => {
  const answer = await member.upload(file, fields)
  expect([answer.status, answer.member('error', 'code')]).toEqual([400, 'BAD_REQUEST'])
  expect(answer.member('error', 'message')).toMatch(new RegExp(`^${name}: `))
})

test('only the uploader and staff can change a torrent', async () => {
  const id = await uploaded('Changeable.2020')
  const changes = { name: 'Changed.1999.DVDRip', category: 'tv', description: 'new', imdb: 'tt0000001', tmdb: null }
  expect((await other.patch(`/api/torrents/${id}`, changes)).status).toBe(403)
  const changed = await member.patch(`/api/torrents/${id}`, changes)
  expect(changed.json).toMatchObject({
    ...changes,
    category: 'tv-sd',
    release: { title: 'Changed', year: 1999, source: 'DVD' },
  })
  expect(idsOf(await other.get('/api/torrents?search=changed+1999'))).toEqual([id])
  expect(idsOf(await other.get('/api/torrents?search=changeable'))).toEqual([])
  expect((await moderator.patch(`/api/torrents/${id}`, { description: 'by staff' })).status).toBe(200)
})

test('a torrent moved to a root category gets the subcategory that fits its name', async () => {
  const id = await uploaded('Moved.Show.S01E01.2160p.WEB.x265-GRP', { category: 'tv-hd' })
  expect((await member.patch(`/api/torrents/${id}`, { category: 'tv' })).json).toMatchObject({ category: 'tv-uhd' })
})

test.each([
  [{ name: 'x'.repeat(256) }, 'name: must be text of 1 to 255 characters.'],
  [{ name: 'bell\u0007' }, 'name: must not contain control characters.'],
  [{ imdb: 'abc' }, 'imdb: must be tt and digits.'],
])('an error gives the actual reason, even for a field that may be empty: %j', async (fields, message) => {
  const form = await member.upload(makeTorrent('form'), { category: 'tv-hd', ...fields })
  expect(form.member('error', 'message')).toBe(message)
  const id = await uploaded(`Patched.${Object.keys(fields)[0] ?? ''}.${message.length}.2020`)
  expect((await member.patch(`/api/torrents/${id}`, fields)).member('error', 'message')).toBe(message)
})

test('only staff can change the rates of a torrent', async () => {
  const id = await uploaded('Free')
  expect((await member.patch(`/api/torrents/${id}`, { downloadPercent: 0 })).status).toBe(403)
  const free = await moderator.patch(`/api/torrents/${id}`, { downloadPercent: 0, uploadPercent: 200 })
  expect(free.json).toMatchObject({ downloadPercent: 0, uploadPercent: 200 })
  expect((await moderator.patch(`/api/torrents/${id}`, { downloadPercent: 101 })).status).toBe(400)
  expect((await moderator.patch(`/api/torrents/${id}`, { uploadPercent: 50 })).status).toBe(400)
})

test('a deleted torrent is not found, keeps its reason, and can be uploaded again', async () => {
  const file = makeTorrent('Deleted')
  const first = await member.upload(file, { category: 'other' })
  const id = first.member('id')
  expect((await other.delete(`/api/torrents/${id}`)).status).toBe(403)
  expect((await member.delete(`/api/torrents/${id}?reason=Wrong%20file`)).status).toBe(204)
  expect((await other.get(`/api/torrents/${id}`)).status).toBe(404)
  expect((await other.get(`/api/torrents/${id}/download`)).status).toBe(404)
  expect((await member.delete(`/api/torrents/${id}`)).status).toBe(404)
  await expect(tracker.sql('select delete_reason from torrents where id = $1', [id])).resolves.toEqual([
    { delete_reason: 'Wrong file' },
  ])
  const again = await member.upload(file, { category: 'other' })
  expect([again.status, again.member('infoHash')]).toEqual([201, first.member('infoHash')])
})

test('purges a deleted torrent and its accounting after 30 days', async () => {
  const id = await uploaded('Forgotten')
  const me = (await member.get('/api/user/me')).member('id')
  await tracker.sql(
    `insert into user_torrents (user_id, torrent_id, last_state, first_seen_at, last_seen_at)
     values ($1, $2, 'seeder', now(), now())`,
    [me, id],
  )
  await moderator.delete(`/api/torrents/${id}`)
  const left = () => tracker.sql('select delete_reason from torrents where id = $1', [id])
  tracker.advance(30 * 24 * 3_600_000 - 60_000)
  await tracker.context.useCases.torrents.purgeDeleted()
  expect(await left()).toEqual([{ delete_reason: 'Deleted by staff' }])
  tracker.advance(120_000)
  await tracker.context.useCases.torrents.purgeDeleted()
  expect(await left()).toEqual([])
  expect(await tracker.sql('select 1 from user_torrents where torrent_id = $1', [id])).toEqual([])
  tracker.advance(-30 * 24 * 3_600_000 - 60_000)
})

test('a user whose downloads are disabled can download only their own uploads', async () => {
  const id = await uploaded('Not.For.All')
  const barred = await tracker.signedIn('barred')
  await tracker.context.useCases.accounts.change((await barred.get('/api/user/me')).member('id'), {
    canDownload: false,
  })
  const refused = await barred.get(`/api/torrents/${id}/download`)
  expect([refused.status, refused.member('error', 'code')]).toEqual([403, 'FORBIDDEN'])
  const own = await barred.upload(makeTorrent('Own'), { category: 'other' })
  expect((await barred.get(`/api/torrents/${own.member('id')}/download`)).status).toBe(200)
})

test('a name cannot break out of the Content-Disposition header', async () => {
  const id = await uploaded('plain', { name: 'Ünï "quoted"; filename=evil.exe / 東京' })
  const header = (await other.get(`/api/torrents/${id}/download`)).headers.get('content-disposition')
  expect(header).toBe(
    `attachment; filename="_n_ _quoted_; filename=evil.exe _ __.torrent"; filename*=UTF-8''%C3%9Cn%C3%AF%20_quoted_%3B%20filename%3Devil.exe%20_%20%E6%9D%B1%E4%BA%AC.torrent`,
  )
})

test.each(['nonsense', '00000000-0000-0000-0000-000000000000', "' or 1=1 --", '%00'])(
  'the id %j is unknown',
  async (id) => {
    const path = `/api/torrents/${id.startsWith('%') ? id : encodeURIComponent(id)}`
    for (const rest of ['', '/files', '/download']) {
      const answer = await other.get(path + rest)
      expect([answer.status, answer.member('error', 'code')]).toEqual([404, 'NOT_FOUND'])
    }
  },
)

function idsOf(answer: { json: unknown }): string[] {
  return (answer.json as { items: { id: string }[] }).items.map(({ id }) => id)
}
