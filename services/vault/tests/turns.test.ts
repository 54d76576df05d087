import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, type Key, signedSend } from './support/client.ts'
import { connectSql } from './support/sql.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault

beforeAll(async () => {
  vault = await startVault({ DATABASE_POOL_SIZE: '4' })
})
afterAll(() => vault.stop())

const url = () => `${vault.url}/v1/secrets`
const fetchAs = (project: string, key: Key) => signedSend({ project, key, method: 'GET', url: url() })
const put = (project: string, key: Key, name: string) =>
  signedSend({ project, key, method: 'PUT', url: url(), body: { key: name, value: 'v', env: 'production' } })

test('waiting writes of a project do not occupy all connections', async () => {
  const slow = await createProject(vault.url, 'slow')
  const other = await createProject(vault.url, 'other')
  const holder = await connectSql(vault.database.adminUrl)
  await holder('begin')
  await holder(
    `select 1 from project_deks d join projects p on p.uid = d.project_uid where p.name = 'slow' for update of d`,
  )
  const names = Array.from({ length: 40 }, (_, i) => `K${String(i)}`)
  const puts = Promise.all(names.map((name) => put('slow', slow, name)))
  // Longer than a query waits for a connection.
  await sleep(3_500)
  expect((await fetchAs('other', other)).status).toBe(200)
  expect((await put('other', other, 'A')).status).toBe(200)
  await holder('commit')
  await holder.end()
  expect((await puts).map(({ status }) => status)).toEqual(names.map(() => 200))
  const { body } = await fetchAs('slow', slow)
  expect(Object.keys(body as object).toSorted()).toEqual(names.toSorted())
})

test('waiting reads of an administrator do not occupy all connections', async () => {
  const key = await createProject(vault.url, 'read')
  const holder = await connectSql(vault.database.adminUrl)
  await holder('begin')
  await holder('lock table administrator_sessions in access exclusive mode')
  const reads = Promise.all(Array.from({ length: 40 }, () => admin(vault.url, 'GET', '/sessions')))
  await sleep(3_500)
  expect((await fetchAs('read', key)).status).toBe(200)
  await holder('commit')
  await holder.end()
  expect((await reads).every(({ status }) => status === 200)).toBe(true)
})
