import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  type PrivateServer,
  removeTemporaryFolder,
  startRedis,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { admin, createProject, type Key, send, signedSend, signHeaders } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'
import { statusOf } from './support/vault-process.ts'

const UNAVAILABLE = [503, { error: 'unavailable', message: expect.any(String) }]

let folder: string
let redis: PrivateServer
let vault: TestVault
let key: Key
let url: string

beforeAll(async () => {
  folder = temporaryFolder('faults-redis')
  redis = await startRedis({ dataDir: `${folder}/redis`, durable: true })
  const env = { FETCH_RATE_LIMIT: '100000', SIGNATURE_FAILURE_LIMIT: '100000', ADMIN_FAILURE_LIMIT: '100000' }
  vault = await startVault(env, { redisUrl: redis.url })
  key = await createProject(vault.url, 'shop')
  url = `${vault.url}/v1/secrets`
})
afterAll(async () => {
  await vault.stop()
  await redis.stop()
  removeTemporaryFolder(folder)
})

const signed = () => signHeaders({ project: 'shop', key, method: 'GET', url })

async function get(headers: Record<string, string>): Promise<[number, unknown]> {
  const { status, body } = await send(url, { headers })
  return [status, body]
}

const put = (name: string) =>
  signedSend({ project: 'shop', key, method: 'PUT', url, body: { key: name, value: 'v', env: 'production' } })

const works = () => eventually(async () => (await get(await signed()))[0] === 200)

test('is unavailable for signed requests while Redis is stopped', async () => {
  await redis.stop()
  const early = await signed()
  expect(await get(early)).toEqual(UNAVAILABLE)
  const written = await put('WHILE_STOPPED')
  expect([written.status, written.body]).toEqual(UNAVAILABLE)
  expect([await statusOf(`${vault.url}/ready`), await statusOf(`${vault.url}/health`)]).toEqual([503, 200])

  await redis.restart()
  await works()
  expect(await statusOf(`${vault.url}/ready`)).toBe(200)
  expect(await get(early)).toEqual([200, {}])
  expect(await get(early)).toEqual([401, { error: 'replayed_nonce' }])
})

test('is unavailable for failed authentications while Redis is stopped', async () => {
  await redis.stop()
  expect(await get({})).toEqual(UNAVAILABLE)
  const wrong = await send(`${vault.url}/v1/admin/projects`, { headers: { authorization: 'Bearer wrong' } })
  expect([wrong.status, wrong.body]).toEqual(UNAVAILABLE)
  // A valid token needs no counter.
  expect((await admin(vault.url, 'GET', '/projects')).status).toBe(200)
  await redis.restart()
  await works()
})

test('is unavailable while Redis is frozen, and accepts no nonce twice afterwards', async () => {
  const requests = await Promise.all(Array.from({ length: 20 }, signed))
  redis.pause()
  const frozen = await Promise.all(requests.map(get))
  redis.resume()
  expect(frozen).toEqual(requests.map(() => UNAVAILABLE))

  await works()
  // Redis may have executed what it received while frozen; then the nonce is spent, which is safe.
  const first = await Promise.all(requests.map(get))
  expect(first.every(([status, body]) => status === 200 || isReplay(body))).toBe(true)
  const second = await Promise.all(requests.map(get))
  expect(second.every(([status, body]) => status === 401 && isReplay(body))).toBe(true)
})

test('remembers a nonce across a restart of Redis', async () => {
  const headers = await signed()
  expect(await get(headers)).toEqual([200, {}])
  await redis.restart()
  await works()
  expect(await get(headers)).toEqual([401, { error: 'replayed_nonce' }])
})

test('recovers when Redis is killed under load', async () => {
  const statuses = new Set<number>()
  const until = Date.now() + 1_500
  const load = Array.from({ length: 8 }, async () => {
    while (Date.now() < until) statuses.add((await get(await signed()))[0])
  })
  await redis.kill()
  await Promise.all(load)
  await redis.restart()
  await works()
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
  expect(statuses).toContain(503)
})

function isReplay(body: unknown): boolean {
  return JSON.stringify(body) === '{"error":"replayed_nonce"}'
}
