import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  removeTemporaryFolder,
  type SentinelGroup,
  startRedisWithSentinels,
  type TestDatabase,
  TRIALS,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { createProject, type Key, send, signedSend, signHeaders } from '../support/client.ts'
import { createVaultDatabase } from '../support/vault.ts'
import { startVaultProcess, type VaultProcess } from '../support/vault-process.ts'

/** How often the master fails in each way. */
const FAILOVERS = Math.max(1, Math.round(TRIALS / 5))
const CLIENTS = 6
const PAUSE_MS = 20
/** As in docs/compatibility.md. */
const SETTINGS = ['min-replicas-to-write 1', 'min-replicas-max-lag 2']

/** Where both vaults are reached, so that a request to one of them can be repeated at the other. */
const HOST = 'localhost:1'

type Sent = { readonly vault: VaultProcess; readonly headers: Record<string, string> }

const folder = temporaryFolder('redis-failovers')
let group: SentinelGroup
let database: TestDatabase
let vaults: readonly VaultProcess[]
let key: Key

beforeAll(async () => {
  group = await startRedisWithSentinels({ folder, replicas: 2, durable: true, settings: SETTINGS })
  database = await createVaultDatabase()
  const env = { TRUSTED_PROXIES: '127.0.0.1' }
  const options = { folder, databaseUrl: database.appUrl, redisUrl: group.url, env }
  vaults = [await startVaultProcess(options), await startVaultProcess(options)]
  key = await createProject(vaults[0]?.url ?? '', 'shop')
})
afterAll(async () => {
  await Promise.all(vaults.map(({ process: vault }) => vault.stop()))
  await database.drop()
  await group.stop()
  removeTemporaryFolder(folder)
})

const FAULTS: readonly (readonly [name: string, fail: () => Promise<() => Promise<void>>])[] = [
  [
    'killed',
    async () => {
      const master = await group.master()
      await master.kill()
      return () => master.restart()
    },
  ],
  [
    'frozen',
    async () => {
      const master = await group.master()
      master.pause()
      return () => {
        master.resume()
        return Promise.resolve()
      }
    },
  ],
  [
    'replaced',
    async () => {
      await group.failOver()
      return () => Promise.resolve()
    },
  ],
]

async function get({ vault, headers }: Sent): Promise<number> {
  const forwarded = { 'X-Forwarded-Host': HOST }
  return (await send(`${vault.url}/v1/secrets`, { headers: { ...headers, ...forwarded } })).status
}

/** Fetches and writes until it is stopped, and repeats what was accepted at the other vault. */
function createClients() {
  const accepted: Sent[] = []
  const twice: Sent[] = []
  const statuses = new Map<number, number>()
  const written = new Map<string, string>()
  let lastAcceptedAt = Date.now()
  let longestGapMs = 0
  let isOver = false
  const note = (status: number): boolean => {
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status !== 200) return false
    longestGapMs = Math.max(longestGapMs, Date.now() - lastAcceptedAt)
    lastAcceptedAt = Date.now()
    return true
  }
  const client = async (number: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const vault = vaults[i % 2]
      if (vault === undefined) return
      const sent = {
        vault,
        headers: await signHeaders({ project: 'shop', key, method: 'GET', url: `http://${HOST}/v1/secrets` }),
      }
      if (note(await get(sent))) accepted.push(sent)
      const name = `KEY_${String(number)}`
      const body = { key: name, value: String(i), env: 'production' }
      const put = await signedSend({ project: 'shop', key, method: 'PUT', url: `${vault.url}/v1/secrets`, body })
      if (note(put.status)) written.set(name, String(i))
      await sleep(PAUSE_MS)
    }
  }
  const attacker = async (): Promise<void> => {
    while (!isOver) {
      for (const sent of accepted.slice(-10).toReversed()) {
        const vault = vaults.find((each) => each !== sent.vault) ?? sent.vault
        if ((await get({ ...sent, vault })) === 200) twice.push(sent)
      }
      await sleep(1)
    }
  }
  const running = Promise.all([...Array.from({ length: CLIENTS }, (_, number) => client(number)), attacker()])
  return {
    stop: async () => {
      isOver = true
      await running
      return { accepted, twice, statuses, written, longestGapMs }
    },
  }
}

test.each(FAULTS)(
  `while its master is %s ${String(FAILOVERS)} times, no request is accepted twice and no write is lost`,
  async (name, fail) => {
    for (let round = 0; round < FAILOVERS; round++) {
      const clients = createClients()
      await sleep(1_500)
      const old = await group.master()
      const repair = await fail()
      await eventually(async () => (await group.master()) !== old)
      await sleep(6_000)
      await repair()
      await sleep(3_000)
      const { accepted, twice, statuses, written, longestGapMs } = await clients.stop()
      for (const sent of accepted.slice(-500))
        for (const vault of vaults) if ((await get({ ...sent, vault })) === 200) twice.push(sent)
      const { body } = await signedSend({
        project: 'shop',
        key,
        method: 'GET',
        url: `${vaults[0]?.url ?? ''}/v1/secrets`,
      })
      const report = { fault: name, longestGapMs, statuses: Object.fromEntries(statuses), twice: twice.length }
      process.stdout.write(`${JSON.stringify(report)}\n`)
      expect(twice).toEqual([])
      expect(body).toEqual(expect.objectContaining(Object.fromEntries(written)))
      expect([...statuses.keys()].filter((status) => ![200, 401, 503].includes(status))).toEqual([])
      await group.whole()
    }
  },
  600_000,
)
