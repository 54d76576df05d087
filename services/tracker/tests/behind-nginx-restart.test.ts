import { Agent } from 'node:https'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  freePort,
  type Nginx,
  replicaAddresses,
  restartInTurn,
  sendMany,
  sendThrough,
  startNginx,
  type TestDatabase,
  testRedis,
} from '@vault-and-tracker/dev-env'
import type { Client } from './support/client.ts'
import { createTrackerDatabase, startTracker, type TestTracker } from './support/tracker.ts'

const CLIENTS = 32

let ports: readonly [number, number]
let database: TestDatabase
let redisUrl: string
let replicas: [TestTracker, TestTracker]
let nginx: Nginx
let member: Client
let agent: Agent

beforeAll(async () => {
  ports = [await freePort(), await freePort()]
  database = await createTrackerDatabase()
  redisUrl = (await testRedis()).url
  replicas = [await startReplica(0), await startReplica(1)]
  member = await replicas[0].signedIn('member')
  nginx = await startNginx({ tracker: replicaAddresses(ports) })
  // A connection each: those that clients keep are closed by nginx itself when it reads its configuration again.
  agent = new Agent({ keepAlive: false, secureContext: nginx.trusted })
})
afterAll(async () => {
  agent.destroy()
  await nginx.stop()
  for (const replica of replicas) await replica.stop()
  await database.drop()
})

function startReplica(i: number): Promise<TestTracker> {
  return startTracker({ TRUSTED_PROXIES: '127.0.0.1', PORT: String(ports[i]) }, { database, redisUrl })
}

/** Every second request changes something, so that nginx may not send it twice. */
function send(number: number): Promise<string> {
  const headers = { cookie: `session=${member.cookie ?? ''}` }
  const change = number % 2 === 0 ? { method: 'PATCH', body: '{"statsPublic":true}' } : { method: 'GET' }
  return sendThrough(nginx, agent, { host: 'tracker.example.org', path: '/api/user/me', headers, ...change })
}

test('no request is lost to a rolling restart of two replicas, carried out as operations says', async () => {
  const sent = sendMany(5_000, CLIENTS, send)
  await restartInTurn(nginx, { service: 'tracker', ports, restart })
  expect(await sent).toEqual({ '200': 5_000 })
})

async function restart(i: 0 | 1): Promise<void> {
  await replicas[i].stop()
  replicas[i] = await startReplica(i)
}
