import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { eventually, removeTemporaryFolder, startRedis, temporaryFolder } from '@vault-and-tracker/dev-env'
import { announce, percentBytes, rawGet } from './support/announcer.ts'
import { createClient } from './support/client.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { answerTo, connectSocket, makeOffers, type SocketClient } from './support/socket-client.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from './support/tracker-process.ts'

let world: TestTracker
let uploader: TestMember
const passkeys: string[] = []
const open: SocketClient[] = []
let one: TrackerProcess
let two: TrackerProcess
let torrents = 0
/** The keys of the running processes except `two`. */
let keysOfOthers: readonly string[]

beforeAll(async () => {
  world = await startTracker()
  await world.context.useCases.categories.seed()
  uploader = await createMember(world, 'uploader')
  for (let i = 0; i < 4; i++) passkeys.push((await createAnnouncer(world, `replica-user-${String(i)}`)).passkey)
  const env = { DATABASE_URL: world.database.appUrl, REDIS_URL: world.redisUrl }
  one = await startTrackerProcess(env)
  keysOfOthers = await processKeys()
  two = await startTrackerProcess(env)
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()))
})
afterAll(async () => {
  await Promise.all([one.process.kill(), two.process.kill()])
  await world.stop()
})

const processKeys = (): Promise<string[]> => world.redisClient.keys('tracker:sockets:process:*')

async function newTorrent(): Promise<string> {
  torrents += 1
  return (await uploadTorrent(uploader, `Replicated torrent ${String(torrents)}`)).infoHash
}

async function connect(url: string, user: number, options = {}): Promise<SocketClient> {
  const client = await connectSocket(url, passkeys[user], options)
  open.push(client)
  return client
}

async function counts(infoHash: string): Promise<string> {
  const target = `/scrape?passkey=${passkeys[0] ?? ''}&info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`
  const text = (await rawGet(world.url, target)).bytes.toString('latin1')
  return /completei(\d+)e.*incompletei(\d+)e/.exec(text)?.slice(1).join('/') ?? text
}

test('offers and answers reach peers of another process, and not their own user', async () => {
  const infoHash = await newTorrent()
  const [a, b, same] = [await connect(one.url, 0), await connect(two.url, 1), await connect(two.url, 0)]
  await b.announce(infoHash, { event: 'started' })
  await same.announce(infoHash, { event: 'started' })
  await a.announce(infoHash, { event: 'started', offers: makeOffers(5) })
  await eventually(() => b.offersReceived().length === 1)
  b.send(answerTo(b, b.offersReceived()[0] ?? {}))
  await eventually(() => a.answersReceived().length === 1)
  expect(a.answersReceived()[0]).toMatchObject({ peer_id: b.peerId })
  await same.announce(infoHash)
  expect(same.offersReceived()).toEqual([])
})

test('offers reach a peer of another process that joined since the last announce', async () => {
  const infoHash = await newTorrent()
  const [a, b] = [await connect(one.url, 0), await connect(two.url, 1)]
  await a.announce(infoHash, { event: 'started' })
  await b.announce(infoHash, { event: 'started' })
  await a.announce(infoHash, { event: 'paused', offers: makeOffers(5) })
  await eventually(() => b.offersReceived().length === 1)
})

test('refuses a peer id with a live socket in another process, and takes over a silent one', async () => {
  const infoHash = await newTorrent()
  const first = await connect(one.url, 0)
  await first.announce(infoHash, { event: 'started' })
  const second = await connect(two.url, 0, { peerId: first.peerId })
  expect((await second.announce(infoHash))['failure reason']).toMatch(/in use/)
  await first.close()
  const silent = await connect(one.url, 0, { peerId: first.peerId, autoPong: false })
  await eventually(async () => 'complete' in (await silent.announce(infoHash)))
  await expect(second.announce(infoHash)).resolves.toMatchObject({ incomplete: 1 })
  await eventually(() => silent.closeCode() === 1008)
  expect(await counts(infoHash)).toBe('0/1')
})

test("replicas share peers, and apply each other's passkey resets", async () => {
  const seeder = await createMember(world, 'replica-seeder')
  const leecher = await createMember(world, 'replica-leecher')
  const torrent = await uploadTorrent(seeder, 'Torrent of two replicas')
  await announce(one.url, seeder.passkey, { infoHash: torrent.infoHash, left: 0, port: 7001, event: 'started' })
  const reply = await announce(two.url, leecher.passkey, { infoHash: torrent.infoHash, port: 7002, event: 'started' })
  expect(reply.peers).toEqual(['127.0.0.1:7001'])

  const client = createClient(one.url)
  client.cookie = leecher.client.cookie
  const reset = await client.post('/api/user/passkey', undefined, { origin: one.url })
  expect(reset.status).toBe(200)
  await eventually(async () => {
    const reply = await announce(two.url, leecher.passkey, { infoHash: torrent.infoHash, port: 7002 })
    return String(reply.fields['failure reason']).startsWith('Unknown passkey')
  })
  const accepted = await announce(two.url, reset.member('passkey'), { infoHash: torrent.infoHash, port: 7002 })
  expect(accepted.fields['complete']).toBe(1)
})

test('while Redis is down, sockets stay open and offers arrive; peers return with their next announce', async () => {
  const infoHash = await newTorrent()
  const dataDir = temporaryFolder('websocket-redis')
  const redis = await startRedis({ dataDir, durable: false })
  const tracker = await startTrackerProcess({ DATABASE_URL: world.database.appUrl, REDIS_URL: redis.url })
  try {
    const [a, b, c] = [await connect(tracker.url, 0), await connect(tracker.url, 1), await connect(tracker.url, 2)]
    await a.announce(infoHash, { event: 'started' })
    await c.announce(infoHash, { event: 'started' })
    await redis.stop()
    expect((await b.announce(infoHash, { event: 'started' }))['failure reason']).toMatch(/temporarily unavailable/)
    const offering = await a.announce(infoHash, { event: 'paused', offers: makeOffers(1) })
    expect(offering['failure reason']).toMatch(/temporarily unavailable/)
    await eventually(() => c.offersReceived().length === 1)
    await c.close()
    const again = await startRedis({ dataDir, durable: false, port: Number(new URL(redis.url).port) })
    try {
      await eventually(async () => 'complete' in (await b.announce(infoHash, { event: 'started' })))
      await expect(a.announce(infoHash, { event: 'completed', left: 0 })).resolves.toMatchObject({
        complete: 1,
        incomplete: 1,
      })
      await b.announce(infoHash, { offers: makeOffers(1) })
      await eventually(() => a.offersReceived().length === 1)
      expect([a.closeCode(), b.closeCode()]).toEqual([undefined, undefined])
    } finally {
      await tracker.process.stop()
      await again.stop()
    }
  } finally {
    await tracker.process.kill()
    removeTemporaryFolder(dataDir)
  }
})

// The last tests end the processes.
test('the peers of a killed process leave the counts', async () => {
  const infoHash = await newTorrent()
  const survivor = await connect(one.url, 0)
  await survivor.announce(infoHash, { event: 'started' })
  for (const user of [1, 2, 3])
    await (await connect(two.url, user)).announce(infoHash, { event: 'started', left: user === 1 ? 0 : 1000 })
  expect(await counts(infoHash)).toBe('1/3')
  await two.process.kill()
  // Otherwise it would expire after 15 seconds.
  await world.redisClient.del((await processKeys()).filter((key) => !keysOfOthers.includes(key)))
  await eventually(async () => (await counts(infoHash)) === '0/1', 40_000)
})

test('a process that stops closes its sockets with 1001 and removes their peers', async () => {
  const infoHash = await newTorrent()
  const client = await connect(one.url, 0)
  await client.announce(infoHash, { event: 'started' })
  expect((await one.process.stop()).code).toBe(0)
  await eventually(() => client.closeCode() !== undefined)
  expect(client.closeCode()).toBe(1001)
  expect(await counts(infoHash)).toBe('0/0')
})
