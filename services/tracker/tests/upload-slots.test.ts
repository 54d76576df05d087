import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  type PrivateServer,
  removeTemporaryFolder,
  startRedis,
  TRIALS,
  temporaryFolder,
  withClient,
} from '@vault-and-tracker/dev-env'
import type { Client } from './support/client.ts'
import { withManyKeys } from './support/costly-torrents.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { metricOf } from './support/metrics.ts'
import { type RawUpload, startRawUpload } from './support/raw-upload.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

/** More than there are slots in total. */
const TRIES = 20
const TOTAL = 16
const PER_MEMBER = 3
const PREVIEWS = 8

/** Its own, which a test freezes. */
let redis: PrivateServer
const dataDir = temporaryFolder('upload-slots')
let tracker: TestTracker
let member: Client
let other: Client

beforeAll(async () => {
  redis = await startRedis({ dataDir, durable: false })
  tracker = await startTracker({ REST_WRITE_LIMIT: '100000' }, { redisUrl: redis.url })
  await tracker.context.useCases.categories.seed()
  member = await tracker.signedIn('member')
  other = await tracker.signedIn('other')
})

afterAll(async () => {
  await tracker.stop()
  await redis.stop()
  removeTemporaryFolder(dataDir)
})

const taken = () => metricOf(tracker, 'tracker_uploads')
const start = (file = makeTorrent('cut off')) => startRawUpload(tracker.url, member, file)
function preview(client: Client) {
  const body = new FormData()
  body.append('torrent', new Blob([Uint8Array.from(makeTorrent('previewed'))]), 'x.torrent')
  return client.send('POST', '/api/torrents/preview', { body })
}
const startMany = (count = TRIES) => Promise.all(Array.from({ length: count }, () => start()))

/** Cuts uploads off, and checks that every slot is free again. */
async function cutOff(uploads: readonly RawUpload[]): Promise<void> {
  for (const { socket } of uploads) socket.destroy()
  await expectAllSlots()
}

async function expectAllSlots(): Promise<void> {
  await eventually(async () => (await taken()) === 0)
  const own = await Promise.all(
    Array.from({ length: PER_MEMBER }, (_, i) =>
      member.upload(makeTorrent(`after ${String(Math.random())} ${String(i)}`), { category: 'other' }),
    ),
  )
  expect(own.map(({ status }) => status)).toEqual(Array(PER_MEMBER).fill(201))
}

test("stalled uploads take only the member's own slots", async () => {
  const stalled = await startMany()
  for (const upload of stalled) upload.send(100)
  const refused = () => stalled.map((upload) => upload.answered()).filter((answer) => answer !== '')
  await eventually(() => refused().length === TRIES - PER_MEMBER)
  for (const answer of refused()) expect(answer).toMatch(/^HTTP\/1\.1 429 [^]*\r\nRetry-After: 5\r\n[^]*"RATE_LIMITED"/)
  expect(await taken()).toBe(PER_MEMBER)
  expect((await other.upload(makeTorrent('of another'), { category: 'other' })).status).toBe(201)
  await cutOff(stalled)
})

/** Members of whom each has begun as many uploads and previews as they may. */
async function startAllOf(members: number): Promise<RawUpload[]> {
  const names = Array.from({ length: members }, () => `holder-${String(++holders)}`)
  const started = names.map(async (name) => {
    const holder = await tracker.signedIn(name)
    const paths = [...Array<string>(PER_MEMBER).fill('/api/torrents'), '/api/torrents/preview']
    return Promise.all(paths.map((path) => startRawUpload(tracker.url, holder, makeTorrent('held'), path)))
  })
  const stalled = (await Promise.all(started)).flat()
  for (const upload of stalled) upload.send(100)
  return stalled
}

let holders = 0

test('while six members take all they can, a seventh can preview and upload', async () => {
  const stalled = await startAllOf(6)
  const isSettled = async (): Promise<boolean> =>
    (await taken()) + stalled.filter((upload) => upload.answered() !== '').length === stalled.length
  await eventually(isSettled)
  expect((await preview(other)).status).toBe(200)
  expect((await other.upload(makeTorrent('of a seventh'), { category: 'other' })).status).toBe(201)
  await cutOff(stalled)
})

test('if all slots are taken, another member gets Retry-After', async () => {
  const stalled = await startAllOf(TOTAL)
  await eventually(async () => (await taken()) === TOTAL + PREVIEWS)
  const refused = await other.upload(makeTorrent('one too many'), { category: 'other' })
  expect([refused.status, refused.member('error', 'code'), refused.headers.get('retry-after')]).toEqual([
    503,
    'UNAVAILABLE',
    '5',
  ])
  await cutOff(stalled)
})

test('a member can preview one file at a time, without taking upload slots', async () => {
  const stalled = await Promise.all(
    [1, 2].map(() => startRawUpload(tracker.url, member, makeTorrent('previewed'), '/api/torrents/preview')),
  )
  for (const upload of stalled) upload.send(100)
  await eventually(() => stalled.some((upload) => upload.answered().startsWith('HTTP/1.1 429 ')))
  expect(await taken()).toBe(1)
  expect((await preview(other)).status).toBe(200)
  expect((await member.upload(makeTorrent('meanwhile'), { category: 'other' })).status).toBe(201)
  await cutOff(stalled)
})

test('a body that trickles gets 408, and one over a slow connection is accepted', async () => {
  const [dripping, silent, slow] = await Promise.all([
    start(),
    start(),
    startRawUpload(tracker.url, other, makeTorrent('slow line', { size: 25_000 * 262_144 })),
  ])
  const uploads = [dripping, silent]
  const [every, step] = [500, 20 * 1024]
  for (let tick = 0; tick * step < slow.length; tick++) {
    slow.sendPart(tick * step, (tick + 1) * step)
    if (!dripping.socket.destroyed) dripping.sendPart(tick, tick + 1)
    await sleep(every)
  }
  await eventually(() => slow.answered() !== '' && uploads.every((upload) => upload.socket.readableEnded))
  for (const upload of uploads) expect(upload.answered()).toMatch(/^HTTP\/1\.1 408 [^]*"TOO_SLOW"/)
  expect(slow.answered()).toMatch(/^HTTP\/1\.1 201 /)
  await cutOff([...uploads, slow])
}, 60_000)

test('releases the slots of uploads cut off during the session lookup', async () => {
  await withClient(tracker.database.adminUrl, async (client) => {
    await client.query('begin')
    await client.query('lock table users in access exclusive mode')
    const uploads = await startMany()
    for (const upload of uploads) upload.send(100)
    await sleep(200)
    for (const { socket } of uploads) socket.destroy()
    await sleep(200)
    await client.query('rollback')
  })
  await expectAllSlots()
})

test('releases the slots of uploads cut off while Redis is frozen', async () => {
  redis.pause()
  const uploads = await startMany()
  for (const upload of uploads) upload.send(100)
  await sleep(200)
  for (const { socket } of uploads.slice(TRIES / 2)) socket.destroy()
  await sleep(50)
  redis.resume()
  for (const { socket } of uploads) socket.destroy()
  await expectAllSlots()
})

test('releases the slots of uploads cut off in the form, in the file, and before the last byte', async () => {
  for (const bytes of Array.from({ length: TRIALS }, () => [0, 150, 250, -1]).flat()) {
    const uploads = await startMany(PER_MEMBER)
    for (const upload of uploads) upload.send(bytes < 0 ? upload.length + bytes : bytes)
    await eventually(async () => (await taken()) === PER_MEMBER)
    for (const { socket } of uploads) socket.destroy()
    await eventually(async () => (await taken()) === 0)
  }
  await expectAllSlots()
})

test('an upload keeps its slot while its file is read, even without its client', async () => {
  let tries = 0
  // On a busy machine the file may be read before the metric is.
  await eventually(async () => {
    const upload = await start(withManyKeys(`gone ${String(++tries)}`))
    upload.send()
    await eventually(() => upload.socket.writableLength === 0)
    const isKept = (await taken()) === 1
    await cutOff([upload])
    return isKept
  })
})

test('an upload keeps its slot while it is stored, even without its client', async () => {
  await withClient(tracker.database.adminUrl, async (client) => {
    await client.query('begin')
    await client.query('lock table torrents in access exclusive mode')
    const uploads = await Promise.all(
      Array.from({ length: PER_MEMBER }, (_, i) => start(makeTorrent(`stored ${String(i)}`))),
    )
    for (const upload of uploads) upload.send()
    const waiting = `select from pg_locks where not granted and relation = 'torrents'::regclass`
    // Tasks in the background may wait as well.
    await eventually(async () => (await taken()) === PER_MEMBER)
    await eventually(async () => Number((await client.query(waiting)).rowCount) >= PER_MEMBER)
    for (const { socket } of uploads) socket.destroy()
    await sleep(100)
    expect(await taken()).toBe(PER_MEMBER)
    await client.query('rollback')
  })
  await expectAllSlots()
})

test('releases the slots of uploads cut off around their response', async () => {
  for (let round = 0; round < TRIES; round++) {
    const upload = await start(makeTorrent(`answered ${String(round)}`))
    upload.send()
    await sleep(round)
    upload.socket.destroy()
  }
  await expectAllSlots()
})

test('answers an upload with a half-closed connection and releases its slot', async () => {
  const upload = await start(makeTorrent('half closed'))
  upload.send()
  upload.socket.end()
  await once(upload.socket, 'end')
  expect(upload.answered()).toMatch(/^HTTP\/1\.1 201 /)
  const cut = await start()
  cut.send(100)
  cut.socket.end()
  await once(cut.socket, 'end')
  await expectAllSlots()
})

test('releases the slots of malformed and oversized forms', async () => {
  const two = new FormData()
  for (const name of ['one', 'two']) two.append('torrent', new Blob([name]), `${name}.torrent`)
  for (let i = 0; i <= PER_MEMBER; i++) {
    const none = { body: '--x', headers: { 'content-type': 'multipart/form-data' } }
    expect((await member.send('POST', '/api/torrents', none)).status).toBe(400)
    expect((await member.send('POST', '/api/torrents', { body: two })).status).toBe(413)
  }
  await expectAllSlots()
})
