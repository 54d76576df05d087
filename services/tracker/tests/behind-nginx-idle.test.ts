import { Agent } from 'node:https'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  IDLE_SCALE,
  NGINX_KEEPS_MS,
  type Nginx,
  raceIdleEnds,
  sendThrough,
  startNginx,
} from '@vault-and-tracker/dev-env'
import { listen, type RunningServer } from '@vault-and-tracker/service-kit/http/server'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createHttpServer } from '../src/app.ts'
import type { Client } from './support/client.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

const CLIENTS = 32

let tracker: TestTracker
let member: Client
let running: RunningServer
let nginx: Nginx
let agent: Agent

beforeAll(async () => {
  tracker = await startTracker({ TRUSTED_PROXIES: '127.0.0.1' })
  member = await tracker.signedIn('member')
  const { server, front } = createHttpServer(tracker.context, {
    logger: createLogger({ name: 'tracker', level: 'silent' }),
    stopping: new AbortController().signal,
  })
  running = await listen(server, { host: '127.0.0.1', port: 0 }, { front })
  server.keepAliveTimeout *= IDLE_SCALE
  nginx = await startNginx({ tracker: [`127.0.0.1:${String(running.port)}`] }, NGINX_KEEPS_MS)
  agent = new Agent({ keepAlive: true, secureContext: nginx.trusted })
})
afterAll(async () => {
  agent.destroy()
  await nginx.stop()
  await running.drain()
  await tracker.stop()
})

/** Requests of a kind that nginx does not repeat. */
function change(): Promise<string> {
  return sendThrough(nginx, agent, {
    ...{ host: 'tracker.example.org', method: 'PATCH', path: '/api/user/me' },
    headers: { cookie: `session=${member.cookie ?? ''}` },
    body: '{"statsPublic":true}',
  })
}

test('no request is lost when either side ends an idle connection', async () => {
  const outcomes = await raceIdleEnds(nginx, running.port, () =>
    Promise.resolve(Array.from({ length: CLIENTS }, () => change)),
  )
  expect(new Set(outcomes)).toEqual(new Set(['200']))
})
