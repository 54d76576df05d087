import { Agent } from 'node:https'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { IDLE_SCALE, NGINX_KEEPS_MS, type Nginx, raceIdleEnds, startNginx } from '@vault-and-tracker/dev-env'
import { listen, type RunningServer } from '@vault-and-tracker/service-kit/http/server'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createHttpServer } from '../src/app.ts'
import { createProject } from './support/client.ts'
import { createProxiedRequests } from './support/proxied.ts'
import { startVault, type TestVault } from './support/vault.ts'

const CLIENTS = 32

let vault: TestVault
let running: RunningServer
let nginx: Nginx
let agent: Agent

beforeAll(async () => {
  vault = await startVault({
    PUBLIC_URL: 'https://vault.example.org,http://127.0.0.1:0',
    TRUSTED_PROXIES: '127.0.0.1',
  })
  const server = createHttpServer(vault.context, {
    logger: createLogger({ name: 'vault', level: 'silent' }),
    stopping: new AbortController().signal,
  })
  running = await listen(server, { host: '127.0.0.1', port: 0 })
  server.keepAliveTimeout *= IDLE_SCALE
  nginx = await startNginx({ vault: [`127.0.0.1:${String(running.port)}`] }, NGINX_KEEPS_MS)
  agent = new Agent({ keepAlive: true, secureContext: nginx.trusted })
})
afterAll(async () => {
  agent.destroy()
  await nginx.stop()
  await running.drain()
  await vault.stop()
})

test('no request is lost when either side ends an idle connection', async () => {
  const prepare = createProxiedRequests(nginx, agent, await createProject(vault.url, 'shop'))
  const outcomes = await raceIdleEnds(nginx, running.port, () =>
    Promise.all(Array.from({ length: CLIENTS }, (_, i) => prepare(i))),
  )
  expect(new Set(outcomes)).toEqual(new Set(['200']))
})
