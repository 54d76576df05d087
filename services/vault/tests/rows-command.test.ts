import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { admin, createProject, type Key, newKey, signedSend, statusAndError } from './support/client.ts'
import { rows } from './support/rows.ts'
import { startVault, type TestVault } from './support/vault.ts'

/** With it, whoever owns the tables changes them without their triggers. */
const AS_OWNER = 'set session_replication_role = replica;'

let vault: TestVault
let key: Key

beforeEach(async () => {
  vault = await startVault()
  key = await createProject(vault.url, 'shop')
  for (const value of ['old', 'new']) await put('A', value)
})
afterEach(() => vault.stop())

const request = (method = 'GET', body?: unknown) =>
  signedSend({
    project: 'shop',
    key,
    method,
    url: `${vault.url}/v1/secrets`,
    body,
    created: Math.floor(vault.now() / 1000),
  })
const put = (name: string, value: string) => request('PUT', { key: name, value, env: 'production' })
const verify = async () => JSON.parse((await rows(vault, 'verify')).stdout) as { intact: boolean; problems: string[] }

test('rows of an earlier release open nothing until they are authenticated, once', async () => {
  await vault.sql(`${AS_OWNER} update projects set generation = 0, code = null`)
  await vault.sql('update project_keys set code = null')
  await vault.sql('delete from environments')
  vault.advance(61_000)
  expect(statusAndError(await request())).toEqual([401, 'invalid_signature'])
  expect((await verify()).problems).toContain('project shop: its row is not authentic')
  const done = await rows(vault, 'authenticate')
  expect(JSON.parse(done.stdout)).toEqual({
    authenticated: [
      {
        project: 'shop',
        requireContentDigest: false,
        keys: [{ fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/), until: null }],
        secrets: 1,
      },
    ],
  })
  vault.advance(61_000)
  expect((await request()).body).toEqual({ A: 'new' })
  expect(JSON.parse((await rows(vault, 'authenticate')).stdout)).toEqual({ authenticated: [] })
  expect(await verify()).toEqual({ intact: true, problems: [] })
})

test('a key that was inserted later is not authenticated with the rest', async () => {
  await vault.sql(
    `insert into project_keys (id, project_uid, public_key, created_at)
     select gen_random_uuid(), uid, $1, now() from projects`,
    [Buffer.from(newKey().publicKeyHex, 'hex')],
  )
  expect(JSON.parse((await rows(vault, 'authenticate')).stdout)).toEqual({ authenticated: [] })
  const outcome = await rows(vault, 'verify')
  expect([outcome.status, JSON.parse(outcome.stdout)]).toEqual([
    1,
    { intact: false, problems: [expect.stringMatching(/^project shop: the key [0-9a-f]{32} is not authentic$/)] },
  ])
})

test('whoever owns the tables can put an older state back, and verify tells', async () => {
  const old = await vault.sql<{ revision: number; code: Buffer }>('select revision, code from environments')
  await put('A', 'newest')
  await vault.sql(`update secrets set version = 2`)
  await vault.sql(
    `${AS_OWNER} update environments set revision = ${String(old[0]?.revision)}, code = '\\x${String(old[0]?.code.toString('hex'))}'`,
  )
  expect((await request()).body).toEqual({ A: 'new' })
  expect(await verify()).toEqual({
    intact: false,
    problems: ['project shop: an older state of the secrets of production was put back'],
  })
})

test('a project that was removed behind the back of the vault is missed, and one that was deleted is not', async () => {
  await createProject(vault.url, 'blog')
  await admin(vault.url, 'DELETE', '/projects/blog')
  expect(await verify()).toEqual({ intact: true, problems: [] })
  await vault.sql("delete from projects where name = 'shop'")
  const { problems } = await verify()
  expect([...new Set(problems)]).toEqual(['project shop: it was removed without an entry in the audit log'])
})

test('wrong usage and an unreachable database are no verdict', async () => {
  expect((await rows(vault, 'authenticate', '--project', '../x')).status).toBe(2)
  expect((await rows(vault, 'nonsense')).status).toBe(2)
})
