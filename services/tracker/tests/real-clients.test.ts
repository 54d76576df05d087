import { createHash, randomBytes } from 'node:crypto'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { freePort, removeTemporaryFolder, temporaryFolder, transferFile } from '@vault-and-tracker/dev-env'
import { type Daemon, startQbittorrent, startTransmission } from './support/daemons.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { createMember } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

const SIZE = 1024 * 1024
const PIECE = 262_144

let tracker: TestTracker
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
})
afterAll(async () => {
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
