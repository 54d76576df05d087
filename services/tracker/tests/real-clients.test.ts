import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { freePort, removeTemporaryFolder, temporaryFolder, transferFile } from 'dev-env'
import { makeTorrent } from './support/make-torrent.ts'
import { createMember } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

const SIZE = 8 * 1024 * 1024
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
  })
  await tracker.context.categories.seed()
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

test('two aria2 of different members meet through the tracker alone and end with the same bytes', async () => {
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
}, 90_000)
