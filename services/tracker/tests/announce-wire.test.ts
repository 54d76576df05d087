import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type AnnounceParameters, announce, percentBytes, type Reply, rawGet } from './support/announcer.ts'
import { createAnnouncer, createMember, uploadTorrent } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
const passkeys: string[] = []
const hashes: string[] = []

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', ALLOW_IP_PARAM: 'true' })
  await tracker.context.useCases.categories.seed()
  const uploader = await createMember(tracker, 'uploader')
  for (let i = 0; i < 6; i++) passkeys.push((await createAnnouncer(tracker, `member-${String(i)}`)).passkey)
  for (let i = 0; i < 80; i++) hashes.push((await uploadTorrent(uploader, `Torrent number ${String(i)}`)).infoHash)
})
afterAll(() => tracker.stop())

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
  const asked = [...hashes.slice(0, 70), 'ff'.repeat(20), '00'.repeat(20)]
  const query = asked.map((hash) => `info_hash=${percentBytes(Buffer.from(hash, 'hex'))}`).join('&')
  const text = (await rawGet(tracker.url, `/scrape/${String(passkeys[0])}?${query}`)).bytes.toString('latin1')
  const found = [...text.matchAll(/20:([\s\S]{20})d8:complete/g)].map((match) =>
    Buffer.from(match[1] ?? '', 'latin1').toString('hex'),
  )
  expect(found).toEqual(hashes.slice(0, 70).sort())
  expect(text).toMatch(/^d5:filesd/)
  expect(text).toMatch(/5:flagsd20:min_request_intervali600eee$/)
})

test('binary hashes of every byte survive, with raw and escaped characters', async () => {
  const bytes = Buffer.from('00257f80a0c3a9e282acf09f988effc20a0d2f3f', 'hex')
  const uploader = await createMember(tracker, 'binary')
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
