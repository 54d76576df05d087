import { afterAll, beforeAll, expect, test } from '@jest/globals'
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
  const previewed = await preview(torrent, { category: 'tv' })
  expect(previewed.status).toBe(200)
  expect((await member.get('/api/torrents')).json).toMatchObject({ total: 0 })
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

test('visitors can see the registration mode', async () => {
  expect((await tracker.client().get('/api/site')).json).toEqual({
    registration: 'invite',
    torznabUrl: 'http://tracker.test/api/torznab',
    irc: null,
    sendsEmail: false,
    awaitsSetup: true,
  })
})
