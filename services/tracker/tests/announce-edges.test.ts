import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import {
  type AnnounceParameters,
  announce,
  announceQuery,
  percentBytes,
  type Reply,
  rawGet,
} from './support/announcer.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let redis: Redis
let uploader: TestMember
let serial = 0

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', TRUSTED_PROXIES: '127.0.0.1' })
  tracker.holdClock()
  await tracker.context.categories.seed()
  uploader = await createMember(tracker, 'uploader')
  redis = new Redis(tracker.redis.url)
})
afterAll(async () => {
  redis.disconnect()
  await tracker.stop()
})

type Announcing = {
  readonly userId: string
  readonly torrentId: string
  readonly infoHash: string
  readonly passkey: string
  /** Announces as a seeder unless told otherwise. */
  act(parameters?: Partial<AnnounceParameters>): Promise<Reply>
  complete(): Promise<number>
}

/** A torrent and a user who announces it, both new. */
async function announcing(): Promise<Announcing> {
  serial += 1
  const { id: userId, passkey } = await createAnnouncer(tracker, `someone-${String(serial)}`)
  const { id: torrentId, infoHash } = await uploadTorrent(uploader, `Torrent number ${String(serial)}`)
  const hash = `info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`
  return {
    userId,
    torrentId,
    infoHash,
    passkey,
    act: (parameters) => announce(tracker.url, passkey, { infoHash, left: 0, ...parameters }),
    complete: async () => {
      const { bytes } = await rawGet(tracker.url, `/scrape/${passkey}?${hash}`)
      return Number(/8:completei(\d+)e/.exec(bytes.toString('latin1'))?.[1])
    },
  }
}

/** Sends text over a connection of its own, ends its own half at once, and returns what comes until the other ends. */
function exchangeHalfClosed(text: string): Promise<string> {
  const { hostname, port } = new URL(tracker.url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('end', () => resolve(Buffer.concat(chunks).toString('latin1')))
    socket.end(text)
  })
}

test.each([
  ['an announce', 1, 'Connection: close'],
  ['an announce on a connection to be kept', 1, 'Connection: keep-alive'],
  ['announces one behind the other', 3, 'Connection: keep-alive'],
])('%s is answered on a connection whose client sends no more', async (_name, count, header) => {
  const { infoHash, passkey } = await announcing()
  const request = `GET /announce?passkey=${passkey}&${announceQuery({ infoHash })} HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`
  const answered = await exchangeHalfClosed(request.repeat(count))
  expect(answered.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(count)
  expect(answered.match(/10:incompletei1e/g)).toHaveLength(count)
})
