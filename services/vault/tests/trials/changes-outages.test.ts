import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  type PrivateServer,
  removeTemporaryFolder,
  startRedis,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { admin, createProject, type Key, signedSend } from '../support/client.ts'
import { startVault, type TestVault } from '../support/vault.ts'

let folder: string
let redis: PrivateServer
let vault: TestVault
let replica: TestVault
let key: Key

beforeAll(async () => {
  folder = temporaryFolder('changes-outages')
  redis = await startRedis({ dataDir: `${folder}/redis`, durable: true })
  vault = await startVault({}, { redisUrl: redis.url })
  replica = await vault.replica()
  key = await createProject(vault.url, 'shop')
})
afterAll(async () => {
  await replica.stop()
  await vault.stop()
  await redis.stop()
  removeTemporaryFolder(folder)
})

type Seen = { version: string; changed: string[] }

const send = (method: string, target: string, body?: unknown) =>
  signedSend({ project: 'shop', key, method, url: vault.url + target, body })

async function seen(query = 'env=production'): Promise<Seen> {
  const { status, body } = await send('GET', `/v1/secrets/changes?${query}`)
  expect(status).toBe(200)
  return body as Seen
}

/** Stores a secret. Returns the function with which an administrator deletes it at another replica. */
async function deletable(): Promise<() => Promise<void>> {
  const put = () => send('PUT', '/v1/secrets', { key: 'A', value: '1', env: 'production' })
  await eventually(async () => (await put()).status === 200)
  const { body } = await admin(vault.url, 'GET', '/projects/shop/secrets')
  const [secret] = body as { id: string }[]
  return async () => {
    expect((await admin(replica.url, 'DELETE', `/secrets/${secret?.id ?? ''}`)).status).toBe(200)
  }
}

const untilWaiting = () => eventually(() => Promise.resolve(vault.context.useCases.changes.countWaiting() === 1))

test('a change that could not be announced is seen when the time is up', async () => {
  const change = await deletable()
  const { version } = await seen()
  const waiting = seen(`since=${version}&wait=3`)
  await untilWaiting()
  await redis.stop()
  await change()
  expect(await waiting).toEqual({ version: expect.not.stringMatching(version), changed: ['A'] })
  await redis.restart()
})

test('a change while the subscription was down is seen as soon as Redis is back', async () => {
  const change = await deletable()
  const { version } = await seen()
  const waiting = seen(`since=${version}`)
  await untilWaiting()
  await redis.stop()
  await change()
  await redis.restart()
  const started = Date.now()
  expect((await waiting).changed).toEqual(['A'])
  expect(Date.now() - started).toBeLessThan(15_000)
})
