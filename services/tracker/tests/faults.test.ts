import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type DurableServers, eventually, startDurableServers } from '@vault-and-tracker/dev-env'
import { bearer, createToken } from './support/api-tokens.ts'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { readError, setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'
import { PASSWORD, type TestTracker } from './support/tracker.ts'

let servers: DurableServers
let tracker: TestTracker
let site: TorznabSite
let member: Client
let token: string

beforeAll(async () => {
  servers = await startDurableServers('tracker-faults')
  const limits = { REST_READ_LIMIT: '1000', REST_WRITE_LIMIT: '1000', AUTH_LIMIT: '1000' }
  site = await startTorznabSite(limits, { postgres: servers.postgres, redisUrl: servers.redis.url })
  tracker = site.tracker
  await setLimits(tracker)
  member = await tracker.signedIn('member')
  token = (await createToken(member, ['account', 'torznab'])).token
})

afterAll(async () => {
  await tracker.stop()
  await servers.stop()
})

const unavailable = { error: { code: 'UNAVAILABLE', message: expect.any(String) } }

const requests = (): readonly [string, () => Promise<{ status: number; json: unknown; headers: Headers }>][] => [
  ['read', () => member.get('/api/torrents')],
  ['write', () => member.patch('/api/user/me', { statsPublic: true })],
  ['upload', () => member.upload(makeTorrent('During.A.Fault'), { category: 'other' })],
  ['sign in', () => tracker.client().post('/api/auth/login', { username: 'member', password: PASSWORD })],
]

/** The users of both keys are cached. */
async function askBothKeys(): Promise<void> {
  expect((await site.ask('t=search')).status).toBe(200)
  expect((await site.ask(`t=search&apikey=${token}`)).status).toBe(200)
}

async function expectTorznabUnavailable(...queries: readonly string[]): Promise<void> {
  for (const query of queries) {
    const answer = await site.ask(query)
    expect([query, answer.status, readError(answer).code]).toEqual([query, 503, 900])
    expect(answer.headers.get('retry-after')).toBe('5')
  }
}

async function expectUnavailable(): Promise<void> {
  await Promise.all(
    requests().map(async ([name, request]) => {
      const answer = await request()
      expect([name, answer.status, answer.json]).toEqual([name, 503, unavailable])
      expect(answer.headers.get('retry-after')).toBe('5')
    }),
  )
  expect((await tracker.client().get('/ready')).status).toBe(503)
  expect((await tracker.client().get('/health')).status).toBe(200)
}

const isReady = async (): Promise<boolean> => (await tracker.client().get('/ready')).status === 200

/** The first request after a fault may still meet a dead connection; soon all is well again. */
async function expectRecovery(): Promise<void> {
  await eventually(isReady)
  expect((await member.get('/api/user/me')).status).toBe(200)
  const login = await tracker.client().post('/api/auth/login', { username: 'member', password: PASSWORD })
  expect(login.status).toBe(200)
  expect((await member.get('/api/torrents?search=during')).json).toMatchObject({ total: 0 })
  expect((await site.ask('t=search')).status).toBe(200)
}

test('without Postgres, requests get 503 and write nothing partially, and the service recovers', async () => {
  await askBothKeys()
  await servers.postgres.kill()
  await expectUnavailable()
  expect((await tracker.client().get('/api/categories')).status).toBe(503)
  expect((await tracker.client().get('/api/user/me', bearer(token))).status).toBe(503)
  await expectTorznabUnavailable('t=search', 't=movie&imdbid=tt1&cat=2000', `t=search&apikey=${token}`)
  expect((await site.ask('t=search&apikey=wrong')).status).toBe(401)
  const json = await site.ask('t=search&o=json')
  expect(json.json).toMatchObject({ error: { '@attributes': { code: '900' } } })
  await servers.postgres.restart()
  await expectRecovery()
})

test('in an outage of Postgres the log has at most three lines a second, and the request log has the users', async () => {
  const before = tracker.logged().length
  await askBothKeys()
  await servers.postgres.kill()
  await expectTorznabUnavailable('t=search&q=during+the+outage')
  for (let i = 0; i < 30; i++) await Promise.all(requests().map(([, request]) => request()))
  const linesSince = () =>
    tracker
      .logged()
      .slice(before)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { level: number; time: string; count?: number })
      .filter(({ level }) => level >= 40)
  // The next second's line has the number of omitted lines.
  await eventually(() => linesSince().reduce((sum, { count = 1 }) => sum + count, 0) > 60)
  await servers.postgres.restart()
  await expectRecovery()
  const lines = linesSince()
  // The line that begins an outage and the first that counts may share a second, and an outage may begin again.
  const perSecond = new Map<string, number>()
  for (const { time } of lines) perSecond.set(time.slice(0, 19), (perSecond.get(time.slice(0, 19)) ?? 0) + 1)
  expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(3)
  await eventually(async () => {
    const rows = await tracker.sql("select user_id, error from torznab_requests where query = 'q=during the outage'")
    return rows.length === 1 && rows[0]?.['user_id'] === site.uploader.id && rows[0]['error'] === 900
  })
})

test('without Redis no request passes unchecked, and sessions survive its restart', async () => {
  servers.redis.pause()
  await Promise.all([expectUnavailable(), expectTorznabUnavailable('t=search')])
  servers.redis.resume()
  await expectRecovery()
})

test('without Redis the public categories can be read without limits, and Torznab answers only caps', async () => {
  await servers.redis.kill()
  expect((await tracker.client().get('/api/categories')).status).toBe(200)
  await expectTorznabUnavailable('t=search', 't=search&apikey=wrong', 't=movie&imdbid=tt1')
  expect((await site.ask('t=caps')).status).toBe(200)
  await servers.redis.restart()
  await eventually(isReady)
  const again = tracker.client()
  expect((await again.post('/api/auth/login', { username: 'member', password: PASSWORD })).status).toBe(200)
  expect((await site.ask('t=search')).status).toBe(200)
})

test('requests to a frozen Postgres time out', async () => {
  const fresh = await tracker.signedIn('second')
  servers.postgres.pause()
  const answer = await fresh.get('/api/torrents')
  expect([answer.status, answer.json]).toEqual([503, unavailable])
  servers.postgres.resume()
})
