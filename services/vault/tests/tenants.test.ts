import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Answer, admin, createProject, type Key, signedSend, statusAndError } from './support/client.ts'
import { connectSql } from './support/sql.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault

beforeAll(async () => {
  vault = await startVault({
    MAX_ENVIRONMENT_BYTES: '100000',
    MAX_ENVIRONMENTS: '2',
    MAX_VERSIONS: '3',
    WRITE_RATE_LIMIT: '20',
  })
})
afterAll(() => vault.stop())

const put = (project: string, key: Key, name: string, value: string, env = 'production'): Promise<Answer> =>
  signedSend({ project, key, method: 'PUT', url: `${vault.url}/v1/secrets`, body: { key: name, value, env } })

test('limits the values and names of an environment', async () => {
  const key = await createProject(vault.url, 'large')
  expect((await put('large', key, 'A', 'x'.repeat(60_000))).status).toBe(200)
  expect(statusAndError(await put('large', key, 'B', 'x'.repeat(60_000)))).toEqual([413, 'payload_too_large'])
  expect((await put('large', key, 'A', 'x'.repeat(64_000))).status).toBe(200)
  expect((await put('large', key, 'B', 'x'.repeat(60_000), 'staging')).status).toBe(200)
})

test('limits the environments of a project', async () => {
  const key = await createProject(vault.url, 'wide')
  expect((await put('wide', key, 'A', '1', 'one')).status).toBe(200)
  expect((await put('wide', key, 'A', '1', 'two')).status).toBe(200)
  expect(statusAndError(await put('wide', key, 'A', '1', 'three'))).toEqual([413, 'payload_too_large'])
  expect((await put('wide', key, 'B', '1', 'two')).status).toBe(200)
})

test('limits the secrets of an environment', async () => {
  const few = await vault.replica({ MAX_SECRETS: '3' })
  const key = await createProject(few.url, 'many')
  const write = (name: string, env = 'production') =>
    signedSend({
      project: 'many',
      key,
      method: 'PUT',
      url: `${few.url}/v1/secrets`,
      body: { key: name, value: '1', env },
    })
  for (const name of ['A', 'B', 'C']) expect((await write(name)).status).toBe(200)
  expect(statusAndError(await write('D'))).toEqual([413, 'payload_too_large'])
  expect((await write('C')).status).toBe(200)
  expect((await write('D', 'staging')).status).toBe(200)
  const { body } = await admin(few.url, 'GET', '/projects/many/secrets?env=production')
  expect((body as { key: string }[]).map(({ key: name }) => name)).toEqual(['A', 'B', 'C'])
  await few.stop()
})

test('keeps the newest versions of a secret', async () => {
  const key = await createProject(vault.url, 'deep')
  for (let n = 1; n <= 5; n++) await put('deep', key, 'A', String(n))
  const [secret] = (await admin(vault.url, 'GET', '/projects/deep/secrets')).body as { id: string }[]
  const versions = await admin(vault.url, 'GET', `/secrets/${String(secret?.id)}/versions`)
  expect((versions.body as { version: number }[]).map(({ version }) => version)).toEqual([5, 4, 3])
  expect((await admin(vault.url, 'POST', `/secrets/${String(secret?.id)}/versions/2/restore`)).status).toBe(404)
})

test('limits the writes of a project without delaying others', async () => {
  const busy = await createProject(vault.url, 'busy')
  const calm = await createProject(vault.url, 'calm')
  const answers = await Promise.all(Array.from({ length: 25 }, (_, i) => put('busy', busy, `K${String(i)}`, 'v')))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused).toHaveLength(5)
  expect(refused[0]?.headers.get('retry-after')).toMatch(/^\d+$/)
  expect((await put('calm', calm, 'A', '1')).status).toBe(200)
})

test('limits the writes of an administrator without delaying others', async () => {
  await createProject(vault.url, 'administered')
  const tokens: string[] = []
  for (const name of ['Ada', 'Grace']) {
    const { body } = await admin(vault.url, 'POST', '/administrators', { name, role: 'administrator' })
    tokens.push((body as { token: string }).token)
  }
  const revoke = (token = '') =>
    fetch(`${vault.url}/v1/admin/projects/administered/keys/${'0'.repeat(32)}`, {
      ...{ method: 'DELETE', headers: { Authorization: `Bearer ${token}` } },
    })
  const answers = await Promise.all(Array.from({ length: 25 }, () => revoke(tokens[0])))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([
    ...Array.from({ length: 20 }, () => 404),
    ...Array.from({ length: 5 }, () => 429),
  ])
  expect((await revoke(tokens[1])).status).toBe(404)
})

describe('waiting requests', () => {
  let small: TestVault

  beforeAll(async () => {
    small = await vault.replica({ DATABASE_POOL_SIZE: '4', WRITE_RATE_LIMIT: '0', MAX_SECRETS: '1000' })
  })
  afterAll(() => small.stop())

  const url = () => `${small.url}/v1/secrets`
  const fetchAs = (project: string, key: Key) => signedSend({ project, key, method: 'GET', url: url() })
  const put = (project: string, key: Key, name: string) =>
    signedSend({ project, key, method: 'PUT', url: url(), body: { key: name, value: 'v', env: 'production' } })

  test('waiting writes of a project do not occupy all connections', async () => {
    const slow = await createProject(small.url, 'slow')
    const other = await createProject(small.url, 'other')
    const holder = await connectSql(small.database.adminUrl)
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
    const key = await createProject(small.url, 'read')
    const holder = await connectSql(small.database.adminUrl)
    await holder('begin')
    await holder('lock table administrator_sessions in access exclusive mode')
    const reads = Promise.all(Array.from({ length: 40 }, () => admin(small.url, 'GET', '/sessions')))
    await sleep(3_500)
    expect((await fetchAs('read', key)).status).toBe(200)
    await holder('commit')
    await holder.end()
    expect((await reads).every(({ status }) => status === 200)).toBe(true)
  })
})
