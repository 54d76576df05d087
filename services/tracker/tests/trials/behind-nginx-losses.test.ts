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
  sendThrough,
  startNginx,
  type TestDatabase,
  testRedis,
} from '@vault-and-tracker/dev-env'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createHttpServer } from '../../src/app.ts'
import type { Client } from '../support/client.ts'
import { createTrackerDatabase, startTracker, type TestTracker } from '../support/tracker.ts'

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
  // One connection per request: nginx closes the idle connections of clients when it reads its configuration again.
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

/** Every second request is a change, which nginx must not repeat. */
function send(number: number, through = nginx, by = agent): Promise<string> {
  const headers = { cookie: `session=${member.cookie ?? ''}` }
  const change = number % 2 === 0 ? { method: 'PATCH', body: '{"statsPublic":true}' } : { method: 'GET' }
  return sendThrough(through, by, { host: 'tracker.example.org', path: '/api/user/me', headers, ...change })
}

test('no request is lost when either side ends an idle connection', async () => {
  const { server, front } = createHttpServer(replicas[0].context, {
    logger: createLogger({ name: 'tracker', level: 'silent' }),
    stopping: new AbortController().signal,
  })
  const running = await listen(server, { host: '127.0.0.1', port: 0 }, { front })
  server.keepAliveTimeout *= IDLE_SCALE
  const keeping = await startNginx({ tracker: [`127.0.0.1:${String(running.port)}`] }, NGINX_KEEPS_MS)
  const idle = new Agent({ keepAlive: true, secureContext: keeping.trusted })
  // Requests of a kind that nginx does not repeat.
  const outcomes = await raceIdleEnds(keeping, running.port, () =>
    Promise.resolve(Array.from({ length: CLIENTS }, () => () => send(0, keeping, idle))),
  )
  idle.destroy()
  await keeping.stop()
  await running.drain()
  expect(new Set(outcomes)).toEqual(new Set(['200']))
})

test('no request is lost to a rolling restart of two replicas, following docs/operations.md', async () => {
  const outcomes = await restartUnderLoad(nginx, { service: 'tracker', ports, restart }, (number) => send(number))
  expect(Object.keys(outcomes)).toEqual(['200'])
})

async function restart(i: 0 | 1): Promise<void> {
  await replicas[i].stop()
  replicas[i] = await startReplica(i)
}
