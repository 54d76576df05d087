import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type TestDatabase, withClient } from '@vault-and-tracker/dev-env'
import { admin, createProject, type Key, signedSend } from './support/client.ts'
import { createVaultDatabase, startVault, vaultEnv } from './support/vault.ts'
import { runProgram } from './support/vault-process.ts'

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
  const env = vaultEnv({ databaseUrl: restored.appUrl, redisUrl: '' })
  const verified = await runProgram('commands/audit.command', ['verify'], env)
  expect(verified.stderr).toBe('')
  expect(JSON.parse(verified.stdout)).toMatchObject({ intact: true, unsealed: 0 })
  const { sealNo, code } = JSON.parse(verified.stdout) as { sealNo: number; code: string }
  expect(
    (await runProgram('commands/audit.command', ['verify', '--expect', `${String(sealNo)}:${code}`], env)).status,
  ).toBe(0)

  await withClient(restored.ownerUrl, (client) => client.query("update audit set ip = '6.6.6.6' where seq = 3"))
  const broken = await runProgram('commands/audit.command', ['verify'], env)
  expect([broken.status, JSON.parse(broken.stdout)]).toMatchObject([1, { intact: false, seq: 3 }])
})
