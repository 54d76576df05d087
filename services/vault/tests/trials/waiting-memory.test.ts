import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  askUnread,
  eventually,
  memoryOf,
  removeTemporaryFolder,
  type TestDatabase,
  temporaryFolder,
  testRedis,
} from '@vault-and-tracker/dev-env'
import { createProject, type Key, signedSend, signHeaders } from '../support/client.ts'
import { createVaultDatabase } from '../support/vault.ts'
import { startVaultProcess, type VaultProcess } from '../support/vault-process.ts'

const CLIENTS = 1_000
const MAX_GROWTH = 30 * 1_024 ** 2

let folder: string
let database: TestDatabase
let service: VaultProcess
let key: Key

beforeAll(async () => {
  folder = temporaryFolder('waiting-memory')
  database = await createVaultDatabase()
  const { url: redisUrl } = await testRedis()
  service = await startVaultProcess({ folder, databaseUrl: database.appUrl, redisUrl })
  key = await createProject(service.url, 'shop')
  for (let n = 0; n < 20; n++) await put(`SECRET_${String(n)}`)
})

afterAll(async () => {
  await service.process.stop()
  await database.drop()
  removeTemporaryFolder(folder)
})

const put = (name: string) =>
  signedSend({
    ...{ project: 'shop', key, method: 'PUT', url: `${service.url}/v1/secrets` },
    body: { key: name, value: 'v', env: 'production' },
  })

const metricsOf = async ({ url }: VaultProcess) => (await fetch(`${url}/metrics`)).text()
const clientsIn = (metrics: string) => Number(/^vault_waiting_clients (\d+)$/m.exec(metrics)?.[1])
const untilWaiting = (count: number) => eventually(async () => clientsIn(await metricsOf(service)) === count)

const changesSince = (version: string) => `/v1/secrets/changes?values=true&since=${version}`

async function version(): Promise<string> {
  const { body } = await signedSend({ project: 'shop', key, method: 'GET', url: `${service.url}/v1/secrets/changes` })
  return (body as { version: string }).version
}

/** Opens the connections of all clients, which wait. */
async function openAll(): Promise<Socket[]> {
  const target = changesSince(await version())
  const sockets: Socket[] = []
  for (let n = 0; n < CLIENTS; n++) {
    const signed = await signHeaders({ project: 'shop', key, method: 'GET', url: service.url + target })
    const lines = Object.entries({ Host: new URL(service.url).host, ...signed }).map(([k, v]) => `${k}: ${v}\r\n`)
    sockets.push(await askUnread(service.url, `GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`))
  }
  return sockets
}

test('1,000 waiting clients take less than 30 MiB and no connection to Postgres, and all receive a change', async () => {
  // The memory of the process grows to what the same requests need without a wait.
  const url = `${service.url}${changesSince(await version())}&wait=0`
  for (let n = 0; n < CLIENTS; n++) await signedSend({ project: 'shop', key, method: 'GET', url })
  const before = memoryOf(service.process.pid)
  const sockets = await openAll()
  await untilWaiting(CLIENTS)
  expect(memoryOf(service.process.pid) - before).toBeLessThan(MAX_GROWTH)
  // A background task may be using one at the moment.
  await eventually(async () => {
    const metrics = await metricsOf(service)
    return clientsIn(metrics) === CLIENTS && /^postgres_pool_connections\{.*state="used".*\} 0$/m.test(metrics)
  })

  const answers = sockets.map(async (socket) => {
    const [bytes] = (await once(socket.resume(), 'data')) as [Buffer]
    return bytes.toString()
  })
  await put('NEW')
  for (const answer of await Promise.all(answers)) {
    expect(answer).toContain('HTTP/1.1 200 OK')
    expect(answer).toContain('"changed":["NEW"]')
  }
  await untilWaiting(0)
  for (const socket of sockets) socket.destroy()
})
