import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { FAILURES, WARNINGS } from '@vault-and-tracker/bencode-tracker'
import { eventually } from '@vault-and-tracker/dev-env'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { Redis } from 'ioredis'
import { writeAccounting } from './support/accounting.ts'
import {
  type AnnounceParameters,
  announce,
  announceQuery,
  percentBytes,
  type Reply,
  rawGet,
} from './support/announcer.ts'
import { tellOfChange } from './support/invalidations.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { metricOf } from './support/metrics.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let redis: Redis
let uploader: TestMember
let serial = 0
const passkeys: string[] = []
const hashes: string[] = []

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', ALLOW_IP_PARAM: 'true', TRUSTED_PROXIES: '127.0.0.1' })
  tracker.holdClock()
  await tracker.context.useCases.categories.seed()
  uploader = await createMember(tracker, 'uploader')
  redis = new Redis(tracker.redisUrl)
  for (let i = 0; i < 6; i++) passkeys.push((await createAnnouncer(tracker, `member-${String(i)}`)).passkey)
  for (let i = 0; i < 24; i++) hashes.push((await uploadTorrent(uploader, `Torrent number ${String(i)}`)).infoHash)
})
afterAll(async () => {
  redis.disconnect()
  await tracker.stop()
})

const taken = { hash: 0 }

/** A torrent that no other test uses. */
function fresh(): string {
  const hash = hashes[taken.hash]
  taken.hash += 1
  if (hash === undefined) throw new Error('no torrents left')
  return hash
}

function by(member: number, parameters: AnnounceParameters): Promise<Reply> {
  const peerId = `-AA0001-member-numb${String(member)}`
  return announce(tracker.url, passkeys[member], { peerId, port: 7000 + member, ...parameters })
}

test('a reply is canonical bencode with its keys in order, byte for byte', async () => {
  const infoHash = fresh()
  await by(0, { infoHash, left: 0, ip: '1.2.3.4' })
  const reply = await by(1, { infoHash, ip: '5.6.7.8' })
  expect(reply.bytes.toString('latin1')).toMatch(
    /^d8:completei1e10:downloadedi0e11:external ip4:\x7f\0\0\x0110:incompletei1e8:intervali1[89]\d\de12:min intervali900e5:peers6:\x01\x02\x03\x04\x1b\x586:peers60:e$/,
  )
  expect(reply.headers['content-type']).toBe('text/plain')
  expect(reply.headers['cache-control']).toBe('no-store')
})

test('the interval is jittered by up to a tenth, and never below', async () => {
  const infoHash = fresh()
  const intervals = new Set<number>()
  for (let i = 0; i < 30; i++) intervals.add(Number((await by(0, { infoHash, event: 'started' })).fields['interval']))
  for (const interval of intervals) expect(interval >= 1800 && interval < 1980).toBe(true)
  expect(intervals.size).toBeGreaterThan(5)
})

test('compact=0 lists address, peer id and port; no_peer_id=1 omits the peer id', async () => {
  const infoHash = fresh()
  await by(0, { infoHash, left: 0, ip: '1.2.3.4' })
  await by(0, { infoHash, left: 0, ipv6: '2a00::1' })
  const listed = (await by(1, { infoHash, compact: 0 })).bytes.toString('latin1')
  expect(listed).toContain('d2:ip7:1.2.3.47:peer id20:-AA0001-member-numb04:porti7000ee')
  expect(listed).toContain('d2:ip7:2a00::17:peer id20:-AA0001-member-numb04:porti7000ee')
  expect(listed).not.toContain('6:peers6')
  const bare = (await by(1, { infoHash, compact: 0, no_peer_id: 1 })).bytes.toString('latin1')
  expect(bare).toContain('d2:ip7:1.2.3.44:porti7000ee')
})

test('a dual-stack peer is returned with both addresses and counted once', async () => {
  const infoHash = fresh()
  await by(0, { infoHash, left: 0, ip: '1.2.3.4', key: 'k' })
  await by(0, { infoHash, left: 0, ip: '2a00::7', key: 'k' })
  const reply = await by(1, { infoHash })
  expect(reply.fields['complete']).toBe(1)
  expect(reply.peers).toEqual(['1.2.3.4:7000', '2a000000000000000000000000000007:7000'])
})

test.each([
  [undefined, 5],
  [3, 3],
  [0, 0],
  [-1, 0],
  [1_000_000, 5],
])('numwant=%s of five returns %i', async (numwant, expected) => {
  const infoHash = fresh()
  for (let i = 1; i < 6; i++) await by(i, { infoHash, left: 0, ip: `1.2.3.${String(i)}` })
  expect((await by(0, { infoHash, numwant })).peers).toHaveLength(expected)
})

test('no peer is returned twice, for any numwant', async () => {
  const infoHash = fresh()
  const many = Array.from({ length: 5 }, (_, member) =>
    Array.from({ length: 5 }, (_, i) => [member, i] as const),
  ).flat()
  for (const [member, i] of many)
    await announce(tracker.url, passkeys[member], {
      infoHash,
      left: 0,
      peerId: `-AA0001-member-nu${String(member)}-${String(i)}`,
      port: 7000 + i,
      ip: `1.2.${String(member)}.${String(i + 1)}`,
    })
  const reply = await by(5, { infoHash, numwant: 999_999 })
  expect(reply.peers).toHaveLength(25)
  expect(new Set(reply.peers).size).toBe(25)
})

test('paused counts as a partial seed: incomplete, but not a downloader', async () => {
  const infoHash = fresh()
  await by(0, { infoHash })
  await by(1, { infoHash, event: 'paused' })
  const scraped = await rawGet(
    tracker.url,
    `/scrape/${String(passkeys[0])}?info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`,
  )
  expect(scraped.bytes.toString('latin1')).toContain('d8:completei0e10:downloadedi0e11:downloadersi1e10:incompletei2ee')
})

test('a scrape of 74 torrents returns the known ones in the order of their hashes, with flags', async () => {
  const unknown = Array.from({ length: 54 }, (_, i) => i.toString(16).padStart(2, '0').repeat(20))
  const asked = [...hashes.slice(0, 20), ...unknown]
  const query = asked.map((hash) => `info_hash=${percentBytes(Buffer.from(hash, 'hex'))}`).join('&')
  const text = (await rawGet(tracker.url, `/scrape/${String(passkeys[0])}?${query}`)).bytes.toString('latin1')
  const found = [...text.matchAll(/20:([\s\S]{20})d8:complete/g)].map((match) =>
    Buffer.from(match[1] ?? '', 'latin1').toString('hex'),
  )
  expect(found).toEqual(hashes.slice(0, 20).sort())
  expect(text).toMatch(/^d5:filesd/)
  expect(text).toMatch(/5:flagsd20:min_request_intervali600eee$/)
})

test('binary hashes of every byte survive, with raw and escaped characters', async () => {
  const bytes = Buffer.from('00257f80a0c3a9e282acf09f988effc20a0d2f3f', 'hex')
  const { id } = await uploadTorrent(uploader, 'Torrent with an odd hash')
  await tracker.sql('update torrents set info_hash = $1 where id = $2', [bytes, id])
  expect((await by(0, { infoHash: bytes.toString('hex') })).fields['incomplete']).toBe(1)
})

test('the reply contains the tracker id of the client', async () => {
  expect((await by(0, { infoHash: fresh(), trackerid: 'abc' })).fields['tracker id']).toBe('abc')
})

test('with ALLOW_IP_PARAM an invalid address is refused', async () => {
  const reply = await by(0, { infoHash: fresh(), ip: 'example.org' })
  expect(reply.fields['failure reason']).toMatch(/^Invalid ip/)
})

type Announcing = {
  readonly userId: string
  readonly torrentId: string
  readonly infoHash: string
  readonly passkey: string
  /** Announces as a seeder unless changed. */
  readonly act: (parameters?: Partial<AnnounceParameters>) => Promise<Reply>
  readonly complete: () => Promise<number>
}

/** A torrent and a user who announces it, both new. */
async function announcing(): Promise<Announcing> {
  serial += 1
  const { id: userId, passkey } = await createAnnouncer(tracker, `someone-${String(serial)}`)
  const { id: torrentId, infoHash } = await uploadTorrent(uploader, `Edge number ${String(serial)}`)
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

/** Sends text over a new connection, ends its half immediately, and returns the reply. */
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
])('replies to %s after the client has ended its half of the connection', async (_name, count, header) => {
  const { infoHash, passkey } = await announcing()
  const request = `GET /announce?passkey=${passkey}&${announceQuery({ infoHash })} HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`
  const answered = await exchangeHalfClosed(request.repeat(count))
  expect(answered.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(count)
  expect(answered.match(/10:incompletei1e/g)).toHaveLength(count)
})

const NOT_USABLE = 'tracker_failures_total{action="announce",rule="address_not_usable"}'

test.each(['0.0.0.0', '::', '::ffff:0.0.0.0'])(
  'an announce from %s is refused and registers no peer',
  async (address) => {
    const { infoHash, passkey, complete } = await announcing()
    const before = await metricOf(tracker, NOT_USABLE)
    const target = `/announce?passkey=${passkey}&${announceQuery({ infoHash, left: 0 })}`
    const reply = await rawGet(tracker.url, target, { 'x-forwarded-for': address })
    expect(reply.fields['failure reason']).toBe(FAILURES.address_not_usable.reason)
    expect(await metricOf(tracker, NOT_USABLE)).toBe(before + 1)
    expect(await complete()).toBe(0)
  },
)

test('an announce on a closed connection is refused and registers no peer', async () => {
  const { infoHash, passkey, complete } = await announcing()
  const before = await metricOf(tracker, NOT_USABLE)
  const server = createHttpServer((request: IncomingMessage) => {
    request.socket.destroy()
    tracker.context.announces.take(request.url ?? '', request, { send: () => undefined })
  })
  const running = await listen(server, { host: '127.0.0.1', port: 0 })
  const lost = announce(`http://127.0.0.1:${String(running.port)}`, passkey, { infoHash, left: 0 })
  await expect(lost).rejects.toThrow('socket hang up')
  await eventually(async () => (await metricOf(tracker, NOT_USABLE)) === before + 1)
  expect(await complete()).toBe(0)
  await running.drain()
})

test('an unreadable batch counts as failed, and the others are written', async () => {
  const { infoHash, userId, act } = await announcing()
  const tag = infoHash.startsWith('00') ? '01' : '00'
  await redis.hset(`{${tag}}:du`, 'x', 'y')
  await act({ event: 'started' })
  tracker.advance(1_800_000)
  await act({ uploaded: 1000 })
  await eventually(async () => {
    tracker.advance(4_000)
    const [user] = await tracker.sql('select uploaded from users where id = $1', [userId])
    return (await metricOf(tracker, 'tracker_accounting_failures_total')) > 0 && user?.['uploaded'] === '1000'
  })
  // A flusher writes a batch three seconds after it first saw it.
  await tracker.flush()
  tracker.advance(4_000)
  expect((await tracker.flush()).failed).toBe(1)
  expect(tracker.logged()).toContain('an accounting delta in Redis has an unknown form')
  await redis.del(await redis.keysBuffer(`{${tag}}:flush*`))
})

test('a peer expires after two intervals and five minutes, in its swarm and in the activity of its user', async () => {
  const { userId, act, complete } = await announcing()
  const staff = await tracker.signedIn('staff', 'moderator')
  await act({ event: 'started' })
  const written = await writeAccounting(tracker)
  tracker.advance((3_890 - written) * 1_000)
  expect(await complete()).toBe(1)
  expect((await staff.get(`/api/user/${userId}/stats`)).json).toMatchObject({ seeding: 1 })
  tracker.advance(80_000)
  expect(await complete()).toBe(0)
  expect((await staff.get(`/api/user/${userId}/stats`)).json).toMatchObject({ seeding: 0 })
})

test('a peer that returns to a lost swarm too soon, or repeats an announce, receives the short interval again', async () => {
  const { infoHash, act } = await announcing()
  const other = await createAnnouncer(tracker, 'other')
  await act({ port: 7001 })
  await announce(tracker.url, other.passkey, { infoHash, port: 7002 })
  await writeAccounting(tracker)
  // So that the counts which the database has now are read again.
  await tellOfChange(redis, { kind: 'torrent', infoHash })
  await act({ port: 7001 })
  await redis.del(await redis.keysBuffer(`{${infoHash.slice(0, 2)}}:*`))

  expect(Number((await act({ port: 7001 })).fields['interval'])).toBeLessThanOrEqual(330)
  const repeated = await act({ port: 7001 })
  expect(repeated.fields['complete']).toBe(1)
  expect(Number(repeated.fields['interval'])).toBeLessThanOrEqual(330)
  tracker.advance(100_000)
  const soon = await act({ port: 7001 })
  expect(soon.fields['warning message']).toBe(WARNINGS.announce_too_soon.message)
  expect(soon.fields).toMatchObject({ interval: 200, 'min interval': 200 })
  tracker.advance(200_000)
  const next = await act({ port: 7001 })
  expect(next.fields['warning message']).toBeUndefined()
  expect(Number(next.fields['interval'])).toBeGreaterThanOrEqual(1_800)
})

test.each(
  ['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'].flatMap((method) =>
    ['/announce', '/scrape', `/announce/${'e'.repeat(40)}?info_hash=x`].map((target) => [method, target] as const),
  ),
)('%s %s returns 405 with Allow: GET', async (method, target) => {
  const answer = await tracker.client().send(method, target)
  expect(answer.status).toBe(405)
  expect(answer.headers.get('allow')).toBe('GET')
  if (method !== 'HEAD') expect(answer.member('error', 'code')).toBe('METHOD_NOT_ALLOWED')
})

test('a target with scheme and host receives the same reply as one without', async () => {
  const { infoHash, passkey } = await announcing()
  const reply = await rawGet(
    tracker.url,
    `http://tracker.test/announce?passkey=${passkey}&${announceQuery({ infoHash })}`,
  )
  expect(reply.fields['incomplete']).toBe(1)
  const hash = percentBytes(Buffer.from(infoHash, 'hex'))
  const scraped = await rawGet(tracker.url, `HTTP://tracker.test:80/${passkey}/scrape?info_hash=${hash}`)
  expect(scraped.bytes.toString('latin1')).toContain('10:incompletei1e')
})

test('a stop while the torrent is pending again removes the peer and credits its transfer', async () => {
  const { infoHash, torrentId, userId, act, complete } = await announcing()
  await act({ event: 'started' })
  await tracker.sql("update torrents set state = 'pending' where id = $1", [torrentId])
  await tellOfChange(redis, { kind: 'torrent', infoHash })
  tracker.advance(100_000)
  expect((await act()).fields['warning message']).toBe(WARNINGS.pending_moderation.message)
  const stopped = await act({ event: 'stopped', uploaded: 700 })
  expect(stopped.fields['warning message']).toBeUndefined()
  expect(await complete()).toBe(0)
  await writeAccounting(tracker)
  await expect(tracker.sql('select uploaded from users where id = $1', [userId])).resolves.toEqual([
    { uploaded: '700' },
  ])
})
