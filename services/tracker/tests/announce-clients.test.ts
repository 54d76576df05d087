import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { writeAccounting } from './support/accounting.ts'
import { createAnnounceRules } from './support/announce-rules.ts'
import { type AnnounceParameters, announce } from './support/announcer.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
const { someone, someTorrent, expectFailure, expectWarning } = createAnnounceRules(() => tracker)

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
})
afterAll(() => tracker.stop())

test.each(['-XX1000-abcdefghijkl', '-YY1200-abcdefghijkl'])('a denied client is refused: %s', async (peerId) => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  await expectFailure('client_not_allowed', () => announce(tracker.url, passkey, { infoHash, peerId }))
})

test('accepts a client whose peer id only resembles a denied one', async () => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  const reply = await announce(tracker.url, passkey, { infoHash, peerId: '-YY1300-abcdefghijkl' })
  expect(reply.fields['incomplete']).toBe(1)
})

test('with a list of allowed clients, all others are refused', async () => {
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

test('accepts a stop from a refused port', async () => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  expect((await announce(tracker.url, passkey, { infoHash, port: 6881 })).fields['incomplete']).toBe(1)
  const stop = await announce(tracker.url, passkey, { infoHash, port: 80, event: 'stopped' })
  expect([stop.fields['failure reason'], stop.fields['warning message']]).toEqual([undefined, undefined])
  expect(stop.fields['incomplete']).toBe(0)
})

test('warns about a stop of an unknown peer, too many clients and an announce too soon', async () => {
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

test('announces over the limit receive 429 with the same body until the minute ends', async () => {
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

/** Uses up the limit of a user for the current minute, with announces of a torrent of its own. */
async function exceedLimit(passkey: string, infoHash: string): Promise<void> {
  const repeat = () => announce(tracker.url, passkey, { infoHash, peerId: '-AA0001-of-the-limit' })
  while ((await repeat()).status === 200);
}

test('over the limit, a client that announces regularly gets credit and no peers, and a new one is refused', async () => {
  const [user, other] = [await someone(), await someone()]
  const [{ infoHash }, limited] = [await someTorrent(), await someTorrent()]
  await announce(tracker.url, other.passkey, { infoHash, left: 0 })
  const act = (more: Partial<AnnounceParameters> = {}) => announce(tracker.url, user.passkey, { infoHash, ...more })
  await act({ event: 'started' })
  tracker.advance(1_800_000)
  await exceedLimit(user.passkey, limited.infoHash)

  const kept = await expectWarning('over_announce_limit', () => act({ downloaded: 600, left: 400 }))
  expect(kept.fields).toMatchObject({ complete: 1, incomplete: 1, 'min interval': 900 })
  expect(kept.fields['interval']).toBeGreaterThanOrEqual(1_800)
  expect(kept.fields['interval']).toBeLessThanOrEqual(3_600)
  await expectFailure('announce_limit', () => act({ downloaded: 700, left: 300 }))
  await expectFailure('announce_limit', () => act({ event: 'started', downloaded: 700, left: 300 }))
  await expectFailure('announce_limit', () => act({ peerId: '-AA0001-newly-begun-', event: 'started' }))
  await expectFailure('announce_limit', () => act({ infoHash: 'ab'.repeat(20) }))
  const completed = await expectWarning('over_announce_limit', () =>
    act({ event: 'completed', downloaded: 1_000, left: 0 }),
  )
  expect(completed.fields).toMatchObject({ complete: 2, incomplete: 0 })
  const stopped = await act({ event: 'stopped', downloaded: 1_000, uploaded: 50, left: 0 })
  expect(stopped.fields).toMatchObject({ complete: 1, incomplete: 0 })
  expect(stopped.fields['warning message']).toBeUndefined()

  await writeAccounting(tracker)
  expect(await tracker.sql('select uploaded, downloaded from users where id = $1', [user.id])).toEqual([
    { uploaded: '50', downloaded: '1000' },
  ])
})

test('in the minutes after exceeding the limit, new clients are admitted without peers, and leechers soon get some', async () => {
  const [user, other] = [await someone(), await someone()]
  const [{ infoHash }, limited] = [await someTorrent(), await someTorrent()]
  await announce(tracker.url, other.passkey, { infoHash, left: 0 })
  await exceedLimit(user.passkey, limited.infoHash)
  tracker.advance(60_000)
  await exceedLimit(user.passkey, limited.infoHash)
  const act = (more: Partial<AnnounceParameters> = {}) => announce(tracker.url, user.passkey, { infoHash, ...more })
  const leecher = await expectWarning('over_announce_limit', () => act({ event: 'started' }))
  expect(leecher.fields['interval']).toBeLessThanOrEqual(330)
  const seeder = await expectWarning('over_announce_limit', () =>
    act({ event: 'started', left: 0, peerId: '-AA0001-newly-begun-' }),
  )
  expect(seeder.fields['interval']).toBeGreaterThanOrEqual(1_800)
  await expectFailure('announce_limit', () => act({ infoHash: 'ab'.repeat(20) }))
  tracker.advance(300_000)
  expect((await act()).peers).not.toEqual([])
})

test("administrators change a user's limit with immediate effect, and the log records it", async () => {
  const admin = await tracker.signedIn('limit-admin', 'admin')
  const [user, { infoHash }] = [await someone(), await someTorrent()]
  const path = `/api/admin/users/${user.id}`
  const statuses = async () => {
    tracker.advance(60_000)
    const found: number[] = []
    for (let i = 0; i < 32; i++) found.push((await announce(tracker.url, user.passkey, { infoHash })).status)
    return found.filter((status) => status === 429).length
  }
  const results: unknown[] = [await statuses()]
  for (const announceLimit of [5, 0, null]) {
    expect((await admin.patch(path, { announceLimit })).json).toMatchObject({ announceLimit })
    results.push(await statuses())
  }
  expect(results).toEqual([2, 27, 0, 2])
  const log = await admin.get('/api/admin/log?limit=1')
  expect(log.json).toMatchObject({ items: [{ before: { announceLimit: 0 }, after: { announceLimit: null } }] })
  for (const announceLimit of [-1, 1.5, 1_000_001, '5'])
    expect((await admin.patch(path, { announceLimit })).status).toBe(400)
  const moderator = await tracker.signedIn('limit-moderator', 'moderator')
  expect((await moderator.patch(path, { announceLimit: 0 })).status).toBe(403)
})
