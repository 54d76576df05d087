import { Agent, type RequestOptions, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, freePort, type TestDatabase, testRedis } from '@vault-and-tracker/dev-env'
import type { Client } from './support/client.ts'
import { type Nginx, startNginx } from './support/nginx.ts'
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
  nginx = await startNginx({ tracker: addresses() })
  // A connection each: those that clients keep are closed by nginx itself when it reads its configuration again.
  agent = new Agent({ keepAlive: false, ca: nginx.certificate })
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

function addresses(down?: number): readonly string[] {
  return ports.map((port, i) => `127.0.0.1:${String(port)}${i === down ? ' down' : ''}`)
}

/** The status of a request through nginx, or what happened to it. */
function send(method: 'GET' | 'PATCH', path: string): Promise<string> {
  const body = method === 'GET' ? '' : '{"statsPublic":true}'
  const options: RequestOptions = {
    host: '127.0.0.1',
    port: nginx.port,
    servername: 'tracker.example.org',
    agent,
    method,
    path,
    headers: {
      host: 'tracker.example.org',
      cookie: `session=${member.cookie ?? ''}`,
      ...(body !== '' && { 'content-type': 'application/json', 'content-length': body.length }),
    },
  }
  return new Promise((resolve) => {
    const message = request(options, (response) => {
      response.resume()
      response.once('end', () => resolve(String(response.statusCode)))
    })
    message.once('error', (error) => resolve(error.message))
    message.end(body)
  })
}

/** How often each outcome came. Every second request changes something, so that nginx may not send it twice. */
async function sendMany(count: number): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {}
  let left = count
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const outcome = await send(left % 2 === 0 ? 'PATCH' : 'GET', '/api/user/me')
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return outcomes
}

test('no request is lost to a rolling restart of two replicas, carried out as operations says', async () => {
  const sent = sendMany(5_000)
  for (const i of [1, 0] as const) {
    await nginx.reload({ tracker: addresses(i) })
    await sleep(2_000)
    await restart(i)
    await nginx.reload({ tracker: addresses() })
  }
  expect(await sent).toEqual({ '200': 5_000 })
})

async function restart(i: 0 | 1): Promise<void> {
  await replicas[i].stop()
  replicas[i] = await startReplica(i)
  await eventually(async () => (await fetch(`http://127.0.0.1:${String(ports[i])}/ready`)).status === 200)
}
