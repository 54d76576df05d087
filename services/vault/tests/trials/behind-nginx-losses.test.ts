import { Agent } from 'node:https'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  freePort,
  IDLE_SCALE,
  NGINX_KEEPS_MS,
  type Nginx,
  raceIdleEnds,
  replicaAddresses,
  restartUnderLoad,
  startNginx,
  type TestDatabase,
  testRedis,
} from '@vault-and-tracker/dev-env'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createHttpServer } from '../../src/app.ts'
import { createProject, type Key } from '../support/client.ts'
import { createProxiedRequests } from '../support/proxied.ts'
import { createVaultDatabase, startVault, type TestVault } from '../support/vault.ts'

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
  nginx = await startNginx({ vault: replicaAddresses(ports) })
  // One connection per request: nginx closes the idle connections of clients when it reads its configuration again.
  agent = new Agent({ keepAlive: false, secureContext: nginx.trusted })
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

test('no request is lost when either side ends an idle connection', async () => {
  const server = createHttpServer(replicas[0].context, {
    logger: createLogger({ name: 'vault', level: 'silent' }),
    stopping: new AbortController().signal,
  })
  const running = await listen(server, { host: '127.0.0.1', port: 0 })
  server.keepAliveTimeout *= IDLE_SCALE
  const keeping = await startNginx({ vault: [`127.0.0.1:${String(running.port)}`] }, NGINX_KEEPS_MS)
  const idle = new Agent({ keepAlive: true, secureContext: keeping.trusted })
  const prepare = createProxiedRequests(keeping, idle, key)
  const outcomes = await raceIdleEnds(keeping, running.port, () =>
    Promise.all(Array.from({ length: CLIENTS }, (_, i) => prepare(i))),
  )
  idle.destroy()
  await keeping.stop()
  await running.drain()
  expect(new Set(outcomes)).toEqual(new Set(['200']))
})

test('no request is lost to a rolling restart of two replicas, following docs/operations.md', async () => {
  const prepare = createProxiedRequests(nginx, agent, key)
  const send = async (number: number): Promise<string> => (await prepare(number))()
  const outcomes = await restartUnderLoad(nginx, { service: 'vault', ports, restart }, send)
  expect(Object.keys(outcomes)).toEqual(['200'])
})

async function restart(i: 0 | 1): Promise<void> {
  await replicas[i].stop()
  replicas[i] = await startReplica(i)
}
