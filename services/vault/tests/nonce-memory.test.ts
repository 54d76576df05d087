import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
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
const ENV = { TRUSTED_PROXIES: '127.0.0.1', PUBLIC_URL: 'http://vault.example,http://127.0.0.1:0' }
const REPLAYED = [401, { error: 'replayed_nonce' }]
const ANSWERED = [200, {}]
const FOUR_MINUTES_MS = 240_000

let folder: string
let redis: PrivateServer
let one: TestVault
let two: TestVault
let key: Key

beforeAll(async () => {
  folder = temporaryFolder('nonce-memory')
  redis = await startRedis({ dataDir: `${folder}/redis`, durable: true })
  one = await startVault(ENV, { redisUrl: redis.url })
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

const signed = (ageMs = 0) =>
  signHeaders({ project: 'shop', key, method: 'GET', url: PUBLIC, created: Math.floor((Date.now() - ageMs) / 1000) })

async function get(vault: TestVault, headers: Record<string, string>): Promise<[number, unknown]> {
  const { status, body } = await send(`${vault.url}/v1/secrets`, { headers: { ...headers, ...FORWARDED } })
  return [status, body]
}

async function works(...vaults: readonly TestVault[]): Promise<void> {
  for (const vault of vaults) await eventually(async () => (await get(vault, await signed()))[0] === 200)
}

async function redisCommand(...command: readonly [string, ...string[]]): Promise<void> {
  const client = new Redis(redis.url)
  await client.call(...command)
  client.disconnect()
}

/** Saves Redis to a file, waits for `work`, and restarts Redis from that file. */
async function restoredAfter<T>(work: () => Promise<T>): Promise<T> {
  await redis.stop()
  cpSync(`${folder}/redis`, `${folder}/copy`, { recursive: true })
  await redis.restart()
  const result = await work()
  await redis.stop()
  rmSync(`${folder}/redis/appendonlydir`, { recursive: true, force: true })
  cpSync(`${folder}/copy`, `${folder}/redis`, { recursive: true })
  await redis.restart()
  return result
}

test('a new vault with a new Redis accepts requests signed before its start', async () => {
  const fresh = await startVault(ENV)
  const other = await fresh.replica()
  const freshKey = await createProject(fresh.url, 'shop')
  for (const vault of [fresh, other]) {
    const created = Math.floor((Date.now() - FOUR_MINUTES_MS) / 1000)
    const headers = await signHeaders({ project: 'shop', key: freshKey, method: 'GET', url: PUBLIC, created })
    expect(await get(vault, headers)).toEqual(ANSWERED)
    expect(await get(other, headers)).toEqual(REPLAYED)
  }
  await other.stop()
  await fresh.stop()
})

test('a restarted vault with the same Redis remembers spent nonces', async () => {
  const before = await startVault(ENV)
  const ownKey = await createProject(before.url, 'shop')
  const sign = () =>
    signHeaders({
      ...{ project: 'shop', key: ownKey, method: 'GET', url: PUBLIC },
      created: Math.floor((Date.now() - FOUR_MINUTES_MS) / 1000),
    })
  const [spent, unspent] = [await sign(), await sign()]
  expect(await get(before, spent)).toEqual(ANSWERED)
  const after = await before.replica()
  expect(await get(after, spent)).toEqual(REPLAYED)
  expect(await get(after, unspent)).toEqual(ANSWERED)
  await after.stop()
  await before.stop()
})

test('refuses requests signed before FLUSHALL at all replicas', async () => {
  const spent = await signed()
  const old = await signed(FOUR_MINUTES_MS)
  expect(await get(one, spent)).toEqual(ANSWERED)
  await redisCommand('FLUSHALL')
  expect(await get(two, spent)).toEqual(REPLAYED)
  expect(await get(one, spent)).toEqual(REPLAYED)
  await works(one, two)
  expect(await get(two, spent)).toEqual(REPLAYED)
  for (const vault of [one, two]) expect(await get(vault, old)).toEqual(REPLAYED)
})

test('accepts simultaneous requests after Redis has lost its scripts', async () => {
  await redisCommand('SCRIPT', 'FLUSH')
  const headers = await Promise.all(Array.from({ length: 20 }, () => signed()))
  expect(await Promise.all(headers.map((each) => get(one, each)))).toEqual(headers.map(() => ANSWERED))
})

test('refuses requests signed before Redis was restored from an old file', async () => {
  const { spent, old } = await restoredAfter(async () => {
    await works(one)
    const headers = await signed()
    expect(await get(one, headers)).toEqual(ANSWERED)
    return { spent: headers, old: await signed(FOUR_MINUTES_MS) }
  })
  let first: [number, unknown] = [503, {}]
  await eventually(async () => {
    first = await get(one, spent)
    return first[0] !== 503
  })
  expect(first).toEqual(REPLAYED)
  await works(one, two)
  for (const vault of [one, two]) {
    expect(await get(vault, spent)).toEqual(REPLAYED)
    expect(await get(vault, old)).toEqual(REPLAYED)
  }
})

test('notices at the start that Redis was restored', async () => {
  const own = await startRedis({ dataDir: `${folder}/own`, durable: true })
  const before = await startVault(ENV, { redisUrl: own.url, database: one.database })
  await own.stop()
  cpSync(`${folder}/own`, `${folder}/own-copy`, { recursive: true })
  await own.restart()
  await works(before)
  const spent = await signed()
  expect(await get(before, spent)).toEqual(ANSWERED)
  await before.stop()

  await own.stop()
  rmSync(`${folder}/own/appendonlydir`, { recursive: true, force: true })
  cpSync(`${folder}/own-copy`, `${folder}/own`, { recursive: true })
  await own.restart()
  const after = await startVault(ENV, { redisUrl: own.url, database: one.database })
  expect(await get(after, spent)).toEqual(REPLAYED)
  await works(after)
  await after.stop()
  await own.stop()
})

test('treats a new Redis with an old database as a loss', async () => {
  const spent = await signed()
  expect(await get(one, spent)).toEqual(ANSWERED)
  const own = await startRedis({ dataDir: `${folder}/new`, durable: false })
  const vault = await startVault(ENV, { redisUrl: own.url, database: one.database })
  expect(await get(vault, spent)).toEqual(REPLAYED)
  await works(vault)
  await vault.stop()
  await own.stop()
})

test('accepts the memory of Redis if the database has no epoch', async () => {
  const spent = await signed()
  expect(await get(one, spent)).toEqual(ANSWERED)
  const [memory] = await one.sql<{ epoch: string }>('delete from nonce_memory returning epoch')
  const third = await one.replica()
  expect(await one.sql('select epoch from nonce_memory')).toEqual([memory])
  expect(await get(third, spent)).toEqual(REPLAYED)
  await third.stop()
})

test('treats a different epoch in the database as a loss at all replicas', async () => {
  const spent = await signed()
  expect(await get(one, spent)).toEqual(ANSWERED)
  await one.sql('update nonce_memory set epoch = gen_random_uuid()')
  const third = await one.replica()
  expect(await get(third, spent)).toEqual(REPLAYED)
  await works(one, two, third)
  for (const vault of [one, two, third]) expect(await get(vault, spent)).toEqual(REPLAYED)
  // Each replica adopts the new epoch with its own check.
  for (const vault of [one, two, one, two]) await vault.context.checks['redis']?.()
  await third.stop()
})

test('an additional replica does not count as a loss', async () => {
  const spent = await signed()
  const unspent = await signed()
  expect(await get(one, spent)).toEqual(ANSWERED)
  const third = await one.replica()
  expect(await get(third, spent)).toEqual(REPLAYED)
  expect(await get(third, unspent)).toEqual(ANSWERED)
  await third.stop()
})

test('refuses a request that was dated ahead for as long as it is valid after a loss', async () => {
  const ahead = await startVault(ENV)
  const other = await ahead.replica()
  const ownKey = await createProject(ahead.url, 'shop')
  const sign = (created: number) =>
    signHeaders({
      project: 'shop',
      key: ownKey,
      method: 'GET',
      url: PUBLIC,
      created: Math.floor(Date.now() / 1000) + created,
    })
  const dated = await sign(5)
  expect(await get(ahead, dated)).toEqual(ANSWERED)
  const client = new Redis(ahead.redisUrl)
  await client.flushdb()
  client.disconnect()
  expect(await get(other, dated)).toEqual(REPLAYED)
  const statuses = new Set<number>()
  // After the time of its date, it looks like any other request.
  await eventually(async () => {
    for (const vault of [ahead, other]) {
      expect(await get(vault, dated)).toEqual(REPLAYED)
      statuses.add((await get(vault, await sign(0)))[0])
    }
    return statuses.has(200)
  }, 30_000)
  for (const vault of [ahead, other]) expect(await get(vault, dated)).toEqual(REPLAYED)
  await other.stop()
  await ahead.stop()
}, 60_000)

test('refuses only requests from before a loss, regardless of the clock of the replica', async () => {
  const behind = await one.replica()
  behind.advance(-3_600_000)
  const spent = await signed()
  expect(await get(behind, spent)).toEqual(ANSWERED)
  await redisCommand('FLUSHALL')
  expect(await get(behind, spent)).toEqual(REPLAYED)
  await works(behind)
  await behind.stop()
})

/** An address that leads to the Redis on a port, and after a switch to that on another one. */
async function switchableRedis(port: number) {
  let target = port
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    switchTo: (next: number): void => {
      target = next
      close()
    },
    close: (): void => {
      server.close()
      close()
    },
  }
}

test('refuses a request again that a failover forgot, even at a replica without a request since', async () => {
  const password = new URL(redis.url).password
  const settings = [`masterauth ${password}`, 'repl-diskless-sync-delay 0']
  const master = await startRedis({ dataDir: `${folder}/master`, durable: true, password })
  const spare = await startRedis({
    ...{ dataDir: `${folder}/spare`, durable: true, password },
    settings: [...settings, `replicaof 127.0.0.1 ${String(master.port)}`],
  })
  const address = await switchableRedis(master.port)
  const redisUrl = master.url.replace(String(master.port), String(address.port))
  const first = await startVault(ENV, { redisUrl })
  const second = await first.replica()
  const ownKey = await createProject(first.url, 'shop')
  const sign = () => signHeaders({ project: 'shop', key: ownKey, method: 'GET', url: PUBLIC })
  expect(await get(second, await sign())).toEqual(ANSWERED)

  const client = new Redis(spare.url)
  await eventually(async () => (await client.info('replication')).includes('master_link_status:up'))
  await eventually(async () => (await client.dbsize()) > 0)
  await client.replicaof('NO', 'ONE')
  const spent = await sign()
  expect(await get(first, spent)).toEqual(ANSWERED)
  address.switchTo(spare.port)
  let answer: [number, unknown] = [503, {}]
  await eventually(async () => {
    answer = await get(second, spent)
    return answer[0] !== 503
  })
  expect(answer).toEqual(REPLAYED)
  await eventually(async () => (await get(second, await sign()))[0] === 200)
  expect(await get(first, spent)).toEqual(REPLAYED)

  client.disconnect()
  await second.stop()
  await first.stop()
  address.close()
  await Promise.all([master.stop(), spare.stop()])
})
