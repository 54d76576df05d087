import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { writeAccounting } from './support/accounting.ts'
import { announce } from './support/announcer.ts'
import { createAnnouncer, createMember, uploadTorrent } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

const script = fileURLToPath(new URL('support/npm-client.mjs', import.meta.url))
const PEER_ID = Buffer.from('-WW0102-abcdefghijkl').toString('hex')

async function npmClient(announceUrl: string, infoHash: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, announceUrl, infoHash, PEER_ID, '7100'], {
    env: { PATH: process.env['PATH'] },
    timeout: 20_000,
  })
  return JSON.parse(stdout)
}

/** One seeder exists already; the client starts, scrapes, completes and stops. */
const LIFE = {
  started: { complete: 1, incomplete: 1, downloaded: 0 },
  scraped: { complete: 1, incomplete: 1, downloaded: 0 },
  completed: { complete: 2, incomplete: 0, downloaded: 1 },
  stopped: { complete: 1, incomplete: 0, downloaded: 1 },
  peers: ['127.0.0.1:7001'],
  warnings: [],
}

/** In private mode, the snatch is counted when it is written to the database. */
const ACCOUNTED_LIFE = {
  ...LIFE,
  completed: { ...LIFE.completed, downloaded: 0 },
  stopped: { ...LIFE.stopped, downloaded: 0 },
}

let tracker: TestTracker
let open: TestTracker

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true' })
  open = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', TRACKER_MODE: 'open' })
})
afterAll(async () => {
  await tracker.stop()
  await open.stop()
})

/** The number of snatches in the reply to an announce, once they are written. */
async function snatchesOf(infoHash: string, passkey: string): Promise<unknown> {
  await writeAccounting(tracker)
  return (await announce(tracker.url, passkey, { infoHash, event: 'stopped' })).fields['downloaded']
}

test('the npm client announces to a private tracker and scrapes the URL that it derives', async () => {
  await tracker.context.useCases.categories.seed()
  const uploader = await createMember(tracker, 'uploader')
  const other = await createAnnouncer(tracker, 'other')
  const { infoHash } = await uploadTorrent(uploader, 'Torrent of the npm client')
  await announce(tracker.url, uploader.passkey, { infoHash, left: 0, port: 7001, event: 'started' })
  const life = await npmClient(`${tracker.url}/announce?passkey=${other.passkey}`, infoHash)
  expect(life).toEqual(ACCOUNTED_LIFE)
  expect(await snatchesOf(infoHash, other.passkey)).toBe(1)
})

test('the npm client announces to an open tracker and scrapes it', async () => {
  const infoHash = 'c0'.repeat(20)
  await announce(open.url, undefined, { infoHash, left: 0, port: 7001, event: 'started' })
  await expect(npmClient(`${open.url}/announce`, infoHash)).resolves.toEqual(LIFE)
})

test('two npm clients connect through WebSockets, and receive the counts of the tracker', async () => {
  const uploader = await createMember(tracker, 'socket-uploader')
  const other = await createAnnouncer(tracker, 'socket-other')
  const { infoHash } = await uploadTorrent(uploader, 'Torrent of two npm clients')
  const urls = [uploader.passkey, other.passkey].map(
    (passkey) => `${tracker.url.replace('http', 'ws')}/announce?passkey=${passkey}`,
  )
  const socketScript = fileURLToPath(new URL('support/npm-socket-client.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [socketScript, ...urls, infoHash], {
    env: { PATH: process.env['PATH'] },
    timeout: 20_000,
  })
  expect(JSON.parse(stdout)).toEqual({
    started: { complete: 1, incomplete: 1, downloaded: 0 },
    offer: Buffer.from('-WW0102-aaaaaaaaaaaa').toString('hex'),
    answer: Buffer.from('-WW0102-bbbbbbbbbbbb').toString('hex'),
    scraped: { complete: 1, incomplete: 1, downloaded: 0 },
    completed: { complete: 2, incomplete: 0, downloaded: 0 },
    stopped: { complete: 1, incomplete: 0, downloaded: 0 },
    warnings: [],
  })
  expect(await snatchesOf(infoHash, other.passkey)).toBe(1)
})
