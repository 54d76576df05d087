import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type DurableServers,
  randomFrom,
  startDurableServers,
  type TestDatabase,
  TRIALS,
} from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import { createProject, type Key, signedSend } from '../support/client.ts'
import { createLoad, OVERWRITTEN, type Told } from '../support/fault-load.ts'
import { connectSql, type Sql } from '../support/sql.ts'
import { createVaultDatabase, KEYS } from '../support/vault.ts'
import { runProgram, startVaultProcess, type VaultProcess } from '../support/vault-process.ts'

/** `infra/faults` sets both. Every fault is injected once, however short the time is. */
const SECONDS = Number(process.env['FAULT_SECONDS'] ?? 12 * TRIALS)
const SEED = Number(process.env['FAULT_SEED'] ?? 20_261_122)
/** In a short run more would only keep the processor busy. */
const CLIENTS = 8
const FREEZE_MS = 1_500

let servers: DurableServers
let database: TestDatabase
let vaults: [VaultProcess, VaultProcess]
let key: Key

beforeAll(async () => {
  servers = await startDurableServers('faults-injected')
  database = await createVaultDatabase(servers.postgres)
  vaults = [await startReplica(), await startReplica()]
  key = await createProject(vaults[0].url, 'shop')
})
afterAll(async () => {
  await Promise.all(vaults.map(({ process: vault }) => vault.stop()))
  await database.drop()
  await servers.stop()
})

function startReplica(port?: number): Promise<VaultProcess> {
  return startVaultProcess({
    ...{ folder: servers.folder, databaseUrl: database.appUrl, redisUrl: servers.redis.url },
    ...(port !== undefined && { port }),
  })
}

async function frozen({ pause, resume }: { pause: () => void; resume: () => void }): Promise<void> {
  pause()
  await sleep(FREEZE_MS)
  resume()
}

async function killVault(which: 0 | 1): Promise<void> {
  await vaults[which].process.kill()
  vaults[which] = await startReplica(vaults[which].port)
}

async function fillRedis(): Promise<void> {
  const redis = new Redis(servers.redis.url)
  const [, limit = '0'] = await redis.config('GET', 'maxmemory')
  await redis.config('SET', 'maxmemory', '1')
  await sleep(FREEZE_MS)
  await redis.config('SET', 'maxmemory', limit)
  redis.disconnect()
}

const FAULTS: readonly (readonly [name: string, fault: () => Promise<unknown>])[] = [
  ['vault killed', () => killVault(0)],
  ['other vault killed', () => killVault(1)],
  ['Postgres killed', async () => servers.postgres.kill().then(() => servers.postgres.restart())],
  ['Redis killed', async () => servers.redis.kill().then(() => servers.redis.restart())],
  ['vault frozen', () => frozen(vaults[0].process)],
  ['Postgres frozen', () => frozen(servers.postgres)],
  ['Redis frozen', () => frozen(servers.redis)],
  ['Redis full', fillRedis],
]

/** Every fault once, in a random order, until the time is over. */
async function injectFaults(): Promise<Map<string, number>> {
  const random = randomFrom(SEED)
  const counts = new Map<string, number>()
  const until = Date.now() + SECONDS * 1_000
  do {
    const order = FAULTS.map((fault) => ({ fault, place: random() })).toSorted((a, b) => a.place - b.place)
    for (const { fault } of order) {
      const [name, inject] = fault
      await sleep(300)
      await inject()
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  } while (Date.now() < until)
  return counts
}

/** Compares the responses with the stored state. */
async function lossesOf(told: Told, sql: Sql) {
  const lost: string[] = []
  const undone: string[] = []
  const unaudited: string[] = []
  for (const [env, written] of told.written) {
    const url = `${vaults[0].url}/v1/secrets?env=${env}`
    const { body } = await signedSend({ project: 'shop', key, method: 'GET', url })
    const stored = body as Record<string, string>
    if (Number(stored[OVERWRITTEN] ?? -1) < (told.overwritten.get(env) ?? -1)) undone.push(env)
    for (const [name, value] of written) if (stored[name] !== value) lost.push(`${env}/${name}`)
    const puts = await sql<{ key: string }>(
      `select detail->>'key' as key from audit where action = 'put' and env = $1`,
      [env],
    )
    const audited = new Set(puts.map(({ key: name }) => name))
    for (const name of written.keys()) if (!audited.has(name)) unaudited.push(`${env}/${name}`)
    const [fetches] = await sql<{ n: number }>(
      `select count(*)::int as n from audit where action = 'fetch' and env = $1`,
      [env],
    )
    if ((fetches?.n ?? 0) <= (told.fetched.get(env) ?? 0)) unaudited.push(`fetches of ${env}`)
  }
  return { lost, undone, unaudited }
}

test(`loses no acknowledged or audited write during random faults (at least ${String(SECONDS)} s, seed ${String(SEED)})`, async () => {
  const load = createLoad({ project: 'shop', key, targets: vaults, clients: CLIENTS })
  const injected = await injectFaults()
  await sleep(1_000)
  await load.stop()
  const { told } = load
  const sql = await connectSql(database.adminUrl)
  const { lost, undone, unaudited } = await lossesOf(told, sql)
  const twice: string[] = []
  for (const { url, method, headers } of told.accepted.slice(-500)) {
    const again = await fetch(url, { method, headers })
    await again.text()
    if (again.status === 200) twice.push(`${method} ${url}`)
  }
  await sql.end()
  const keyring = Object.entries(KEYS).map(([id, secret]) => `${id}:${secret}`)
  const verified = await runProgram('commands/audit.command', ['verify'], {
    DATABASE_URL: database.appUrl,
    ...{ VAULT_KEYRING: keyring.join(','), VAULT_KEYRING_ACTIVE: '2026-11' },
  })

  const writes = [...told.written.values()].reduce((sum, { size }) => sum + size, 0)
  const fetches = [...told.fetched.values()].reduce((sum, n) => sum + n, 0)
  process.stdout.write(
    [
      `faults: ${[...injected].map(([name, n]) => `${name} ${String(n)}`).join(', ')}`,
      `answers by status (0: none): ${JSON.stringify(Object.fromEntries(told.statuses))}`,
      `acknowledged: ${String(writes)} writes, ${String(fetches)} fetches`,
      `acknowledged writes lost: ${String(lost.length)}`,
      `acknowledged writes undone by older ones: ${String(undone.length)}`,
      `answers without an audit entry: ${String(unaudited.length)}`,
      `requests accepted twice: ${String(twice.length)}\n`,
    ].join('\n'),
  )
  expect({ lost, undone, unaudited, twice }).toEqual({ lost: [], undone: [], unaudited: [], twice: [] })
  expect([verified.status, verified.stderr]).toEqual([0, ''])
  // The run must have had both responses and failures.
  expect(writes).toBeGreaterThan(0)
  expect(fetches).toBeGreaterThan(0)
  const otherStatuses = [...told.statuses.keys()].filter((status) => ![0, 200, 401, 503].includes(status))
  expect(otherStatuses).toEqual([])
}, 2_000_000)
