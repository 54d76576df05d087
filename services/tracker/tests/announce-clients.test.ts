import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { createAnnounceLimit, type OverLimit, type SharedCounts } from '../src/announce/limits.ts'
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

test('well-known ports of other protocols are refused, and all others accepted', async () => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  const from = (port: number) => announce(tracker.url, passkey, { infoHash, port, event: 'started' })
  for (const port of [0, 22, 80, 1023, 1214, 3389, 4662, 6346, 6347, 6699, 8080, 8081])
    await expectFailure('refused_port', () => from(port))
  for (const port of [1024, 6881, 51413, 65_535])
    expect([port, (await from(port)).fields['incomplete']]).toEqual([port, 1])
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

test('administrators change client rules for all processes, and the log records them', async () => {
  const admin = await tracker.signedIn('client-admin', 'admin')
  const replica = await tracker.replica({ CLIENTS_ALLOWED: '-AA,-XX,-YY', CLIENTS_DENIED: '-XX,-YY12' })
  try {
    const [user, { infoHash }] = [await someone(), await someTorrent()]
    const by = (url: string, peerId: string, more: Partial<AnnounceParameters> = {}) =>
      announce(url, user.passkey, { infoHash, peerId, ...more })
    const reasonAt = async (url: string, peerId: string) => (await by(url, peerId)).fields['failure reason']
    const [old, recent, other] = ['-AA1000-old-version-', '-AA2100-new-version-', '-ZZ1000-other-client']
    const before = await admin.get('/api/admin/clients')
    expect(before.json).toMatchObject({ isDefault: true, rules: Array(5).fill(expect.any(Object)) })
    expect(await reasonAt(replica.url, old)).toBeUndefined()

    const below = { verdict: 'deny', prefix: '-AA', condition: 'below', version: '2' } as const
    const allowed = { verdict: 'allow', prefix: '-ZZ', condition: 'any', version: null } as const
    const changes = await Promise.all(
      [below, allowed].map((rule) => admin.patch('/api/admin/clients/rules', { add: [rule] })),
    )
    expect(changes.map(({ status }) => status)).toEqual([200, 200])
    const after = await admin.get('/api/admin/clients')
    expect(after.json).toMatchObject({ isDefault: false, rules: Array(7).fill(expect.any(Object)) })
    for (const { url } of [tracker, replica]) {
      await eventually(async () => (await reasonAt(url, other)) === undefined)
      expect(await reasonAt(url, old)).toMatch(/^Your client is not allowed: -AA before 2 .*-AA, -XX, -YY, -ZZ/)
      expect(await reasonAt(url, recent)).toBeUndefined()
    }
    // It was in the swarm before the rule.
    expect((await by(tracker.url, old, { event: 'stopped' })).fields).toMatchObject({ incomplete: 1 })
    const verdict = await admin.get('/api/admin/clients/verdict?peerId=-AA1990-')
    expect(verdict.json).toMatchObject({ client: '-AA1990-', isAllowed: false, rule: below })

    await admin.patch('/api/admin/clients/rules', { remove: [below] })
    await eventually(async () => (await reasonAt(replica.url, old)) === undefined)
    const reset = await admin.delete('/api/admin/clients/rules')
    expect(reset.json).toMatchObject({ isDefault: true, rules: Array(5).fill(expect.any(Object)) })
    await eventually(async () => (await reasonAt(replica.url, other)) !== undefined)
    const log = await admin.get('/api/admin/log?action=clients.update&limit=10')
    expect(log.json).toMatchObject({
      items: [
        { after: { clientRules: null } },
        { before: { clientRules: 'deny -AA below 2' }, after: { clientRules: null } },
        { actor: { username: 'client-admin' } },
        { actor: { username: 'client-admin' } },
      ],
    })
  } finally {
    await replica.stop()
  }
})

test('refuses malformed client rules', async () => {
  const admin = await tracker.signedIn('malformed-admin', 'admin')
  for (const body of [
    { add: [{ verdict: 'deny', prefix: '-AA', condition: 'below', version: null }] },
    { add: [{ verdict: 'deny', prefix: '-AA', condition: 'any', version: '1' }] },
    { add: [{ verdict: 'deny', prefix: '-AA', condition: 'is', version: '1.x' }] },
    { add: [{ verdict: 'deny', prefix: '-A A', condition: 'any', version: null }] },
    { add: [{ verdict: 'deny', prefix: '', condition: 'any', version: null }] },
    { add: Array(101).fill({ verdict: 'deny', prefix: '-AA', condition: 'any', version: null }) },
  ])
    expect([body, (await admin.patch('/api/admin/clients/rules', body)).status]).toEqual([body, 400])
})

test('only administrators see and change client rules, up to 100 of them', async () => {
  const [moderator, admin] = [
    await tracker.signedIn('client-moderator', 'moderator'),
    await tracker.signedIn('many-rules-admin', 'admin'),
  ]
  const denied = (prefix: string) => ({ verdict: 'deny', prefix, condition: 'any', version: null })
  const statuses = [
    await moderator.get('/api/admin/clients'),
    await moderator.get('/api/admin/clients/verdict?peerId=-AA'),
    await moderator.patch('/api/admin/clients/rules', { add: [denied('-AA')] }),
    await moderator.delete('/api/admin/clients/rules'),
  ].map(({ status }) => status)
  expect(statuses).toEqual([403, 403, 403, 403])
  const many = Array.from({ length: 96 }, (_, i) => denied(`-n${String(i)}`))
  expect((await admin.patch('/api/admin/clients/rules', { add: many })).status).toBe(409)
  expect((await admin.patch('/api/admin/clients/rules', { add: many.slice(1) })).status).toBe(200)
  await admin.delete('/api/admin/clients/rules')
})

test('the clients of all peers are counted per day, with their share and verdict', async () => {
  const admin = await tracker.signedIn('census-admin', 'admin')
  tracker.advance(86_400_000)
  const [user, other, { infoHash }, { infoHash: second }] = [
    ...[await someone(), await someone()],
    ...[await someTorrent(), await someTorrent()],
  ] as const
  const start = async (passkey: string, peerId: string, torrent: string) =>
    announce(tracker.url, passkey, { infoHash: torrent, peerId, event: 'started' })
  await start(user.passkey, '-AA3A00-client-one--', infoHash)
  await start(user.passkey, '-AA3A00-client-one--', second)
  await start(other.passkey, '-AA3A00-client-two--', second)
  await start(other.passkey, '-YY1300-client-two--', infoHash)
  const { clientCensus } = tracker.context.useCases
  await clientCensus.run()
  const found = await admin.get('/api/admin/clients')
  expect(found.json).toMatchObject({
    clients: [
      { client: '-AA3A00-', prefix: '-AA', version: '3.10.0', peers: 3, users: 2, share: 0.75, isAllowed: true },
      { client: '-YY1300-', name: '-YY', version: '1.3.0', peers: 1, users: 1, share: 0.25, isAllowed: true },
    ],
  })
  // A second count on the same day keeps the higher numbers.
  await announce(tracker.url, user.passkey, { infoHash: second, peerId: '-AA3A00-client-one--', event: 'stopped' })
  tracker.advance(600_000)
  await clientCensus.run()
  expect((await admin.get('/api/admin/clients')).json).toMatchObject({
    clients: [{ peers: 3, users: 2 }, { peers: 1 }],
  })
  tracker.advance(31 * 86_400_000)
  await start(user.passkey, '-YY1300-client-one--', infoHash)
  await clientCensus.run()
  // The session has expired.
  const { clients } = await tracker.context.useCases.clients.overview()
  expect(clients).toMatchObject([{ client: '-YY1300-', peers: 1 }])
  await expect(tracker.sql('select count(*) from client_days')).resolves.toEqual([{ count: '1' }])
})

describe('announces over the limit of a user', () => {
  /** Limits of 10 in two processes that share their counts. `minute` makes announces in turn and counts their admissions. */
  function createLimits() {
    const stored = new Map<string, number>()
    let now = 1_800_000_000_000
    const counts: SharedCounts = {
      add: (key, by) => {
        const count = (stored.get(key) ?? 0) + by
        stored.set(key, count)
        return Promise.resolve(count)
      },
      read: (key) => Promise.resolve(stored.get(key)),
    }
    const options = { limit: 10, counts, clock: { now: () => now }, isStrict: false }
    const limits = [createAnnounceLimit(options), createAnnounceLimit(options)]
    return async (announces: number, act: (over: OverLimit) => void = () => undefined) => {
      now += 60_000
      const found = { within: 0, all: 0, known: 0, none: 0 }
      for (let i = 0; i < announces; i++) {
        const over = await limits[i % 2]?.take('a-user')
        found[over?.admits ?? 'within'] += 1
        if (over) act(over)
      }
      return found
    }
  }

  test('new clients are admitted at three times the rate of the minute before, in all processes together', async () => {
    const minute = createLimits()
    const admitted = async () => {
      const { all, ...rest } = await minute(400)
      expect(rest).toEqual({ within: 10, known: 390 - all, none: 0 })
      return all
    }
    expect([await admitted(), await admitted()]).toEqual([0, 20])
    // A process notices after one announce that the other has used up the rest.
    expect([await admitted(), await admitted()]).toEqual([83, 272])
    for (let i = 0; i < 5; i++) await minute(5)
    expect(await admitted()).toBe(0)
  })

  test('a process examines at most fifty times the limit, and far fewer that a rule refuses', async () => {
    const minute = createLimits()
    expect(await minute(1_400)).toEqual({ within: 10, all: 0, known: 1_000, none: 390 })
    expect(await minute(1_400, (over) => over.refusedByRule())).toMatchObject({ within: 10, none: 1_370 })
  })
})
