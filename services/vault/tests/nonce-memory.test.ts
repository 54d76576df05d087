import { cpSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import {
  eventually,
  type PrivateServer,
  removeTemporaryFolder,
  startRedis,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import { createProject, type Key, send, signHeaders } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

const PUBLIC = 'http://vault.example/v1/secrets'
const FORWARDED = { 'X-Forwarded-Host': 'vault.example' }
const REPLAYED = [401, { error: 'replayed_nonce' }]

let folder: string
let redis: PrivateServer
let one: TestVault
let two: TestVault
let key: Key

beforeAll(async () => {
  folder = temporaryFolder('nonce-memory')
  redis = await startRedis({ dataDir: `${folder}/redis`, durable: true })
  const env = { TRUSTED_PROXIES: '127.0.0.1', PUBLIC_URL: 'http://vault.example,http://127.0.0.1:0' }
  one = await startVault(env, { redisUrl: redis.url })
  two = await one.replica()
  key = await createProject(one.url, 'shop')
})
beforeEach(() => works(one, two))
afterAll(async () => {
  await two.stop()
  await one.stop()
  await redis.stop()
  removeTemporaryFolder(folder)
})

const signed = (vault = one) =>
  signHeaders({ project: 'shop', key, method: 'GET', url: PUBLIC, created: Math.floor(vault.now() / 1000) })

async function get(vault: TestVault, headers: Record<string, string>): Promise<[number, unknown]> {
  const { status, body } = await send(`${vault.url}/v1/secrets`, { headers: { ...headers, ...FORWARDED } })
  return [status, body]
}

async function works(...vaults: readonly TestVault[]): Promise<void> {
  for (const vault of vaults) await eventually(async () => (await get(vault, await signed(vault)))[0] === 200)
}

async function redisCommand(...command: readonly [string, ...string[]]): Promise<void> {
  const client = new Redis(redis.url)
  await client.call(...command)
  client.disconnect()
}

test('after FLUSHALL no request is good a second time, at whichever replica, and new ones are', async () => {
  const spent = await signed()
  expect(await get(one, spent)).toEqual([200, {}])
  await redisCommand('FLUSHALL')
  expect(await get(two, spent)).toEqual(REPLAYED)
  expect(await get(one, spent)).toEqual(REPLAYED)
  await works(one, two)
  expect(await get(two, spent)).toEqual(REPLAYED)
})

test('after a restore from an old file no request is good a second time', async () => {
  await redis.stop()
  cpSync(`${folder}/redis`, `${folder}/copy`, { recursive: true })
  await redis.restart()
  await works(one)
  const spent = await signed()
  expect(await get(one, spent)).toEqual([200, {}])

  await redis.stop()
  rmSync(`${folder}/redis/appendonlydir`, { recursive: true, force: true })
  rmSync(`${folder}/redis/appendonly.aof`, { force: true })
  cpSync(`${folder}/copy`, `${folder}/redis`, { recursive: true })
  await redis.restart()
  let first: [number, unknown] = [503, {}]
  await eventually(async () => {
    first = await get(one, spent)
    return first[0] !== 503
  })
  expect(first).toEqual(REPLAYED)
  await works(one, two)
  expect(await get(two, spent)).toEqual(REPLAYED)
})

test('a replica that starts while the others run forgets nothing, and makes nobody forget', async () => {
  const spent = await signed()
  const unspent = await signed()
  expect(await get(one, spent)).toEqual([200, {}])
  const third = await one.replica()
  expect(await get(third, spent)).toEqual(REPLAYED)
  expect(await get(third, unspent)).toEqual([200, {}])
  await third.stop()
})

test('after a loss only requests from before it are refused, whatever the clock of the replica says', async () => {
  const behind = await one.replica()
  behind.advance(-200_000)
  const spent = await signed(behind)
  expect(await get(behind, spent)).toEqual([200, {}])
  await redisCommand('FLUSHALL')
  expect(await get(behind, spent)).toEqual(REPLAYED)
  await works(behind)
  await behind.stop()
})
