import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { removeTemporaryFolder, temporaryFolder, transferFile } from '@vault-and-tracker/dev-env'

const PIECE = 256 * 1024
const folder = temporaryFolder('exchange-test')
const payload = randomBytes(5 * PIECE + 1000)
const file = join(folder, 'payload.bin')

// A minimal tracker: it keeps every peer and answers with all others.
const peers = new Map<string, Buffer>()
const tracker = createServer((request, response) => {
  const query = new URL(request.url ?? '', 'http://tracker').searchParams
  const port = Number(query.get('port'))
  const others = [...peers].filter(([key]) => key !== String(port)).map(([, peer]) => peer)
  peers.set(String(port), Buffer.from([127, 0, 0, 1, port >> 8, port & 255]))
  const compact = Buffer.concat(others)
  response.end(Buffer.concat([Buffer.from(`d8:intervali1800e5:peers${compact.length}:`), compact, Buffer.from('e')]))
})
let port = 0

beforeAll(async () => {
  writeFileSync(file, payload)
  tracker.listen(0, '127.0.0.1')
  await once(tracker, 'listening')
  const address = tracker.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
})

afterAll(() => {
  tracker.close()
  removeTemporaryFolder(folder)
})

function torrent(announce: string): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < payload.length; at += PIECE) {
    pieces.push(
      createHash('sha1')
        .update(payload.subarray(at, at + PIECE))
        .digest(),
    )
  }
  const info = `4:infod6:lengthi${payload.length}e4:name11:payload.bin12:piece lengthi${PIECE}e6:pieces${pieces.length * 20}:`
  return Buffer.concat([Buffer.from(`d8:announce${announce.length}:${announce}${info}`), ...pieces, Buffer.from('ee')])
}

it('transfers a file from one client to the other, which find each other only through the tracker', async () => {
  const both = torrent(`http://127.0.0.1:${port}/announce`)
  const workDir = join(folder, 'good')
  const { sha256 } = await transferFile({ seedTorrent: both, leechTorrent: both, file, workDir, timeoutMs: 30_000 })
  expect(sha256).toBe(createHash('sha256').update(payload).digest('hex'))
})

it('fails with the output of the clients when no tracker answers them', async () => {
  const nowhere = torrent('http://127.0.0.1:1/announce')
  const options = { seedTorrent: nowhere, leechTorrent: nowhere, file, workDir: join(folder, 'bad'), timeoutMs: 3000 }
  await expect(transferFile(options)).rejects.toThrow(/did not arrive within 3000 ms[^]*aria2c \(leecher\)/)
})
