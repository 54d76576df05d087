import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { demoContent, eventually, pieceHashes, startDemoClients } from '@vault-and-tracker/dev-env'
import { torrentFile } from '../demo/torrent-file.ts'
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
  await tracker.context.useCases.categories.seed()
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

test('the clients of the demo complete a torrent only with intact data', async () => {
  const seeder = await createMember(tracker, 'demo-seeder')
  const leecher = await createMember(tracker, 'demo-leecher')
  const size = 600_000
  const swarmOf = async (name: string, served: string) => {
    const uploaded = await seeder.client.upload(torrentFile(name, size), { category: 'ebooks' })
    const pieces = pieceHashes(demoContent(name, size)).map((hash) => hash.toString('hex'))
    const members = { seeders: [seeder.passkey], leechers: [leecher.passkey] }
    return { infoHash: uploaded.member('infoHash'), size, ...members, content: { name: served, pieces } }
  }
  const damaged = await swarmOf('Damaged book', 'other data')
  const intact = await swarmOf('Intact book', 'Intact book')
  const stopping = new AbortController()
  await startDemoClients(tracker.url, [damaged, intact], stopping.signal, 0)
  try {
    await eventually(async () => {
      await writeAccounting(tracker)
      return (await leecher.client.get('/api/user/me')).text.includes(`"downloaded":${String(size)},`)
    })
    expect(await snatchesOf(damaged.infoHash, leecher.passkey)).toBe(0)
    expect(await snatchesOf(intact.infoHash, leecher.passkey)).toBe(1)
  } finally {
    stopping.abort()
  }
})
