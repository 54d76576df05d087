import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type DurableServers, eventually, startDurableServers } from '@vault-and-tracker/dev-env'
import { readError, setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'

let servers: DurableServers
let site: TorznabSite

beforeAll(async () => {
  servers = await startDurableServers('torznab-faults')
  site = await startTorznabSite({}, { postgres: servers.postgres, redisUrl: servers.redis.url })
  await setLimits(site.tracker)
  await site.ask('t=search')
})

afterAll(async () => {
  await site.tracker.stop()
  await servers.stop()
})

const isReady = async (): Promise<boolean> => (await site.tracker.client().get('/ready')).status === 200

async function expectUnavailable(query: string): Promise<void> {
  const answer = await site.ask(query)
  expect([query, answer.status, readError(answer).code]).toEqual([query, 503, 900])
  expect(answer.headers.get('retry-after')).toBe('5')
}

test('without Redis, only caps is answered, and the API recovers', async () => {
  await servers.redis.kill()
  for (const query of ['t=search', 't=search&apikey=wrong', 't=movie&imdbid=tt1']) await expectUnavailable(query)
  expect((await site.ask('t=caps')).status).toBe(200)
  await servers.redis.restart()
  await eventually(isReady)
  expect((await site.ask('t=search')).status).toBe(200)
})

test('without Postgres, requests get 503 with error 900, as JSON on request', async () => {
  await servers.postgres.kill()
  for (const query of ['t=search', 't=movie&imdbid=tt1&cat=2000']) await expectUnavailable(query)
  expect((await site.ask('t=search&apikey=wrong')).status).toBe(401)
  const json = await site.ask('t=search&o=json')
  expect(json.json).toMatchObject({ error: { '@attributes': { code: '900' } } })
  await servers.postgres.restart()
  await eventually(isReady)
  expect((await site.ask('t=search')).status).toBe(200)
})

test('requests that fail during an outage are logged with their user', async () => {
  // The user is cached.
  await site.ask('t=search')
  await servers.postgres.kill()
  await expectUnavailable('t=search&q=during+the+outage')
  await servers.postgres.restart()
  await eventually(isReady)
  await eventually(async () => {
    const rows = await site.tracker.sql('select user_id, error from torznab_requests where query = $1', [
      'q=during the outage',
    ])
    return rows.length === 1 && rows[0]?.['user_id'] === site.uploader.id && rows[0]['error'] === 900
  })
})

test('Redis frozen: requests fail after a second', async () => {
  servers.redis.pause()
  await expectUnavailable('t=search')
  servers.redis.resume()
  await eventually(isReady)
  expect((await site.ask('t=search')).status).toBe(200)
})
