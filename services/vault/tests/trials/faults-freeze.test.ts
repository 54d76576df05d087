import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  removeTemporaryFolder,
  type TestDatabase,
  temporaryFolder,
  testRedis,
} from '@vault-and-tracker/dev-env'
import { createProject, signedSend } from '../support/client.ts'
import { connectSql, type Sql } from '../support/sql.ts'
import { createVaultDatabase } from '../support/vault.ts'
import { startVaultProcess, type VaultProcess } from '../support/vault-process.ts'

const folder = temporaryFolder('faults-freeze')
let database: TestDatabase
let sql: Sql
let frozen: VaultProcess
let other: VaultProcess

beforeAll(async () => {
  database = await createVaultDatabase()
  sql = await connectSql(database.adminUrl)
  const options = { folder, databaseUrl: database.appUrl, redisUrl: (await testRedis()).url }
  frozen = await startVaultProcess(options)
  other = await startVaultProcess(options)
})
afterAll(async () => {
  await frozen.process.stop()
  await other.process.stop()
  await sql.end()
  await database.drop()
  removeTemporaryFolder(folder)
})

test('does not wait for a replica that freezes inside a transaction', async () => {
  const key = await createProject(other.url, 'shop')
  const put = (vault: VaultProcess, name: string) =>
    signedSend({
      ...{ project: 'shop', key, method: 'PUT', url: `${vault.url}/v1/secrets` },
      body: { key: name, value: 'v', env: 'production' },
    })
  // The write waits for this lock while it has locked the project's data key.
  await sql('begin')
  await sql('lock table audit in exclusive mode')
  const lost = put(frozen, 'FROZEN').catch(() => 'no answer')
  await eventually(
    async () => (await sql("select 1 from pg_locks where not granted and relation = 'audit'::regclass")).length > 0,
  )
  frozen.process.pause()
  await sql('rollback')

  const written = await put(other, 'OTHER')
  frozen.process.resume()
  expect(written.status).toBe(200)
  await lost
})
