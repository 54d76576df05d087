import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type PgBouncer, startPgBouncer, type TestDatabase } from '@vault-and-tracker/dev-env'
import { startHint } from '@vault-and-tracker/service-kit/lifecycle/start-hint'
import { createProject, signedSend } from './support/client.ts'
import { createVaultDatabase, startVault } from './support/vault.ts'

let database: TestDatabase
let pooler: PgBouncer

beforeAll(async () => {
  database = await createVaultDatabase()
  pooler = await startPgBouncer(database.appUrl)
})
afterAll(async () => {
  await pooler.stop()
  await database.drop()
})

test('a start through PgBouncer without the parameter fails with the remedy', async () => {
  const start = startVault({}, { database: { ...database, appUrl: pooler.url } })
  expect(startHint(await start.catch((error: unknown) => error))).toMatch(/pgbouncer=true.*DATABASE_URL/)
})

test('stores and fetches secrets through PgBouncer in transaction mode', async () => {
  const appUrl = `${pooler.url}?pgbouncer=true`
  const vault = await startVault({}, { database: { ...database, appUrl } })
  const other = await vault.replica()
  const key = await createProject(vault.url, 'shop')
  const signed = (method: string, base: string, path: string, body?: object) =>
    signedSend({ project: 'shop', key, method, url: `${base}/v1/secrets${path}`, ...(body && { body }) })
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      const { url } = i % 2 === 0 ? vault : other
      const env = `env-${String(i % 3)}`
      const put = await signed('PUT', url, '', { key: `KEY_${String(i)}`, value: String(i), env })
      const fetched = await signed('GET', url, `?env=${env}`)
      return [put.status, fetched.status, (fetched.body as Record<string, string>)[`KEY_${String(i)}`] === String(i)]
    }),
  )
  expect(new Set(outcomes.map(String))).toEqual(new Set(['200,200,true']))
  expect(await vault.seal()).toBeGreaterThan(12)
  expect((await fetch(`${vault.url}/ready`)).status).toBe(200)
  await other.stop()
  await vault.stop()
})
