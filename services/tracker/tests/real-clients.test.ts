import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  demoContent,
  eventually,
  freePort,
  pieceHashes,
  removeTemporaryFolder,
  startDemoClients,
  temporaryFolder,
  transferFile,
} from '@vault-and-tracker/dev-env'
import { torrentFile } from '../demo/torrent-file.ts'
import { writeAccounting } from './support/accounting.ts'
import { announce } from './support/announcer.ts'
import { type Daemon, startQbittorrent, startTransmission } from './support/daemons.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { createAnnouncer, createMember, uploadTorrent } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

const SIZE = 1024 * 1024
const PIECE = 262_144

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
/** The same with the usual shortest interval between announces. */
let usual: TestTracker
let folder: string

beforeAll(async () => {
  const port = await freePort()
  folder = temporaryFolder('clients')
  tracker = await startTracker({
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${String(port)}`,
    ALLOW_PRIVATE_PEERS: 'true',
    MIN_ANNOUNCE_INTERVAL: '1',
  })
  await tracker.context.useCases.categories.seed()
  usual = await tracker.replica({ PORT: String(await freePort()), MIN_ANNOUNCE_INTERVAL: '900' })
})
afterAll(async () => {
  await usual.stop()
  await tracker.stop()
  removeTemporaryFolder(folder)
})

/** A file and the hashes of its pieces. */
function generateFile(name: string): { file: string; pieces: Buffer; sha256: string } {
  const bytes = randomBytes(SIZE)
  const file = join(folder, name)
  writeFileSync(file, bytes)
  const pieces = Array.from({ length: SIZE / PIECE }, (_, i) =>
    createHash('sha1')
      .update(bytes.subarray(i * PIECE, (i + 1) * PIECE))
      .digest(),
  )
  return { file, pieces: Buffer.concat(pieces), sha256: createHash('sha256').update(bytes).digest('hex') }
}

test('two aria2 clients of different members exchange a file through the tracker alone', async () => {
  const { file, pieces, sha256 } = generateFile('payload.bin')
  const seeder = await createMember(tracker, 'seeder')
  const leecher = await createMember(tracker, 'leecher')
  const uploaded = await seeder.client.upload(makeTorrent('payload.bin', { size: SIZE, pieces }), { category: 'tv-hd' })
  const id = uploaded.member('id')

  const transferred = await transferFile({
    seedTorrent: (await seeder.client.get(`/api/torrents/${id}/download`)).bytes,
    leechTorrent: (await leecher.client.get(`/api/torrents/${id}/download`)).bytes,
    file,
    workDir: join(folder, 'aria2'),
    timeoutMs: 60_000,
  })
  expect(transferred.sha256).toBe(sha256)
})

/**
 * The first client seeds a file, the second gets it. Transmission takes connections on the loopback and makes none there,
 * so the caller has to learn of the other: it announces until it does.
 */
async function expectTransfer(from: Daemon, to: Daemon, caller: Daemon, name: string): Promise<void> {
  const { file, pieces, sha256 } = generateFile(`${name}.bin`)
  const seeder = await createMember(tracker, `${name}-seeder`)
  const leecher = await createMember(tracker, `${name}-leecher`)
  const uploaded = await seeder.client.upload(makeTorrent(`${name}.bin`, { size: SIZE, pieces }), { category: 'tv-hd' })
  const [id, infoHash] = [uploaded.member('id'), uploaded.member('infoHash')]
  copyFileSync(file, join(from.folder, `${name}.bin`))
  const until = async (done: () => Promise<boolean>, what: string): Promise<void> => {
    for (let i = 0; i < 300; i++) {
      if (await done()) return
      await sleep(100)
    }
    const states = [await from.trackerState(infoHash), await to.trackerState(infoHash)]
    throw new Error(`${what} did not happen: ${states.map(({ text }) => text).join(' ')}`)
  }
  await from.add((await seeder.client.get(`/api/torrents/${id}/download`)).bytes)
  await until(async () => (await from.trackerState(infoHash)).announced, 'the announce of the seeder')
  await to.add((await leecher.client.get(`/api/torrents/${id}/download`)).bytes)
  const untilAnnouncing = (client: Daemon, done: () => Promise<boolean>, what: string): Promise<void> =>
    until(async () => {
      await sleep(1_000)
      await client.reannounce(infoHash)
      return done()
    }, what)
  await untilAnnouncing(caller, async () => (await to.progress(infoHash)) === 1, 'the download')
  const received = readFileSync(join(to.folder, `${name}.bin`))
  expect(createHash('sha256').update(received).digest('hex')).toBe(sha256)
  // On request, Transmission announces at most once in two minutes, so as a seeder it would see the other one late.
  for (const client of new Set([to, caller])) {
    const knowsOfBoth = async () => (await client.trackerState(infoHash)).seeders === 2
    await untilAnnouncing(client, knowsOfBoth, 'the news of two seeders')
  }
}

test('Transmission and qBittorrent download from each other, and see two seeders in replies', async () => {
  const transmission = await startTransmission(join(folder, 'transmission'))
  const qbittorrent = await startQbittorrent(join(folder, 'qbittorrent'))
  try {
    await expectTransfer(transmission, qbittorrent, qbittorrent, 'to-qbittorrent')
    await expectTransfer(qbittorrent, transmission, qbittorrent, 'to-transmission')
  } finally {
    await Promise.all([transmission.stop(), qbittorrent.stop()])
  }
})

/** The number of snatches in the reply to an announce, once they are written. */
async function snatchesOf(infoHash: string, passkey: string): Promise<unknown> {
  await writeAccounting(tracker)
  return (await announce(tracker.url, passkey, { infoHash, event: 'stopped' })).fields['downloaded']
}

test('the npm client announces to a private tracker and scrapes the URL that it derives', async () => {
  const uploader = await createMember(tracker, 'npm-uploader')
  const other = await createAnnouncer(tracker, 'npm-other')
  const { infoHash } = await uploadTorrent(uploader, 'Torrent of the npm client')
  await announce(tracker.url, uploader.passkey, { infoHash, left: 0, port: 7001, event: 'started' })
  const life = await npmClient(`${usual.url}/announce?passkey=${other.passkey}`, infoHash)
  expect(life).toEqual(ACCOUNTED_LIFE)
  expect(await snatchesOf(infoHash, other.passkey)).toBe(1)
})

test('the npm client announces to an open tracker and scrapes it', async () => {
  const open = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', TRACKER_MODE: 'open' })
  try {
    const infoHash = 'c0'.repeat(20)
    await announce(open.url, undefined, { infoHash, left: 0, port: 7001, event: 'started' })
    await expect(npmClient(`${open.url}/announce`, infoHash)).resolves.toEqual(LIFE)
  } finally {
    await open.stop()
  }
})

test('two npm clients connect through WebSockets, and receive the counts of the tracker', async () => {
  const uploader = await createMember(tracker, 'socket-uploader')
  const other = await createAnnouncer(tracker, 'socket-other')
  const { infoHash } = await uploadTorrent(uploader, 'Torrent of two npm clients')
  const urls = [uploader.passkey, other.passkey].map(
    (passkey) => `${usual.url.replace('http', 'ws')}/announce?passkey=${passkey}`,
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
  await startDemoClients(usual.url, [damaged, intact], stopping.signal, 0)
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
