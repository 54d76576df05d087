import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, type Key, newKey, signedSend, statusAndError } from './support/client.ts'
import { connectSql, type Sql } from './support/sql.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault
/** A connection with the rights that the service has. */
let runtime: Sql

beforeAll(async () => {
  vault = await startVault()
  runtime = await connectSql(vault.database.appUrl)
})
afterAll(async () => {
  await runtime.end()
  await vault.stop()
})

const request = (project: string, key: Key, method = 'GET', body?: unknown) =>
  signedSend({ project, key, method, url: `${vault.url}/v1/secrets`, body, created: Math.floor(vault.now() / 1000) })

const put = (project: string, key: Key, name: string, value: string) =>
  request(project, key, 'PUT', { key: name, value, env: 'production' })

async function refusedRows(table: string): Promise<number> {
  const metrics = await (await fetch(`${vault.url}/metrics`)).text()
  return Number(new RegExp(`^vault_refused_rows_total\\{table="${table}"\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0)
}

/** All that a row holds, to be written back later by somebody who may write to the database. */
async function rowsOf(table: string, project: string): Promise<string> {
  const [row] = await runtime<{ rows: string }>(
    `select jsonb_agg(to_jsonb(t))::text as rows from ${table} t join projects p on p.uid = t.project_uid where p.name = $1`,
    [project],
  )
  return row?.rows ?? '[]'
}

const insertRows = (table: string, rows: string) =>
  runtime(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`, [rows])

test('a key that was inserted into the database opens nothing, is counted, and is gone after a rotation', async () => {
  const own = await createProject(vault.url, 'inserted')
  await put('inserted', own, 'A', 'value')
  const foreign = newKey()
  await runtime(
    `insert into project_keys (id, project_uid, public_key, created_at, not_after)
     select gen_random_uuid(), uid, $1, now(), '2099-01-01' from projects where name = 'inserted'`,
    [Buffer.from(foreign.publicKeyHex, 'hex')],
  )
  const before = await refusedRows('project_keys')
  expect(statusAndError(await request('inserted', foreign))).toEqual([401, 'invalid_signature'])
  expect(await refusedRows('project_keys')).toBeGreaterThan(before)
  expect((await request('inserted', own)).body).toEqual({ A: 'value' })
  expect((await admin(vault.url, 'PUT', '/projects/inserted/rotate')).status).toBe(200)
  const [row] = await runtime<{ count: string }>('select count(*) from project_keys where public_key = $1', [
    Buffer.from(foreign.publicKeyHex, 'hex'),
  ])
  expect(Number(row?.count)).toBe(0)
})

test('the row of a key that was replaced opens nothing when it is put back', async () => {
  const old = await createProject(vault.url, 'replayed')
  const rows = await rowsOf('project_keys', 'replayed')
  await admin(vault.url, 'PUT', '/projects/replayed/rotate', { publicKey: newKey().publicKeyHex, overlap: 0 })
  await insertRows('project_keys', rows)
  vault.advance(61_000)
  expect(statusAndError(await request('replayed', old))).toEqual([401, 'invalid_signature'])
})

test('the end of a key that was moved in the database makes it invalid', async () => {
  const old = await createProject(vault.url, 'extended')
  await admin(vault.url, 'PUT', '/projects/extended/rotate', { publicKey: newKey().publicKeyHex })
  expect((await request('extended', old)).status).toBe(200)
  await runtime(`update project_keys set not_after = '2099-01-01' where not_after is not null`)
  vault.advance(601_000)
  expect(statusAndError(await request('extended', old))).toEqual([401, 'invalid_signature'])
})

test('a requirement of a project that was dropped in the database accepts nothing', async () => {
  const key = await createProject(vault.url, 'digest', { requireContentDigest: true })
  const drop = `update projects set require_content_digest = false`
  await expect(runtime(`${drop} where name = 'digest'`)).rejects.toThrow('only grows')
  await runtime(`${drop}, generation = generation + 1 where name = 'digest'`)
  vault.advance(61_000)
  expect((await put('digest', key, 'A', 'value')).status).toBeGreaterThanOrEqual(400)
})

test('a version that was turned back, and a secret whose row was removed, fail the fetch', async () => {
  const key = await createProject(vault.url, 'rolled')
  await put('rolled', key, 'A', 'old')
  await put('rolled', key, 'A', 'new')
  await put('rolled', key, 'B', 'other')
  const ofA = `key = 'A' and project_uid = (select uid from projects where name = 'rolled')`
  await runtime(`update secrets set version = 1 where ${ofA}`)
  expect(statusAndError(await request('rolled', key))).toEqual([500, 'decryption_failed'])
  expect(statusAndError(await put('rolled', key, 'C', 'not laundered'))).toEqual([500, 'decryption_failed'])
  await runtime(`update secrets set version = 2 where ${ofA}`)
  expect((await request('rolled', key)).body).toEqual({ A: 'new', B: 'other' })
  await runtime(`delete from secrets where ${ofA}`)
  expect(statusAndError(await request('rolled', key))).toEqual([500, 'decryption_failed'])
  expect(await refusedRows('environments')).toBeGreaterThan(0)
})

test('a project that was deleted is not put back row by row', async () => {
  const key = await createProject(vault.url, 'deleted')
  const [projects] = await runtime<{ rows: string }>(
    `select jsonb_agg(to_jsonb(p))::text as rows from projects p where name = 'deleted'`,
  )
  const keys = await rowsOf('project_keys', 'deleted')
  await admin(vault.url, 'DELETE', '/projects/deleted')
  await expect(
    insertRows('projects', projects?.rows ?? '').then(() => insertRows('project_keys', keys)),
  ).rejects.toThrow('deleted')
  vault.advance(61_000)
  expect(statusAndError(await request('deleted', key))).toEqual([401, 'unknown_project'])
})

test.each([
  ['delete from secret_versions'],
  ['delete from environments'],
  ['delete from audit_keys'],
  ['delete from keks'],
  ['update project_keys set public_key = public_key'],
  ['update projects set name = name'],
  ['update secrets set key = key'],
  ['select * from deleted_rows'],
  ['truncate projects cascade'],
])('the run-time role may not run %s', async (statement) => {
  await expect(runtime(statement)).rejects.toThrow('permission denied')
})
