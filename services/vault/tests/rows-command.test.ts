import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type TestDatabase, withClient } from '@vault-and-tracker/dev-env'
import { admin, createProject, type Key, newKey, signedSend, statusAndError } from './support/client.ts'
import { audit, rows } from './support/rows.ts'
import { createVaultDatabase, startVault, type TestVault, vaultEnv } from './support/vault.ts'
import { runProgram } from './support/vault-process.ts'

/** Lets the owner of the tables change them without their triggers. */
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
  })
const put = (name: string, value: string) => request('PUT', { key: name, value, env: 'production' })
const verify = async () => JSON.parse((await rows(vault, 'verify')).stdout) as { intact: boolean; problems: string[] }

test('refuses rows of an earlier release until they are authenticated', async () => {
  await vault.sql(`${AS_OWNER} update projects set generation = 0, code = null`)
  await vault.sql('update project_keys set code = null')
  await vault.sql('delete from environments')
  // The state before the migration.
  await vault.sql("delete from high_water_marks where subject like 'env:%'")
  await vault.sql("update high_water_marks set number = 0 where subject = 'project'")
  vault.advance(61_000)
  expect(statusAndError(await request())).toEqual([401, 'invalid_signature'])
  expect((await verify()).problems).toEqual([
    'project shop: its row is not authentic',
    'project shop: the secrets of production are not those the vault stored',
    expect.stringContaining('project shop: the secrets of production were rolled back'),
    expect.stringContaining('project shop: it was rolled back'),
  ])
  const done = await rows(vault, 'authenticate')
  expect(JSON.parse(done.stdout)).toEqual({
    authenticated: [
      {
        project: 'shop',
        requireContentDigest: false,
        keys: [{ name: 'default', fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/), until: null }],
        secrets: 1,
      },
    ],
  })
  vault.advance(61_000)
  expect((await request()).body).toEqual({ A: 'new' })
  expect(JSON.parse((await rows(vault, 'authenticate')).stdout)).toEqual({ authenticated: [] })
  expect(await verify()).toEqual({ intact: true, problems: [] })
})

test('does not authenticate a key that was inserted later', async () => {
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

test('reports rows that the owner of the tables rolled back with their marks', async () => {
  const [old] = await vault.sql<{ revision: number; code: Buffer }>('select revision, code from environments')
  await put('A', 'newest')
  await vault.sql('update secrets set version = 2')
  await vault.sql(
    `${AS_OWNER} update environments set revision = ${String(old?.revision)}, code = '\\x${String(old?.code.toString('hex'))}'`,
  )
  expect(statusAndError(await request())).toEqual([500, 'decryption_failed'])
  expect(statusAndError(await put('B', 'not laundered'))).toEqual([500, 'decryption_failed'])
  const putBack = 'project shop: the secrets of production were rolled back to an older state'
  expect(await verify()).toEqual({ intact: false, problems: [putBack] })
  await vault.sql(`update high_water_marks set number = ${String(old?.revision)} where subject = 'env:production'`)
  expect((await request()).body).toEqual({ A: 'new' })
  expect(await verify()).toEqual({ intact: false, problems: [expect.stringContaining(putBack)] })
})

test('refuses a revoked key after its project was rolled back', async () => {
  const [old] = await vault.sql<{ rows: string }>('select jsonb_agg(to_jsonb(t))::text as rows from projects t')
  const [keys] = await vault.sql<{ rows: string }>('select jsonb_agg(to_jsonb(t))::text as rows from project_keys t')
  const revoked = key
  key = newKey()
  await admin(vault.url, 'PUT', '/projects/shop/rotate', { publicKey: key.publicKeyHex, overlap: 0 })
  await vault.sql(`${AS_OWNER} update projects p set generation = old.generation, code = old.code
    from jsonb_populate_recordset(null::projects, '${old?.rows ?? ''}') old`)
  await vault.sql(`${AS_OWNER} delete from project_keys`)
  await vault.sql(
    `${AS_OWNER} insert into project_keys select * from jsonb_populate_recordset(null::project_keys, '${keys?.rows ?? ''}')`,
  )
  // Even while this replica has cached the project.
  for (const ms of [0, 61_000]) {
    vault.advance(ms)
    for (key of [revoked, key]) expect(statusAndError(await request())).toEqual([401, 'invalid_signature'])
  }
  expect((await verify()).problems).toContain('project shop: it was rolled back to an older state')
})

test('reports a project whose rows were removed', async () => {
  await createProject(vault.url, 'blog')
  await admin(vault.url, 'DELETE', '/projects/blog')
  expect(await verify()).toEqual({ intact: true, problems: [] })
  await vault.sql("delete from projects where name = 'shop'")
  const { problems } = await verify()
  expect([...new Set(problems)]).toEqual(['project shop: it was removed without an entry in the audit log'])
})

test('exits with 2 for incorrect usage and an unreachable database', async () => {
  expect((await rows(vault, 'authenticate', '--project', '../x')).status).toBe(2)
  expect((await rows(vault, 'nonsense')).status).toBe(2)
})

describe('a restored database', () => {
  let restored: TestDatabase
  const projects = new Map<string, Key>()

  /** A logical dump: all rows as text, and the sequence, as pg_dump writes them. */
  function dump(url: string): Promise<{ tables: Map<string, string>; sequence: string }> {
    return withClient(url, async (client) => {
      const { rows: found } = await client.query<{ name: string }>(
        `select relname as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname not like 'kysely%'`,
      )
      const tables = new Map<string, string>()
      for (const { name } of found) {
        const { rows } = await client.query<{ rows: string }>(
          `select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as rows from ${name} t`,
        )
        tables.set(name, rows[0]?.rows ?? '[]')
      }
      const { rows } = await client.query<{ last: string }>('select last_value as last from audit_seq')
      return { tables, sequence: String(rows[0]?.last) }
    })
  }

  function load(url: string, { tables, sequence }: Awaited<ReturnType<typeof dump>>): Promise<void> {
    return withClient(url, async (client) => {
      // Like pg_restore, which creates triggers and foreign keys last.
      await client.query('set session_replication_role = replica')
      for (const [table, rows] of tables)
        await client.query(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`, [
          rows,
        ])
      await client.query("select setval('audit_seq', $1)", [sequence])
    })
  }

  beforeAll(async () => {
    const vault = await startVault()
    for (const name of ['one', 'two', 'three']) {
      const key = await createProject(vault.url, name)
      projects.set(name, key)
      for (const value of ['first', `secret of ${name}`]) {
        const body = { key: 'A', value, env: 'production' }
        await signedSend({ project: name, key, method: 'PUT', url: `${vault.url}/v1/secrets`, body })
      }
    }
    await vault.seal()
    restored = await createVaultDatabase()
    await load(restored.adminUrl, await dump(vault.database.ownerUrl))
    await vault.stop()
  })
  afterAll(async () => {
    await restored.drop()
  })

  test('reads everything in a restored database, including old versions', async () => {
    const vault = await startVault({}, { database: restored })
    try {
      for (const [project, key] of projects) {
        const url = `${vault.url}/v1/secrets`
        const fetched = await signedSend({ project, key, method: 'GET', url })
        expect([fetched.status, fetched.body]).toEqual([200, { A: `secret of ${project}` }])
        const [secret] = (await admin(vault.url, 'GET', `/projects/${project}/secrets`)).body as { id: string }[]
        expect((await admin(vault.url, 'POST', `/secrets/${String(secret?.id)}/versions/1/restore`)).status).toBe(200)
        expect((await signedSend({ project, key, method: 'GET', url })).body).toEqual({ A: 'first' })
      }
      await vault.seal()
    } finally {
      await vault.stop()
    }
    const stores = { database: restored, redisUrl: '' }
    const verified = await audit(stores, 'verify')
    expect(verified.stderr).toBe('')
    expect(JSON.parse(verified.stdout)).toMatchObject({ intact: true, unsealed: 0 })
    const { sealNo, code } = JSON.parse(verified.stdout) as { sealNo: number; code: string }
    expect((await audit(stores, 'verify', '--expect', `${String(sealNo)}:${code}`)).status).toBe(0)

    await withClient(restored.ownerUrl, (client) => client.query("update audit set ip = '6.6.6.6' where seq = 3"))
    const env = vaultEnv({ databaseUrl: restored.appUrl, redisUrl: '' })
    const broken = await runProgram('commands/audit.command', ['verify'], env)
    expect([broken.status, JSON.parse(broken.stdout)]).toMatchObject([1, { intact: false, seq: 3 }])
  })
})
