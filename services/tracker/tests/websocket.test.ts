import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { writeAccounting } from './support/accounting.ts'
import { announce, percentBytes, rawGet } from './support/announcer.ts'
import type { Client } from './support/client.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { answerTo, binary, connectSocket, makeOffers, type SocketClient } from './support/socket-client.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let uploader: TestMember
let admin: Client
const passkeys: string[] = []
const open: SocketClient[] = []
let torrents = 0

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', ANNOUNCE_LIMIT: '0' })
  await tracker.context.useCases.categories.seed()
  uploader = await createMember(tracker, 'uploader')
  admin = await tracker.signedIn('socket-admin', 'admin')
  for (let i = 0; i < 4; i++) passkeys.push((await createAnnouncer(tracker, `socket-user-${String(i)}`)).passkey)
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()))
})
afterAll(() => tracker.stop())

async function newTorrent(): Promise<{ id: string; infoHash: string }> {
  torrents += 1
  return uploadTorrent(uploader, `Socket torrent ${String(torrents)}`)
}

async function connect(user: number, options: Parameters<typeof connectSocket>[2] = {}): Promise<SocketClient> {
  const client = await connectSocket(tracker.url, passkeys[user], options)
  open.push(client)
  return client
}

async function httpCounts(infoHash: string): Promise<string> {
  const target = `/scrape?passkey=${passkeys[0] ?? ''}&info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`
  const text = (await rawGet(tracker.url, target)).bytes.toString('latin1')
  return /completei(\d+)e.*incompletei(\d+)e/.exec(text)?.slice(1).join('/') ?? text
}

test('an announce receives counts and intervals, and is immediately counted over HTTP', async () => {
  const { infoHash } = await newTorrent()
  const client = await connect(0)
  const reply = await client.announce(infoHash, { event: 'started' })
  expect(reply).toMatchObject({
    action: 'announce',
    info_hash: binary(infoHash),
    complete: 0,
    incomplete: 1,
    'min interval': 60,
    min_interval: 60,
  })
  expect(reply['interval']).toBeGreaterThanOrEqual(120)
  expect(await httpCounts(infoHash)).toBe('0/1')
})

test.each(['/', '/announce', '/announce/<passkey>', '/<passkey>/announce', '/?passkey=<passkey>'])(
  'accepts an upgrade at %s',
  async (form) => {
    const { infoHash } = await newTorrent()
    const client = await connect(0, { target: form.replace('<passkey>', passkeys[0] ?? '') })
    const reply = await client.announce(infoHash, { event: 'started' })
    if (form.includes('passkey')) expect(reply).toMatchObject({ incomplete: 1 })
    else expect(reply['failure reason']).toMatch(/^Missing passkey/)
  },
)

test('offers and answers reach the right users, and no others', async () => {
  const { infoHash } = await newTorrent()
  const [a, b, c] = [await connect(0), await connect(1), await connect(0)]
  await b.announce(infoHash, { event: 'started' })
  await c.announce(infoHash, { event: 'started' })
  await a.announce(infoHash, { event: 'started', offers: makeOffers(5), numwant: 5 })
  await eventually(() => b.offersReceived().length === 1)
  const [offer] = b.offersReceived()
  expect(offer).toMatchObject({ action: 'announce', info_hash: binary(infoHash), peer_id: a.peerId })
  b.send(answerTo(b, offer ?? {}))
  b.send(answerTo(b, offer ?? {}))
  await eventually(() => a.answersReceived().length === 1)
  expect(a.answersReceived()[0]).toEqual({
    action: 'announce',
    info_hash: binary(infoHash),
    peer_id: b.peerId,
    answer: { type: 'answer', sdp: `answer to ${String(offer?.['offer_id'])}` },
    offer_id: offer?.['offer_id'],
  })
  await a.announce(infoHash)
  expect(a.answersReceived()).toHaveLength(1)
  expect(a.offersReceived()).toHaveLength(0)
  expect(c.offersReceived()).toHaveLength(0)
})

test('an answer to an unknown offer is dropped', async () => {
  const { infoHash } = await newTorrent()
  const [a, b] = [await connect(0), await connect(1)]
  await a.announce(infoHash, { event: 'started' })
  await b.announce(infoHash, { event: 'started' })
  b.send(answerTo(b, { info_hash: binary(infoHash), peer_id: a.peerId, offer_id: 'x'.repeat(20) }))
  await b.announce(infoHash)
  expect(a.answersReceived()).toEqual([])
})

test('completed is counted once, and only for peers that had something left; stopped receives a reply', async () => {
  const { infoHash } = await newTorrent()
  const [leecher, seeder] = [await connect(0), await connect(1)]
  await leecher.announce(infoHash, { event: 'started' })
  await expect(seeder.announce(infoHash, { event: 'completed', left: 0 })).resolves.toMatchObject({ downloaded: 0 })
  const completed = await leecher.announce(infoHash, { event: 'completed', left: 0, downloaded: 1000 })
  expect(completed).toMatchObject({ complete: 2, incomplete: 0 })
  await writeAccounting(tracker)
  const stopped = await leecher.announce(infoHash, { event: 'stopped', left: null, downloaded: 0 })
  expect(stopped).toMatchObject({ complete: 1, incomplete: 0, downloaded: 1 })
  expect(await httpCounts(infoHash)).toBe('1/0')
})

test('a peer that closes its socket is removed', async () => {
  const { infoHash } = await newTorrent()
  const client = await connect(0)
  await client.announce(infoHash, { event: 'started' })
  await client.close()
  await eventually(async () => (await httpCounts(infoHash)) === '0/0')
})

test('a partial seed counts as incomplete, and its offers reach leechers only', async () => {
  const { infoHash } = await newTorrent()
  const [partial, seeder, leecher] = [await connect(0), await connect(1), await connect(2)]
  await seeder.announce(infoHash, { event: 'started', left: 0 })
  await leecher.announce(infoHash, { event: 'started' })
  const reply = await partial.announce(infoHash, { event: 'paused', left: 500, offers: makeOffers(3) })
  expect(reply).toMatchObject({ complete: 1, incomplete: 2 })
  await eventually(() => leecher.offersReceived().length === 1)
  expect(seeder.offersReceived()).toEqual([])
})

test('an announce too soon has its offers relayed, and its counters credited later', async () => {
  const { infoHash } = await newTorrent()
  const [a, b] = [await connect(0), await connect(1)]
  await b.announce(infoHash, { event: 'started' })
  await a.announce(infoHash, { event: 'started' })
  for (let i = 1; i <= 3; i++) await a.announce(infoHash, { offers: makeOffers(1), uploaded: 100 * i })
  await eventually(() => b.offersReceived().length === 3)
})

test('HTTP and sockets share counts, but not peers', async () => {
  const { infoHash } = await newTorrent()
  const client = await connect(0)
  await client.announce(infoHash, { event: 'started' })
  const reply = await announce(tracker.url, passkeys[1] ?? '', { infoHash, port: 7001, event: 'started' })
  expect(reply).toMatchObject({ fields: { incomplete: 2 }, peers: [] })
  await expect(
    client.announce(infoHash, { offers: makeOffers(5), event: 'completed', left: 0 }),
  ).resolves.toMatchObject({ complete: 1, incomplete: 1 })
})

test('scrapes one hash or many', async () => {
  const [one, two] = [await newTorrent(), await newTorrent()]
  const client = await connect(0)
  await client.announce(one.infoHash, { event: 'started', left: 0 })
  const single = await client.next(() => client.send({ action: 'scrape', info_hash: binary(one.infoHash) }))
  expect(single).toMatchObject({
    action: 'scrape',
    files: { [binary(one.infoHash)]: { complete: 1, incomplete: 0, downloaded: 0 } },
    flags: { min_request_interval: 600 },
  })
  const info_hash = [binary(one.infoHash), binary(two.infoHash), binary('ff'.repeat(20))]
  const many = await client.next(() => client.send({ action: 'scrape', info_hash }))
  expect(Object.keys(many['files'] ?? {})).toHaveLength(2)
  const none = await client.next(() => client.send({ action: 'scrape' }))
  expect(none).toMatchObject({ action: 'scrape', 'failure reason': 'A scrape needs an info_hash' })
})

test('an unknown torrent, another peer id and a peer id in use are refused', async () => {
  const { infoHash } = await newTorrent()
  const client = await connect(0)
  await expect(client.announce('ab'.repeat(20))).resolves.toEqual({
    action: 'announce',
    info_hash: binary('ab'.repeat(20)),
    'failure reason': 'Unregistered torrent',
  })
  await client.announce(infoHash, { event: 'started' })
  await expect(client.announce(infoHash, { peer_id: 'x'.repeat(20) })).resolves.toMatchObject({
    'failure reason': 'A connection takes one peer_id for each torrent',
  })
  const second = await connect(0, { peerId: client.peerId })
  await expect(second.announce(infoHash)).resolves.toMatchObject({
    'failure reason': 'This peer_id is in use on another connection',
  })
  expect(await httpCounts(infoHash)).toBe('0/1')
})

test('another socket takes over the peer of one that does not answer a ping', async () => {
  const { infoHash } = await newTorrent()
  const silent = await connect(0, { autoPong: false })
  await silent.announce(infoHash, { event: 'started' })
  const second = await connect(0, { peerId: silent.peerId })
  await expect(second.announce(infoHash)).resolves.toMatchObject({ incomplete: 1 })
  await eventually(() => silent.closeCode() === 1008)
  expect(await httpCounts(infoHash)).toBe('0/1')
})

test('a wrong passkey fails each message; a reset one closes the socket', async () => {
  const { infoHash } = await newTorrent()
  const wrong = await connectSocket(tracker.url, 'ab'.repeat(20))
  open.push(wrong)
  expect((await wrong.announce(infoHash))['failure reason']).toMatch(/^Unknown passkey/)
  const member = await createMember(tracker, 'resets-passkey')
  const client = await connectSocket(tracker.url, member.passkey)
  open.push(client)
  await client.announce(infoHash, { event: 'started' })
  await member.client.post('/api/user/passkey', undefined, { origin: 'http://tracker.test' })
  await eventually(() => client.closeCode() === 1008)
  expect(await httpCounts(infoHash)).toBe('0/0')
})

test('open sockets receive the removal of a torrent', async () => {
  const { id, infoHash } = await newTorrent()
  const client = await connect(0)
  await client.announce(infoHash, { event: 'started' })
  await uploader.client.send('DELETE', `/api/torrents/${id}`, {
    headers: { 'content-type': 'application/json' },
    body: '{"reason":"test"}',
  })
  await eventually(() => client.received.some((each) => 'failure reason' in each))
})

test.each(['suspended', 'banned'])(
  'the sockets of a user who is %s are closed and no longer counted',
  async (state) => {
    const { infoHash } = await newTorrent()
    const admin = await tracker.signedIn(`admin-${state}`, 'admin')
    const { id, passkey } = await createAnnouncer(tracker, `is-${state}`)
    const client = await connectSocket(tracker.url, passkey)
    open.push(client)
    await client.announce(infoHash, { event: 'started' })
    expect((await admin.patch(`/api/admin/users/${id}`, { state })).status).toBe(200)
    await eventually(() => client.closeCode() === 1008)
    expect(await httpCounts(infoHash)).toBe('0/0')
  },
)

test('a session description arrives as it was sent', async () => {
  const { infoHash } = await newTorrent()
  const [a, b] = [await connect(0), await connect(1)]
  await b.announce(infoHash, { event: 'started' })
  const offers = ['v=0\r\n"quoted" \\ é ü 😀 \u2028 \u0001', '', '\ud800'].map((sdp, i) => ({
    offer: { type: 'offer', sdp },
    offer_id: `\u00ff\u0000"\\${String(i)}`.padEnd(20, '\u00e9'),
  }))
  for (const offer of offers) await a.announce(infoHash, { offers: [offer] })
  await eventually(() => b.offersReceived().length === offers.length)
  expect(b.offersReceived()).toEqual(
    offers.map((offer) => ({ action: 'announce', info_hash: binary(infoHash), peer_id: a.peerId, ...offer })),
  )
})

test('over the limit, a client that announces regularly gets credit and relays no offers, and a new one is refused', async () => {
  const { infoHash } = await newTorrent()
  const { infoHash: second } = await newTorrent()
  const [user] = await tracker.sql<{ id: string }>('select id from users where passkey = $1', [passkeys[3]])
  const limitTo = (announceLimit: number | null) => admin.patch(`/api/admin/users/${user?.id ?? ''}`, { announceLimit })
  const [other, limited] = [await connect(1), await connect(3)]
  await other.announce(infoHash, { event: 'started' })
  await limited.announce(infoHash, { event: 'started' })
  await limitTo(1)
  tracker.holdClock()
  tracker.advance(60_000)
  await limited.announce(second, { event: 'started' })
  const reply = await limited.announce(infoHash, { downloaded: 500, left: 500, offers: makeOffers(2), numwant: 2 })
  expect(reply).toMatchObject({ incomplete: 2, 'min interval': 60 })
  expect(reply['warning message']).toMatch(/^Too many announces/)
  expect(reply['interval']).toBeGreaterThanOrEqual(120)
  expect(reply['interval']).toBeLessThanOrEqual(240)
  const { infoHash: third } = await newTorrent()
  expect((await limited.announce(third, { event: 'started' }))['failure reason']).toMatch(/^Too many announces/)
  await limitTo(null)
  await limited.announce(third, { event: 'started' })
  await limited.announce(infoHash, { event: 'stopped', left: 500 })
  await other.announce(infoHash)
  expect(other.offersReceived()).toEqual([])
  await writeAccounting(tracker)
  expect(await tracker.sql('select downloaded from users where id = $1', [user?.id])).toEqual([{ downloaded: '500' }])
})
