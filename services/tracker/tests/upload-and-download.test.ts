import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { decodeBencode } from '@vault-and-tracker/bencode-tracker/testing'
import type { Answer, Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let member: Client

beforeAll(async () => {
  tracker = await startTracker()
  await tracker.context.useCases.categories.seed()
  member = await tracker.signedIn('alice')
})

afterAll(() => tracker.stop())

const NAME = 'The.Long.Harbour.S02E05.1080p.WEB-DL.H.264-GROUP'

function preview(torrent: Buffer | undefined, fields: Record<string, string> = {}): Promise<Answer> {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  if (torrent) body.append('torrent', new Blob([Uint8Array.from(torrent)]), 'upload.torrent')
  return member.send('POST', '/api/torrents/preview', { body })
}

test('a preview matches the upload and adds nothing', async () => {
  const files = [
    ['episode.mkv', 3_000_000],
    ['notes/readme.txt', 900],
  ] as const
  const torrent = makeTorrent(NAME, { files })
  const total = async () => ((await member.get('/api/torrents')).json as { total: number }).total
  const before = await total()
  const previewed = await preview(torrent, { category: 'tv' })
  expect(previewed.status).toBe(200)
  expect(await total()).toBe(before)
  const uploaded = await member.upload(torrent, { category: 'tv' })
  const { firstFiles, proposedCategory, verdict, related, ...same } = previewed.json as Record<string, unknown>
  expect(uploaded.json).toMatchObject(same)
  expect({ proposedCategory, verdict, related }).toEqual({ proposedCategory: 'tv-hd', verdict: null, related: [] })
  expect(firstFiles).toEqual(files.map(([path, size]) => ({ path, size })))
})

test('the name in the request replaces that of the file', async () => {
  const { json } = await preview(makeTorrent(NAME), { name: NAME.replace('1080p', '2160p'), category: 'tv' })
  expect(json).toMatchObject({ category: 'tv-uhd', release: { resolution: '2160p', seasonFrom: 2, episodeFrom: 5 } })
})

test('the category is null if none was chosen', async () => {
  expect((await preview(makeTorrent(NAME), { category: '' })).json).toMatchObject({ category: null, name: NAME })
})

test('refuses the same files as an upload', async () => {
  for (const torrent of [undefined, Buffer.from('not bencoded')]) {
    const previewed = await preview(torrent)
    expect(previewed.status).toBe(400)
    expect(previewed.json).toEqual((await member.upload(torrent, { category: 'tv' })).json)
  }
  expect((await preview(makeTorrent(NAME), { category: 'nothing' })).status).toBe(400)
})

test('lists the first 1,000 files', async () => {
  const files = Array.from({ length: 1_500 }, (_, index) => [`${index}.txt`, 1] as const)
  const { json } = await preview(makeTorrent('Many', { files }))
  expect(json).toMatchObject({ files: 1_500 })
  expect((json as { firstFiles: unknown[] }).firstFiles).toHaveLength(1_000)
})

test('a member uploads a torrent and another downloads it with their own passkey in it', async () => {
  const uploader = await tracker.signedIn('uploader')
  const uploaded = await uploader.upload(makeTorrent('Example.Show.S01E02.1080p.WEB-DL.H.264-GROUP'), {
    category: 'tv-hd',
  })
  expect(uploaded.status).toBe(201)
  expect(uploaded.json).toMatchObject({
    name: 'Example.Show.S01E02.1080p.WEB-DL.H.264-GROUP',
    category: 'tv-hd',
    size: 1_000_000,
    files: 1,
    uploader: 'uploader',
    state: 'approved',
    seeders: 0,
    leechers: 0,
    completed: 0,
  })

  const downloader = await tracker.signedIn('downloader')
  const me = await downloader.get('/api/user/me')
  const file = await downloader.get(`/api/torrents/${uploaded.member('id')}/download`)
  expect(file.status).toBe(200)
  expect(file.headers.get('content-type')).toBe('application/x-bittorrent')
  const root = decodeBencode(file.bytes)
  const announce = root.kind === 'dict' ? root.entries.get('announce') : undefined
  expect(announce?.kind === 'bytes' && announce.value.toString()).toBe(me.member('announceUrl'))
  expect(file.bytes.toString('latin1')).toContain(`ws://tracker.test/announce?passkey=${me.member('passkey')}ee`)
  expect(me.member('announceUrl')).toBe(`http://tracker.test/announce?passkey=${me.member('passkey')}`)
})

test.each(['Family 👨‍👩‍👧 2020 1080p x264-GRP', 'Super\u00adman.2020.1080p.x264-GRP', 'می\u200cخواهم.2020'])(
  'the name %j is taken from a form and from a file alike',
  async (name) => {
    const uploader = await tracker.signedIn(`u${Math.random().toString(36).slice(2, 10)}`)
    const form = await uploader.upload(makeTorrent(`form of ${name}`), { category: 'tv-hd', name })
    const file = await uploader.upload(makeTorrent(name), { category: 'tv-hd' })
    expect([form.status, file.status]).toEqual([201, 201])
    expect([form.json, file.json]).toMatchObject([{ name }, { name }])
  },
)

test('refuses an invisible name in a form, and replaces it in a file', async () => {
  const uploader = await tracker.signedIn('unseen')
  const form = await uploader.upload(makeTorrent('seen'), { category: 'tv-hd', name: '\u200d\u00ad' })
  expect([form.status, form.member('error', 'message')]).toEqual([400, 'name: must be text of 1 to 255 characters.'])
  const file = await uploader.upload(makeTorrent('\u200d\u00ad'), { category: 'tv-hd' })
  expect(file.json).toMatchObject({ name: 'unnamed' })
})

test('stores concurrent and later uploads with their own bytes', async () => {
  const uploader = await tracker.signedIn('at-once')
  const pieceCounts = [40, 4_000, 400]
  for (const counts of [pieceCounts, pieceCounts.toReversed()]) {
    const downloads = await Promise.all(
      counts.map(async (count, i) => {
        const pieces = randomBytes(20 * count)
        const size = count * 262_144
        const stored = await uploader.upload(makeTorrent(`at once ${String(i)}`, { size, pieces }), {
          category: 'tv-hd',
        })
        const { bytes } = await uploader.get(`/api/torrents/${stored.member('id')}/download`)
        return bytes.includes(pieces)
      }),
    )
    expect(downloads).toEqual([true, true, true])
  }
})

test('visitors can read the public settings of the site', async () => {
  expect((await tracker.client().get('/api/site')).json).toEqual({
    registration: 'invite',
    torznabUrl: 'http://tracker.test/api/torznab',
    irc: null,
    sendsEmail: false,
    awaitsSetup: true,
  })
})
