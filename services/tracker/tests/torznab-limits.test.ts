import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import type { Answer, Client } from './support/client.ts'
import { createMember } from './support/members.ts'
import { readError, readFeed, setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'
import { requestsAreWritten } from './support/torznab-log.ts'
import type { TestTracker } from './support/tracker.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let site: TorznabSite
const others: TestTracker[] = []

beforeAll(async () => {
  site = await startTorznabSite({ TRUSTED_PROXIES: '127.0.0.1' })
})
afterEach(async () => {
  for (const tracker of others.splice(0)) await tracker.stop()
})
afterAll(() => site.tracker.stop())

/** A second after the next full minute, so that no test reaches the end of a window. */
const nextMinute = (): number => Math.ceil(site.tracker.now() / MINUTE) * MINUTE + 1_000

/** Forgets all requests and blocks, sets limits and stops the clock. */
async function begin(limits: { searches?: number; downloads?: number }): Promise<void> {
  const { redisClient } = site.tracker
  const counted = await redisClient.keys('torznab:*')
  if (counted.length > 0) await redisClient.del(...counted)
  await setLimits(site.tracker, { searches: 30, downloads: 20, ...limits })
  site.tracker.holdClock(nextMinute())
}

const ADDRESS = '203.0.113.9'

function search(address = ADDRESS, passkey = site.uploader.passkey): Promise<Answer> {
  return site.ask(`t=search&limit=0&apikey=${passkey}`, { 'x-forwarded-for': address })
}

function download(infoHash: string): Promise<Answer> {
  return site.tracker.client().get(`/api/torznab/download?id=${infoHash}&apikey=${site.uploader.passkey}`)
}

async function searches(count: number, address = ADDRESS): Promise<readonly number[]> {
  const statuses = []
  for (let i = 0; i < count; i++) statuses.push((await search(address)).status)
  return statuses
}

/** Makes the refusals of a window that lead to a block, in a site whose limit is one search; returns the last answer. */
async function beRefused(times: number, address = ADDRESS): Promise<Answer> {
  let last = await search(address)
  for (let i = 0; i < times; i++) last = await search(address)
  return last
}

const retryAfter = (answer: Answer): number => Number(answer.headers.get('retry-after'))

describe('limits of a user', () => {
  test('searches are limited per window, and responses contain their number', async () => {
    await begin({ searches: 3 })
    const feeds = []
    for (let i = 0; i < 3; i++) feeds.push((await readFeed(await search())).limits)
    expect(feeds.map(({ apiCurrent }) => apiCurrent)).toEqual(['1', '2', '3'])
    expect(feeds[0]).toEqual({ apiCurrent: '1', apiMax: '3', grabCurrent: '0', grabMax: '20' })
    const refused = await search()
    expect([refused.status, readError(refused)]).toEqual([429, { code: 500, description: 'Request limit reached' }])
    expect(refused.headers.get('retry-after')).toBe('59')
    site.tracker.advance(59_000)
    expect((await search()).status).toBe(200)
  })

  test('downloads have a separate limit', async () => {
    await begin({ searches: 5, downloads: 2 })
    const { infoHash } = await site.upload('Limited.Film.2020.1080p.BluRay.x264-GRP', { category: 'movies-hd' })
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await download(infoHash)).status)
    expect(statuses).toEqual([200, 200, 429])
    expect((await readFeed(await search())).limits).toEqual({
      apiCurrent: '1',
      apiMax: '5',
      grabCurrent: '2',
      grabMax: '2',
    })
  })

  test('caps is never counted and never refused', async () => {
    await begin({ searches: 1 })
    await beRefused(10)
    const caps = await site.ask('t=caps', { 'x-forwarded-for': ADDRESS })
    expect(caps.status).toBe(200)
  })

  test('requests are counted per user, across addresses', async () => {
    await begin({ searches: 2 })
    const other = await createMember(site.tracker, 'other')
    expect((await search('203.0.113.1')).status).toBe(200)
    expect((await search('203.0.113.2')).status).toBe(200)
    expect((await search('203.0.113.3')).status).toBe(429)
    expect((await search('203.0.113.3', other.passkey)).status).toBe(200)
  })

  test('two trackers on one Redis count together, and follow a change of the limit', async () => {
    await begin({ searches: 4 })
    const replica = await startReplica()
    const ask = async (tracker: TestTracker) =>
      (await tracker.client().get(`/api/torznab?t=search&limit=0&apikey=${site.uploader.passkey}`)).status
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push(await ask(site.tracker), await ask(replica))
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429])

    const admin = await site.tracker.signedIn('tuner', 'admin')
    await admin.patch('/api/admin/torznab/settings', { searchLimit: 8 })
    await eventually(async () => (await ask(replica)) === 200)
  })

  test('a page that did not change is counted too', async () => {
    await begin({ searches: 2 })
    const etag = (await site.ask('t=search')).headers.get('etag') ?? ''
    const statuses = []
    for (let i = 0; i < 2; i++) statuses.push((await site.ask('t=search', { 'if-none-match': etag })).status)
    expect(statuses).toEqual([304, 429])
  })

  test('requests of suspended users and of those blocked from the API are limited too', async () => {
    await begin({ searches: 1 })
    const admin = await site.tracker.signedIn('judge', 'admin')
    const member = await createMember(site.tracker, 'misbehaved')
    for (const [changes, address] of [
      [{ state: 'suspended' }, ADDRESS],
      [{ state: 'active', apiBlocked: true }, '203.0.113.10'],
    ] as const) {
      site.tracker.advance(MINUTE)
      await admin.patch(`/api/admin/users/${member.id}`, changes)
      expect((await search(address, member.passkey)).status).toBe(403)
      for (let i = 0; i < 10; i++) expect((await search(address, member.passkey)).status).toBe(429)
      expect(retryAfter(await search(address, member.passkey))).toBe(300)
    }
  })

  test('exactly as many concurrent requests pass as the limit allows', async () => {
    await begin({ searches: 7 })
    const answers = await Promise.all(Array.from({ length: 15 }, () => search()))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
  })
})

/** Another tracker on the database and Redis of the site. */
async function startReplica(): Promise<TestTracker> {
  const replica = await site.tracker.replica()
  others.push(replica)
  replica.holdClock(site.tracker.now())
  return replica
}

describe('blocks of an address', () => {
  test('the tenth refusal of a window blocks the address, with Retry-After', async () => {
    await begin({ searches: 1 })
    const ninth = await beRefused(9)
    expect(retryAfter(ninth)).toBe(59)
    const tenth = await search()
    expect([tenth.status, retryAfter(tenth)]).toEqual([429, 300])
    // Now the block refuses all users of the address.
    const other = await createMember(site.tracker, 'housemate')
    site.tracker.advance(2 * MINUTE)
    const blocked = await search(ADDRESS, other.passkey)
    expect([blocked.status, retryAfter(blocked), readError(blocked).code]).toEqual([429, 180, 500])
    expect((await search('198.51.100.1', other.passkey)).status).toBe(200)
    site.tracker.advance(3 * MINUTE)
    expect((await search(ADDRESS, other.passkey)).status).toBe(200)
  })

  test('each block is twice as long, up to 24 hours', async () => {
    await begin({ searches: 1 })
    const steps = []
    for (let i = 0; i < 11; i++) {
      const seconds = retryAfter(await beRefused(10))
      steps.push(seconds / 60)
      site.tracker.advance(seconds * 1_000)
    }
    expect(steps).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, 1_440, 1_440])
  })

  test('refusals in three consecutive windows block, refusals in two do not', async () => {
    await begin({ searches: 1 })
    const refusals = []
    for (const wait of [1, 2, 1, 1, 1]) {
      refusals.push(retryAfter(await beRefused(1)))
      site.tracker.advance(wait * MINUTE)
    }
    // Between the second and the third window one passed without a refusal.
    expect(refusals).toEqual([59, 59, 59, 59, 300])
  })

  test('a burst at the edge of a window does not block', async () => {
    await begin({ searches: 5 })
    site.tracker.advance(58_000)
    expect((await searches(14)).filter((status) => status === 429)).toHaveLength(9)
    site.tracker.advance(2_000)
    expect((await searches(14)).filter((status) => status === 429)).toHaveLength(9)
    site.tracker.advance(2 * MINUTE)
    expect((await search()).status).toBe(200)
  })

  test('refusals by the block itself do not count', async () => {
    await begin({ searches: 1 })
    await beRefused(10)
    await searches(50)
    site.tracker.advance(5 * MINUTE)
    expect((await search()).status).toBe(200)
    expect(retryAfter(await search())).toBe(59)
  })

  test('the duration resets after 24 hours without a refusal', async () => {
    await begin({ searches: 1 })
    await beRefused(10)
    site.tracker.advance(5 * MINUTE + 24 * HOUR - 2 * MINUTE)
    expect(retryAfter(await beRefused(10))).toBe(600)
    site.tracker.advance(10 * MINUTE + 24 * HOUR)
    expect(retryAfter(await beRefused(10))).toBe(300)
  })

  test('a refusal in the meantime keeps the duration', async () => {
    await begin({ searches: 1 })
    await beRefused(10)
    site.tracker.advance(5 * MINUTE + 23 * HOUR)
    await beRefused(1)
    site.tracker.advance(23 * HOUR)
    expect(retryAfter(await beRefused(10))).toBe(600)
  })

  test('an IPv6 address is blocked with its /64', async () => {
    await begin({ searches: 1 })
    await beRefused(10, '2001:db8:0:1::1')
    expect((await search('2001:db8:0:1:ffff::2')).status).toBe(429)
    site.tracker.advance(MINUTE)
    expect((await search('2001:db8:0:2::1')).status).toBe(200)
  })

  test('administrators see and remove blocks', async () => {
    await begin({ searches: 1 })
    await beRefused(10, '2001:db8:0:1::1')
    site.tracker.advance(MINUTE)
    const admin = await site.tracker.signedIn('warden', 'admin')
    const list = async () => (await admin.get('/api/admin/torznab/blocks')).json
    expect(await list()).toEqual({
      items: [{ address: '2001:db8:0:1::/64', until: expect.any(String), secondsLeft: 240, penaltySeconds: 300 }],
    })
    const path = `/api/admin/torznab/blocks/${encodeURIComponent('2001:db8:0:1::/64')}`
    expect((await admin.delete(path)).status).toBe(204)
    expect((await admin.delete(path)).status).toBe(404)
    expect(await list()).toEqual({ items: [] })
    expect((await search('2001:db8:0:1::1')).status).toBe(200)
    // Its steps are forgotten too.
    expect(retryAfter(await beRefused(10, '2001:db8:0:1::1'))).toBe(300)
  })

  test('all keys in Redis expire', async () => {
    await begin({ searches: 1 })
    await beRefused(3, '203.0.113.1')
    await beRefused(10, '203.0.113.2')
    await site.ask('t=search&apikey=wrong')
    const keys = await site.tracker.redisClient.keys('torznab:*')
    expect(keys.length).toBeGreaterThanOrEqual(5)
    for (const key of keys) {
      const ttl = await site.tracker.redisClient.pttl(key)
      expect(ttl).toBeGreaterThan(0)
      expect(ttl).toBeLessThanOrEqual(48 * HOUR)
    }
  })
})

describe('wrong keys', () => {
  const guess = (address = ADDRESS): Promise<Answer> =>
    site.ask(`t=search&apikey=${'e'.repeat(40)}`, { 'x-forwarded-for': address })

  test('twenty in five minutes of one address, then 429; a valid key still works there', async () => {
    await begin({})
    for (let i = 0; i < 20; i++) expect((await guess()).status).toBe(401)
    site.tracker.advance(MINUTE)
    const refused = await guess()
    expect([refused.status, readError(refused).code, retryAfter(refused)]).toEqual([429, 500, 240])
    expect((await guess('203.0.113.77')).status).toBe(401)
    expect((await search()).status).toBe(200)
    site.tracker.advance(4 * MINUTE)
    expect((await guess()).status).toBe(401)
  })

  test('never block the address', async () => {
    await begin({})
    for (let i = 0; i < 60; i++) await guess()
    expect((await search()).status).toBe(200)
    expect(await site.tracker.redisClient.keys('torznab:address:*')).toEqual([])
  })
})

describe('with a replica', () => {
  let replica: TestTracker
  let admin: Client
  let clock: number

  beforeAll(async () => {
    admin = await site.tracker.signedIn('boss', 'admin')
    replica = await site.tracker.replica()
  })
  beforeEach(async () => {
    await begin({})
    clock = site.tracker.now()
    replica.holdClock(clock)
  })
  afterAll(() => replica.stop())

  async function limit(searches: number): Promise<void> {
    await setLimits(site.tracker, { searches })
    for (const tracker of [site.tracker, replica]) {
      const client = Object.assign(tracker.client(), { cookie: admin.cookie })
      await eventually(async () => {
        const { json } = await client.get('/api/user/torznab')
        return (json as { searches: { limit: number } }).searches.limit === searches
      })
    }
  }

  const ask = (passkey: string, address: string, tracker = site.tracker) =>
    tracker.client().get(`/api/torznab?t=search&limit=0&apikey=${passkey}`, { 'x-forwarded-for': address })

  test('requests refused by a block do not count as refusals by a limit', async () => {
    await limit(1)
    const noisy = await createMember(site.tracker, 'noisy')
    const quiet = await createMember(site.tracker, 'quiet')
    for (let i = 0; i < 11; i++) await ask(noisy.passkey, '203.0.113.5')
    for (let i = 0; i < 3; i++) expect((await ask(quiet.passkey, '203.0.113.5')).status).toBe(429)
    const usage = async (name: string) => (await admin.get(`/api/admin/torznab/users?search=${name}`)).json
    await requestsAreWritten(site.tracker)
    expect(await usage('quiet')).toMatchObject({ items: [{ requests: 3, errors: 3, violations: 0 }] })
    expect(await usage('noisy')).toMatchObject({ items: [{ requests: 11, errors: 10, violations: 10 }] })
  })

  test('raising a limit admits users below the new one', async () => {
    await limit(2)
    const { passkey } = await createMember(site.tracker, 'raised')
    const statuses = []
    for (let i = 0; i < 8; i++) statuses.push((await ask(passkey, '203.0.113.7')).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(2)
    await admin.patch('/api/admin/torznab/settings', { searchLimit: 5 })
    expect((await ask(passkey, '203.0.113.7')).status).toBe(200)
  })

  test('replicas whose clocks differ by 200 ms do not reset the window for each other', async () => {
    await limit(3)
    const { passkey } = await createMember(site.tracker, 'skewed')
    const edge = clock + MINUTE - 1_000
    site.tracker.holdClock(edge - 100)
    replica.holdClock(edge + 100)
    const statuses = []
    for (let i = 0; i < 12; i++)
      for (const tracker of [site.tracker, replica]) statuses.push((await ask(passkey, '203.0.113.8', tracker)).status)
    // Three of each window at most.
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(6)
  })

  test('replicas whose clocks differ count refusals of an address together', async () => {
    await limit(1)
    const { passkey } = await createMember(site.tracker, 'refused')
    const edge = clock + MINUTE - 1_000
    site.tracker.holdClock(edge - 100)
    replica.holdClock(edge + 100)
    await ask(passkey, '203.0.113.11', replica)
    let last = await ask(passkey, '203.0.113.11')
    for (let i = 1; i < 10; i++) last = await ask(passkey, '203.0.113.11', i % 2 === 0 ? site.tracker : replica)
    expect([last.status, last.headers.get('retry-after')]).toEqual([429, '300'])
  })

  test('unblocking an address that is not blocked returns 404 and keeps its next duration', async () => {
    await limit(1)
    const { passkey } = await createMember(site.tracker, 'stepped')
    const beRefused = async () => {
      let last = await ask(passkey, '203.0.113.9')
      for (let i = 0; i < 10; i++) last = await ask(passkey, '203.0.113.9')
      return last.headers.get('retry-after')
    }
    expect(await beRefused()).toBe('300')
    site.tracker.advance(6 * MINUTE)
    expect((await admin.delete('/api/admin/torznab/blocks/203.0.113.9')).status).toBe(404)
    expect(await beRefused()).toBe('600')
  })
})
