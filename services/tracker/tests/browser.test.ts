import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startTorrentBrowser, type TorrentBrowser } from './support/browser.ts'
import { createClient } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { createMember, type TestMember } from './support/members.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from './support/tracker-process.ts'

const SIZE = 2 * 1024 * 1024
const PIECE = 262_144

let world: TestTracker
let one: TrackerProcess
let two: TrackerProcess
let seeder: TestMember
let leecher: TestMember
let browser: TorrentBrowser

beforeAll(async () => {
  world = await startTracker()
  await world.context.useCases.categories.seed()
  seeder = await createMember(world, 'seeder')
  leecher = await createMember(world, 'leecher')
  const env = { DATABASE_URL: world.database.appUrl, REDIS_URL: world.redisUrl }
  ;[one, two, browser] = await Promise.all([startTrackerProcess(env), startTrackerProcess(env), startTorrentBrowser()])
})
afterAll(async () => {
  await browser.stop()
  await Promise.all([one.process.stop(), two.process.stop()])
  await world.stop()
})

/** The .torrent as a member downloads it from a replica, which embeds the replica's own addresses. */
async function downloadTorrent(from: TrackerProcess, { username }: TestMember, id: string): Promise<Buffer> {
  const client = createClient(from.url)
  await client.post('/api/auth/login', { username, password: PASSWORD })
  return (await client.get(`/api/torrents/${id}/download`)).bytes
}

test('two Chromium pages that find each other only through WebSockets of two replicas exchange a file', async () => {
  const content = randomBytes(SIZE)
  const pieces = Array.from({ length: SIZE / PIECE }, (_, i) =>
    createHash('sha1')
      .update(content.subarray(i * PIECE, (i + 1) * PIECE))
      .digest(),
  )
  const torrent = makeTorrent('exchanged.bin', { size: SIZE, pieces: Buffer.concat(pieces) })
  const id = (await seeder.client.upload(torrent, { category: 'tv-hd' })).member('id')

  const [first, second] = [await browser.openPage(), await browser.openPage()]
  await first.seed(await downloadTorrent(one, seeder, id), content)
  const received = await second.download(await downloadTorrent(two, leecher, id))

  expect(received).toBe(createHash('sha256').update(content).digest('hex'))
  const socketOf = (replica: TrackerProcess, member: TestMember): string =>
    `${replica.url.replace('http', 'ws')}/announce?passkey=${member.passkey}`
  expect(first.sockets).toEqual([socketOf(one, seeder)])
  expect(second.sockets).toEqual([socketOf(two, leecher)])
})
