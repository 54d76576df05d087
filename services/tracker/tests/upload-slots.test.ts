import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type DurableServers, eventually, startDurableServers, withClient } from '@vault-and-tracker/dev-env'
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

let servers: DurableServers
let tracker: TestTracker
let member: Client
let other: Client

beforeAll(async () => {
  servers = await startDurableServers('upload-slots')
  tracker = await startTracker(
    { REST_WRITE_LIMIT: '100000' },
    { postgres: servers.postgres, redisUrl: servers.redis.url },
  )
  await tracker.context.useCases.categories.seed()
  member = await tracker.signedIn('member')
  other = await tracker.signedIn('other')
})

afterAll(async () => {
  await tracker.stop()
  await servers.stop()
})

const taken = () => metricOf(tracker, 'tracker_uploads')
const start = (file = makeTorrent('cut off')) => startRawUpload(tracker.url, member, file)
const startMany = (count = TRIES) => Promise.all(Array.from({ length: count }, () => start()))

/** Cuts uploads off, and sees that every slot is there again. */
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

test('a member whose uploads stall holds their own slots and none of others', async () => {
  const stalled = await startMany()
  for (const upload of stalled) upload.send(100)
  const refused = () => stalled.map((upload) => upload.answered()).filter((answer) => answer !== '')
  await eventually(() => refused().length === TRIES - PER_MEMBER)
  for (const answer of refused()) expect(answer).toMatch(/^HTTP\/1\.1 429 [^]*\r\nRetry-After: 5\r\n[^]*"RATE_LIMITED"/)
  expect(await taken()).toBe(PER_MEMBER)
  expect((await other.upload(makeTorrent('of another'), { category: 'other' })).status).toBe(201)
  await cutOff(stalled)
})

test('when members hold all slots together, another one is told to try again', async () => {
  const members = await Promise.all(
    Array.from({ length: Math.ceil(TOTAL / PER_MEMBER) }, (_, i) => tracker.signedIn(`holder-${String(i)}`)),
  )
  const stalled = await Promise.all(
    members.flatMap((holder) =>
      Array.from({ length: PER_MEMBER }, () => startRawUpload(tracker.url, holder, makeTorrent('held'))),
    ),
  )
  for (const upload of stalled) upload.send(100)
  await eventually(async () => (await taken()) === TOTAL)
  const refused = await other.upload(makeTorrent('one too many'), { category: 'other' })
  expect([refused.status, refused.member('error', 'code'), refused.headers.get('retry-after')]).toEqual([
    503,
    'UNAVAILABLE',
    '5',
  ])
  await cutOff(stalled)
})

test('slots come back from uploads that are cut off while their session is looked up', async () => {
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

test('slots come back from uploads that are cut off while a frozen Redis is asked for session and limit', async () => {
  servers.redis.pause()
  const uploads = await startMany()
  for (const upload of uploads) upload.send(100)
  await sleep(200)
  for (const { socket } of uploads.slice(TRIES / 2)) socket.destroy()
  await sleep(50)
  servers.redis.resume()
  for (const { socket } of uploads) socket.destroy()
  await expectAllSlots()
})

test.each([0, 1, 150, 250, -40, -1])('slots come back from uploads of which %i bytes arrive', async (bytes) => {
  for (let round = 0; round < TRIES / PER_MEMBER; round++) {
    const uploads = await startMany(PER_MEMBER)
    for (const upload of uploads) upload.send(bytes < 0 ? makeTorrent('cut off').length + bytes : bytes)
    await eventually(async () => (await taken()) === PER_MEMBER)
    for (const { socket } of uploads) socket.destroy()
    await eventually(async () => (await taken()) === 0)
  }
  await expectAllSlots()
})

test('an upload whose client has gone has its slot for as long as its file is read', async () => {
  const upload = await start(withManyKeys('gone'))
  upload.send()
  await eventually(() => upload.socket.writableLength === 0)
  await eventually(async () => (await taken()) === 1)
  await cutOff([upload])
})

test('an upload whose client has gone has its slot for as long as it is stored', async () => {
  await withClient(tracker.database.adminUrl, async (client) => {
    await client.query('begin')
    await client.query('lock table torrents in access exclusive mode')
    const uploads = await Promise.all(
      Array.from({ length: PER_MEMBER }, (_, i) => start(makeTorrent(`stored ${String(i)}`))),
    )
    for (const upload of uploads) upload.send()
    const waiting = `select from pg_locks where not granted and relation = 'torrents'::regclass`
    await eventually(async () => (await client.query(waiting)).rowCount === PER_MEMBER)
    for (const { socket } of uploads) socket.destroy()
    await sleep(100)
    expect(await taken()).toBe(PER_MEMBER)
    await client.query('rollback')
  })
  await expectAllSlots()
})

test('slots come back from uploads that are cut off at any time around their answer', async () => {
  for (let round = 0; round < TRIES; round++) {
    const upload = await start(makeTorrent(`answered ${String(round)}`))
    upload.send()
    await sleep(round)
    upload.socket.destroy()
  }
  await expectAllSlots()
})

test('an upload whose connection is half closed is answered, and gives its slot back', async () => {
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

test('slots come back from forms that are none, and from those that are too large', async () => {
  const two = new FormData()
  for (const name of ['one', 'two']) two.append('torrent', new Blob([name]), `${name}.torrent`)
  for (let i = 0; i < TRIES; i++) {
    const none = { body: '--x', headers: { 'content-type': 'multipart/form-data' } }
    expect((await member.send('POST', '/api/torrents', none)).status).toBe(400)
    expect((await member.send('POST', '/api/torrents', { body: two })).status).toBe(413)
  }
  await expectAllSlots()
})
