import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  askUnread,
  memoryOf,
  removeTemporaryFolder,
  type TestDatabase,
  temporaryFolder,
  testRedis,
} from '@vault-and-tracker/dev-env'
import { createProject, type Key, signedSend, signHeaders } from '../support/client.ts'
import { createVaultDatabase } from '../support/vault.ts'
import { startVaultProcess, type VaultProcess } from '../support/vault-process.ts'

const FETCHES = 60
const SECRETS = 160
const VALUE = 'v'.repeat(65_536)
/** The budget for unread responses (256 MiB), and memory to prepare them. All responses together are 600 MiB. */
const MAX_GROWTH = 512 * 1_024 ** 2

let folder: string
let database: TestDatabase
let service: VaultProcess
let key: Key

beforeAll(async () => {
  folder = temporaryFolder('unread-fetches')
  database = await createVaultDatabase()
  const { url: redisUrl } = await testRedis()
  service = await startVaultProcess({
    ...{ folder, databaseUrl: database.appUrl, redisUrl },
    // The limit of all projects together.
    env: { MAX_ENVIRONMENT_BYTES: String(16 * 1024 ** 2), MAX_UNREAD_BYTES: '0' },
  })
  key = await createProject(service.url, 'shop')
  for (let i = 0; i < SECRETS; i++) {
    const body = { key: `KEY_${String(i)}`, value: VALUE, env: 'production' }
    await signedSend({ project: 'shop', key, method: 'PUT', url: `${service.url}/v1/secrets`, body })
  }
})

afterAll(async () => {
  await service.process.stop()
  await database.drop()
  removeTemporaryFolder(folder)
})

const fetchAll = () => signedSend({ project: 'shop', key, method: 'GET', url: `${service.url}/v1/secrets` })

test('bounds the memory of 60 unread fetches of 10 MiB', async () => {
  expect(Object.keys((await fetchAll()).body as object)).toHaveLength(SECRETS)
  const { pid } = service.process
  const before = memoryOf(pid)
  const sockets = await Promise.all(
    Array.from({ length: FETCHES }, async () => {
      const signed = await signHeaders({ project: 'shop', key, method: 'GET', url: `${service.url}/v1/secrets` })
      const headers = Object.entries(signed).map(([name, value]) => `${name}: ${value}\r\n`)
      const host = `127.0.0.1:${String(service.port)}`
      return askUnread(service.url, `GET /v1/secrets HTTP/1.1\r\nHost: ${host}\r\n${headers.join('')}\r\n`)
    }),
  )
  let most = 0
  for (let i = 0; i < 20; i++) {
    expect((await fetch(`${service.url}/ready`)).status).toBe(200)
    most = Math.max(most, memoryOf(pid) - before)
    await sleep(100)
  }
  expect(most).toBeLessThan(MAX_GROWTH)
  expect(Object.keys((await fetchAll()).body as object)).toHaveLength(SECRETS)
  for (const socket of sockets) socket.destroy()
  expect(service.process.isRunning()).toBe(true)
})
