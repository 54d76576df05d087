import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  type PrivatePostgres,
  type PrivateRedis,
  removeTemporaryFolder,
  startPostgres,
  startRedis,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { readError, setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'

const folder = temporaryFolder('torznab-faults')
let postgres: PrivatePostgres
let redis: PrivateRedis
let site: TorznabSite

beforeAll(async () => {
  ;[postgres, redis] = await Promise.all([
    startPostgres({ dataDir: `${folder}/postgres`, durable: true }),
    startRedis({ dataDir: `${folder}/redis`, durable: true }),
  ])
  site = await startTorznabSite({}, { postgres, redisUrl: redis.url })
  await setLimits(site.tracker)
  await site.ask('t=search')
})

afterAll(async () => {
  await site.tracker.stop()
  await Promise.all([postgres.stop(), redis.stop()])
  removeTemporaryFolder(folder)
})

const isReady = async (): Promise<boolean> => (await site.tracker.client().get('/ready')).status === 200

async function expectUnavailable(query: string): Promise<void> {
  const answer = await site.ask(query)
  expect([query, answer.status, readError(answer).code]).toEqual([query, 503, 900])
  expect(answer.headers.get('retry-after')).toBe('5')
}

test('Redis gone: nothing is answered uncounted but caps, and all is well again by itself', async () => {
  await redis.kill()
  for (const query of ['t=search', 't=search&apikey=wrong', 't=movie&imdbid=tt1']) await expectUnavailable(query)
  expect((await site.ask('t=caps')).status).toBe(200)
  await redis.restart()
  await eventually(isReady)
  expect((await site.ask('t=search')).status).toBe(200)
})

test('Postgres gone: 503 with error 900, in JSON where asked for', async () => {
  await postgres.kill()
  for (const query of ['t=search', 't=movie&imdbid=tt1&cat=2000']) await expectUnavailable(query)
  expect((await site.ask('t=search&apikey=wrong')).status).toBe(401)
  const json = await site.ask('t=search&o=json')
  expect(json.json).toMatchObject({ error: { '@attributes': { code: '900' } } })
  await postgres.restart()
  await eventually(isReady)
  expect((await site.ask('t=search')).status).toBe(200)
})

test('what an outage keeps from being answered is logged with its user', async () => {
  // The user is cached.
  await site.ask('t=search')
  await postgres.kill()
  await expectUnavailable('t=search&q=during+the+outage')
  await postgres.restart()
  await eventually(isReady)
  await eventually(async () => {
    const rows = await site.tracker.sql('select user_id, error from torznab_requests where query = $1', [
      'q=during the outage',
    ])
    return rows.length === 1 && rows[0]?.['user_id'] === site.uploader.id && rows[0]['error'] === 900
  })
})

test('Redis frozen: refused after a second, not waited for without end', async () => {
  redis.pause()
  await expectUnavailable('t=search')
  redis.resume()
  await eventually(isReady)
  expect((await site.ask('t=search')).status).toBe(200)
})
