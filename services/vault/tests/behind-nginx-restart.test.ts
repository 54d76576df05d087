import { Agent } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  freePort,
  type Nginx,
  sendMany,
  startNginx,
  type TestDatabase,
  testRedis,
} from '@vault-and-tracker/dev-env'
import { createProject, type Key } from './support/client.ts'
import { createProxiedRequests } from './support/proxied.ts'
import { createVaultDatabase, startVault, type TestVault } from './support/vault.ts'

const CLIENTS = 32

let ports: readonly [number, number]
let database: TestDatabase
let redisUrl: string
let replicas: [TestVault, TestVault]
let nginx: Nginx
let agent: Agent
let key: Key

beforeAll(async () => {
  ports = [await freePort(), await freePort()]
  database = await createVaultDatabase()
  redisUrl = (await testRedis()).url
  replicas = [await startReplica(0), await startReplica(1)]
  key = await createProject(replicas[0].url, 'shop')
  nginx = await startNginx({ vault: addresses() })
  // A connection each: those that clients keep are closed by nginx itself when it reads its configuration again.
  agent = new Agent({ keepAlive: false, ca: nginx.certificate })
})
afterAll(async () => {
  agent.destroy()
  await nginx.stop()
  for (const replica of replicas) await replica.stop()
  await database.drop()
})

function startReplica(i: number): Promise<TestVault> {
  return startVault(
    {
      PUBLIC_URL: 'https://vault.example.org,http://127.0.0.1:0',
      TRUSTED_PROXIES: '127.0.0.1',
      PORT: String(ports[i]),
    },
    { database, redisUrl },
  )
}

function addresses(down?: number): readonly string[] {
  return ports.map((port, i) => `127.0.0.1:${String(port)}${i === down ? ' down' : ''}`)
}

test('no request is lost to a rolling restart of two replicas, carried out as operations says', async () => {
  const prepare = createProxiedRequests(nginx, agent, key)
  const sent = sendMany(5_000, CLIENTS, async (number) => (await prepare(number))())
  for (const i of [1, 0] as const) {
    await nginx.reload({ vault: addresses(i) })
    await sleep(2_000)
    await restart(i)
    await nginx.reload({ vault: addresses() })
  }
  expect(await sent).toEqual({ '200': 5_000 })
})

async function restart(i: 0 | 1): Promise<void> {
  await replicas[i].stop()
  replicas[i] = await startReplica(i)
  await eventually(async () => (await fetch(`http://127.0.0.1:${String(ports[i])}/ready`)).status === 200)
}
