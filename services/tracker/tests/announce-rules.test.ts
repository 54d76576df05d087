import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { FAILURES, type FailureName, WARNINGS, type WarningName } from '@vault-and-tracker/bencode-tracker'
import { Redis } from 'ioredis'
import {
  type AnnounceParameters,
  announce,
  announceQuery,
  percentBytes,
  type Reply,
  rawGet,
} from './support/announcer.ts'
import { tellOfChange, untilHeard } from './support/invalidations.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { metricOf } from './support/metrics.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let redis: Redis
let uploader: TestMember
let serial = 0

beforeAll(async () => {
  tracker = await startTracker({
    ALLOW_PRIVATE_PEERS: 'true',
    CLIENTS_ALLOWED: '-AA,-XX,-YY',
    CLIENTS_DENIED: '-XX,-YY12',
    MAX_CLIENTS_PER_TORRENT: '2',
    ANNOUNCE_LIMIT: '30',
  })
  tracker.holdClock()
  await tracker.context.useCases.categories.seed()
  uploader = await createMember(tracker, 'uploader')
  redis = new Redis(tracker.redis.url)
})
afterAll(async () => {
  redis.disconnect()
  await tracker.stop()
})

function someone(): Promise<{ id: string; passkey: string }> {
  serial += 1
  return createAnnouncer(tracker, `someone-${String(serial)}`)
}

function someTorrent(): Promise<{ id: string; infoHash: string }> {
  serial += 1
  return uploadTorrent(uploader, `Torrent number ${String(serial)}`)
}

async function expectFailure(name: FailureName, act: () => Promise<Reply>, action = 'announce'): Promise<Reply> {
  const line = `tracker_failures_total{action="${action}",rule="${name}"}`
  const before = await metricOf(tracker, line)
  const reply = await act()
  expect(reply.fields['failure reason']).toMatch(new RegExp(`^${FAILURES[name].reason}`))
  expect(reply.status).toBe(FAILURES[name].status)
  expect(reply.fields['retry in']).toBe(FAILURES[name].retryIn)
  expect(reply.fields['interval']).toEqual(expect.any(Number))
  expect(reply.fields['min interval']).toEqual(expect.any(Number))
  expect(await metricOf(tracker, line)).toBe(before + 1)
  return reply
}

async function expectWarning(name: WarningName, act: () => Promise<Reply>): Promise<Reply> {
  const line = `tracker_warnings_total{rule="${name}"}`
  const before = await metricOf(tracker, line)
  const reply = await act()
  expect(reply.status).toBe(200)
  expect(reply.fields['warning message']).toBe(WARNINGS[name].message)
  expect(reply.peers).toEqual([])
  expect(await metricOf(tracker, line)).toBe(before + 1)
  return reply
}

const HASH = 'ab'.repeat(20)

test.each<[FailureName, string]>([
  ['missing_info_hash', '/announce'],
  ['missing_peer_id', `/announce?info_hash=${percentBytes(Buffer.from(HASH, 'hex'))}`],
  ['invalid_info_hash', '/announce?info_hash=abc'],
  ['several_info_hashes', `/announce?${announceQuery({ infoHash: HASH })}&info_hash=${'b'.repeat(20)}`],
  ['repeated_parameter', `/announce?${announceQuery({ infoHash: HASH })}&port=7000`],
  ['invalid_port', `/announce?${announceQuery({ infoHash: HASH, port: 65_536 })}`],
  ['invalid_left', `/announce?${announceQuery({ infoHash: HASH, left: -1 })}`],
  ['invalid_event', `/announce?${announceQuery({ infoHash: HASH, event: 'born' })}`],
  ['query_too_long', `/announce?x=${'a'.repeat(5000)}`],
  ['missing_passkey', `/announce?${announceQuery({ infoHash: HASH })}`],
  ['invalid_passkey', `/announce?passkey=short&${announceQuery({ infoHash: HASH })}`],
  ['invalid_passkey', '/announce/short'],
  ['unknown_passkey', `/announce/${'e'.repeat(40)}?${announceQuery({ infoHash: HASH })}`],
])('%s refuses the announce', async (name, target) => {
  await expectFailure(name, () => rawGet(tracker.url, target))
})

test.each<[FailureName, string]>([
  ['missing_passkey', `/scrape?info_hash=${percentBytes(Buffer.from(HASH, 'hex'))}`],
  ['unknown_passkey', `/scrape/${'e'.repeat(40)}?info_hash=${percentBytes(Buffer.from(HASH, 'hex'))}`],
  ['invalid_info_hash', '/scrape?info_hash=abc'],
  ['too_many_info_hashes', `/scrape?${Array.from({ length: 75 }, () => `info_hash=${'c'.repeat(20)}`).join('&')}`],
])('%s refuses the scrape', async (name, target) => {
  await expectFailure(name, () => rawGet(tracker.url, target), 'scrape')
})

test('scrape_without_info_hash refuses a full scrape', async () => {
  const { passkey } = await someone()
  await expectFailure('scrape_without_info_hash', () => rawGet(tracker.url, `/scrape/${passkey}`), 'scrape')
})

test.each<['suspended' | 'banned', FailureName]>([
  ['suspended', 'account_suspended'],
  ['banned', 'account_banned'],
])('an account that is %s is refused as soon as the change is heard of, and let in again', async (state, name) => {
  const { id, passkey } = await someone()
  const { infoHash } = await someTorrent()
  const act = () => announce(tracker.url, passkey, { infoHash, event: 'started' })
  expect((await act()).fields['failure reason']).toBeUndefined()
  const change = async (to: string) => {
    await tracker.sql('update users set state = $1 where id = $2', [to, id])
    await tellOfChange(redis, { kind: 'user', passkey })
  }
  await change(state)
  await expectFailure(name, act)
  await expectFailure(name, () => rawGet(tracker.url, `/scrape/${passkey}?info_hash=${'d'.repeat(20)}`), 'scrape')
  await change('active')
  expect((await act()).fields['failure reason']).toBeUndefined()
})

test('a passkey that was reset fails at once, and the new one works at once', async () => {
  const member = await createMember(tracker, 'resetter')
  const { infoHash } = await someTorrent()
  expect((await announce(tracker.url, member.passkey, { infoHash })).fields['failure reason']).toBeUndefined()
  const reset = await member.client.post('/api/user/passkey')
  expect(reset.status).toBe(200)
  await untilHeard(redis)
  await expectFailure('unknown_passkey', () => announce(tracker.url, member.passkey, { infoHash }))
  expect((await announce(tracker.url, reset.member('passkey'), { infoHash })).fields['failure reason']).toBeUndefined()
})

test('who may not download may seed and stop', async () => {
  const { id, passkey } = await someone()
  await tracker.sql('update users set can_download = false where id = $1', [id])
  const { infoHash } = await someTorrent()
  await expectFailure('downloads_disabled', () => announce(tracker.url, passkey, { infoHash, left: 5 }))
  expect((await announce(tracker.url, passkey, { infoHash, left: 0 })).fields['complete']).toBe(1)
  expect((await announce(tracker.url, passkey, { infoHash, left: 5, event: 'stopped' })).fields['complete']).toBe(0)
})

test('an unknown torrent is unregistered until it is uploaded', async () => {
  const { passkey } = await someone()
  await expectFailure('unregistered_torrent', () => announce(tracker.url, passkey, { infoHash: HASH }))
  const { infoHash } = await someTorrent()
  expect((await announce(tracker.url, passkey, { infoHash })).fields['failure reason']).toBeUndefined()
})

test('a deleted torrent tells its reason for thirty days', async () => {
  const { passkey } = await someone()
  const { id, infoHash } = await someTorrent()
  const remove = (ago: string) =>
    tracker.sql(`update torrents set deleted_at = now() - $1::interval, delete_reason = 'Dupe' where id = $2`, [
      ago,
      id,
    ])
  await remove('29 days')
  const reply = await expectFailure('deleted_torrent', () => announce(tracker.url, passkey, { infoHash }))
  expect(reply.fields['failure reason']).toBe('Unregistered torrent: Dupe')
  await remove('31 days')
  await tellOfChange(redis, { kind: 'torrent', infoHash })
  await expectFailure('unregistered_torrent', () => announce(tracker.url, passkey, { infoHash }))
})

test('a rejected torrent is refused, a pending one answered with a warning and a short interval', async () => {
  const { passkey } = await someone()
  const { id, infoHash } = await someTorrent()
  await tracker.sql("update torrents set state = 'pending' where id = $1", [id])
  const pending = await expectWarning('pending_moderation', () => announce(tracker.url, passkey, { infoHash }))
  expect(pending.fields).toMatchObject({ interval: 30, 'min interval': 30 })
  await tracker.sql("update torrents set state = 'rejected', state_reason = 'Fake' where id = $1", [id])
  await tellOfChange(redis, { kind: 'torrent', infoHash })
  const reply = await expectFailure('rejected_torrent', () => announce(tracker.url, passkey, { infoHash }))
  expect(reply.fields['failure reason']).toBe('This torrent was rejected by the moderators: Fake')
})

test('a scrape leaves out deleted and rejected torrents, whoever is still in their swarms', async () => {
  const { passkey } = await someone()
  const torrents = [await someTorrent(), await someTorrent(), await someTorrent(), await someTorrent()] as const
  const [approved, pending, rejected, deleted] = torrents
  for (const { infoHash } of torrents) await announce(tracker.url, passkey, { infoHash, left: 0 })
  const query = torrents.map(({ infoHash }) => `info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`).join('&')
  const scraped = async () => {
    const text = (await rawGet(tracker.url, `/scrape/${passkey}?${query}`)).bytes.toString('latin1')
    return [...text.matchAll(/20:([\s\S]{20})d8:completei1e/g)].map((match) =>
      Buffer.from(match[1] ?? '', 'latin1').toString('hex'),
    )
  }
  expect(await scraped()).toEqual(torrents.map(({ infoHash }) => infoHash).sort())
  await tracker.sql("update torrents set state = 'pending' where id = $1", [pending.id])
  await tracker.sql("update torrents set state = 'rejected', state_reason = 'Fake' where id = $1", [rejected.id])
  await tracker.sql("update torrents set deleted_at = now(), delete_reason = 'Dupe' where id = $1", [deleted.id])
  for (const { infoHash } of torrents) await tellOfChange(redis, { kind: 'torrent', infoHash })
  expect(await scraped()).toEqual([approved.infoHash, pending.infoHash].sort())
})

test.each(['-XX1000-abcdefghijkl', '-YY1200-abcdefghijkl'])('a denied client is refused: %s', async (peerId) => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  await expectFailure('client_not_allowed', () => announce(tracker.url, passkey, { infoHash, peerId }))
})

test('a client whose peer id only resembles a denied one is let in', async () => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  const reply = await announce(tracker.url, passkey, { infoHash, peerId: '-YY1300-abcdefghijkl' })
  expect(reply.fields['incomplete']).toBe(1)
})

test('where some clients are allowed, every other one is refused', async () => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  const by = (peerId: string) => () => announce(tracker.url, passkey, { infoHash, peerId })
  await expectFailure('client_not_allowed', by('-BB0001-abcdefghijkl'))
  await expectFailure('client_not_allowed', by('xAA0001-abcdefghijkl'))
  expect((await by('-AA0001-abcdefghijkl')()).fields['incomplete']).toBe(1)
})

test.each([0, 22, 80, 1023, 1214, 3389, 4662, 6346, 6347, 6699, 8080, 8081])('port %i is refused', async (port) => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  await expectFailure('refused_port', () => announce(tracker.url, passkey, { infoHash, port }))
})

test.each([1024, 6881, 51413, 65_535])('port %i is accepted', async (port) => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  expect((await announce(tracker.url, passkey, { infoHash, port })).fields['incomplete']).toBe(1)
})

test('a stop is let through from a refused port', async () => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  expect((await announce(tracker.url, passkey, { infoHash, port: 6881 })).fields['incomplete']).toBe(1)
  const stop = await announce(tracker.url, passkey, { infoHash, port: 80, event: 'stopped' })
  expect([stop.fields['failure reason'], stop.fields['warning message']]).toEqual([undefined, undefined])
  expect(stop.fields['incomplete']).toBe(0)
})

test('a stop of an unknown peer, a client too many and an announce too soon are warnings', async () => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  const client = (n: number, more: Partial<AnnounceParameters> = {}) =>
    announce(tracker.url, passkey, { infoHash, peerId: `-AA0001-client-numb${String(n)}`, port: 7000 + n, ...more })
  await expectWarning('stopped_unknown_peer', () => client(1, { event: 'stopped' }))
  await client(1)
  await client(2)
  const full = await expectWarning('slots_full', () => client(3))
  expect(full.fields['incomplete']).toBe(2)
  tracker.advance(100_000)
  const soon = await expectWarning('announce_too_soon', () => client(1))
  expect(soon.fields['interval']).toBe(800)
  tracker.advance(800_000)
  expect((await client(1)).fields['warning message']).toBeUndefined()
})

test('announces beyond the limit are answered 429 with the same body, until the minute is over', async () => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  const act = () => announce(tracker.url, passkey, { infoHash })
  const statuses: number[] = []
  for (let i = 0; i < 40; i++) statuses.push((await act()).status)
  expect(statuses).toEqual([...Array<number>(30).fill(200), ...Array<number>(10).fill(429)])
  const reply = await expectFailure('announce_limit', act)
  expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
  expect(Number(reply.headers['retry-after'])).toBeLessThanOrEqual(60)
  tracker.advance(61_000)
  expect((await act()).status).toBe(200)
})

test('every form of the passkey leads to the same announce and scrape', async () => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  const query = announceQuery({ infoHash, left: 0 })
  const hash = `info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`
  for (const target of [
    `/announce?passkey=${passkey}&${query}`,
    `/announce?passkey=${passkey}?${query}`,
    `/announce/${passkey}?${query}`,
    `/${passkey}/announce?${query}`,
    `/announce?${query}&passkey=${passkey.toUpperCase()}`,
  ])
    expect((await rawGet(tracker.url, target)).fields['complete']).toBe(1)
  for (const target of [
    `/scrape?passkey=${passkey}&${hash}`,
    `/scrape?passkey=${passkey}?${hash}`,
    `/scrape/${passkey}?${hash}`,
    `/${passkey}/scrape?${hash}`,
  ])
    expect((await rawGet(tracker.url, target)).bytes.toString('latin1')).toContain('8:completei1e')
})

test('no passkey is ever logged', async () => {
  const { passkey } = await someone()
  await rawGet(tracker.url, `/announce/${passkey}?info_hash=%zz`)
  await announce(tracker.url, passkey, { infoHash: HASH })
  expect(tracker.logged()).not.toContain(passkey)
  expect((await tracker.client().get('/metrics')).text).not.toContain(passkey)
})

test('the operator page has a line for every rule', () => {
  const page = readFileSync(new URL('../../../docs/tracker-announce.md', import.meta.url), 'utf8')
  const groups = ['invalid_', 'missing_'].filter((group) => page.includes(`\`${group}*\``))
  const names = [...Object.keys(FAILURES), ...Object.keys(WARNINGS)].filter(
    (name) => !groups.some((group) => name.startsWith(group)),
  )
  for (const name of names) expect(page).toContain(`\`${name}\``)
})
