import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import { ENDPOINTS } from '../src/app.ts'
import { createAuditStore, isRefusedValue } from '../src/audit/audit.store.ts'
import { createRefusals } from '../src/audit/refusals.ts'
import type { Schema } from '../src/database.ts'
import { admin, createProject, type Key, newKey, send, signerOf } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault
let key: Key

beforeAll(async () => {
  vault = await startVault()
  key = await createProject(vault.url, 'shop')
})
afterAll(() => vault.stop())

const signed = signerOf(() => vault)

type Entry = { projectId: string; env: string | null; ip: string; actor: string; detail: Record<string, unknown> }

async function listed(query: string): Promise<Entry[]> {
  return (await admin(vault.url, 'GET', `/audit?${query}`)).body as Entry[]
}

test('records every read of an administrator with its project', async () => {
  await signed('shop', key, 'PUT', { key: 'A', value: 'v', env: 'staging' })
  await admin(vault.url, 'GET', '/projects')
  await admin(vault.url, 'GET', '/projects/shop/keys')
  const { body } = await admin(vault.url, 'GET', '/projects/shop/secrets?env=staging')
  const [secret] = body as { id: string }[]
  await admin(vault.url, 'GET', `/secrets/${String(secret?.id)}/versions`)
  await admin(vault.url, 'GET', '/audit?projectId=shop')
  const reads = await listed('action=read')
  expect(reads.map(({ projectId, env, actor, detail }) => [detail['what'], projectId, env, actor])).toEqual([
    ['audit', 'shop', null, 'administrator'],
    ['versions', 'shop', 'staging', 'administrator'],
    ['secrets', 'shop', 'staging', 'administrator'],
    ['keys', 'shop', null, 'administrator'],
    ['projects', '', null, 'administrator'],
  ])
  expect(await listed('action=read&projectId=shop')).toHaveLength(4)
})

test('counts refused requests by address, and writes them at the latest when the service stops', async () => {
  vault.context.background.start()
  for (let i = 0; i < 3; i++) await signed('shop', newKey())
  await signed('no-such-project', key)
  await send(`${vault.url}/v1/secrets`)
  await send(`${vault.url}/v1/admin/projects`, { headers: { Authorization: 'Bearer wrong' } })
  await vault.context.background.stop()
  expect(await listed('action=refused')).toMatchObject([
    {
      projectId: '',
      env: null,
      ip: '127.0.0.1',
      actor: 'unknown',
      detail: { invalid_signature: 3, unknown_project: 1, missing_signature: 1, unauthorized: 1 },
    },
  ])
  expect(await listed('limit=1000')).toEqual([])
})

const MALFORMED = ['%00', 'x'.repeat(8_000), 'a%20b', '-', 'A'.repeat(64)]

test('returns 404 for a malformed id without an audit entry for it', async () => {
  const added = await admin(vault.url, 'POST', '/administrators', {
    name: 'Limited',
    role: 'auditor',
    projects: ['shop'],
  })
  const { token } = added.body as { token: string }
  const paths = ENDPOINTS.filter(({ access, path }) => access === 'admin' && path.includes('/:id'))
  expect(paths.length).toBeGreaterThan(8)
  vault.context.background.start()
  for (const { method, path } of paths)
    for (const id of MALFORMED) {
      const url = `${vault.url}${path.replace(':id', id).replace(':fingerprint', '0'.repeat(32)).replace(':version', '1')}`
      const { status, body } = await send(url, { method, headers: { Authorization: `Bearer ${token}` } })
      expect([method, path, status, body]).toEqual([method, path, 404, expect.objectContaining({ error: 'not_found' })])
      expect((await send(url, { method })).status).toBe(401)
      const other = await send(url, { method: 'OPTIONS', headers: { Authorization: `Bearer ${token}` } })
      expect([403, 405]).toContain(other.status)
    }
  await send(`${vault.url}/v1/admin/projects/other/keys`, { headers: { Authorization: `Bearer ${token}` } })
  await vault.context.background.stop()
  const refused = await listed('action=refused&projectId=other')
  expect(refused).toMatchObject([{ actor: expect.stringMatching(/^administrator:/), detail: { forbidden: 1 } }])
})

/** Refusals that use the log of the vault. */
function refusalsOf({ fail }: { fail: () => boolean }) {
  const logger = createLogger({ name: 'test', level: 'silent' })
  const db = createKysely<Schema>(createPool({ url: vault.database.appUrl, name: 'test', size: 2, logger }))
  const store = createAuditStore(db)
  const clock = { now: () => vault.now() }
  let dropped = 0
  const refusals = createRefusals({
    ...{ clock, addressKey: (address: string) => address, onDropped: () => (dropped += 1) },
    isRefusedValue,
    store: { append: (entries) => (fail() ? Promise.reject(new Error('no database')) : store.append(entries)) },
  })
  return { refusals, dropped: () => dropped, end: () => db.destroy() }
}

test('drops and counts only the entry that Postgres refuses', async () => {
  const { refusals, dropped, end } = refusalsOf({ fail: () => false })
  for (let i = 0; i < 600; i++) {
    const address = i === 300 ? 'no address' : `2001:db8:1:${i.toString(16)}::/64`
    const projectId = i === 400 ? 'nul\u0000' : 'gathered'
    refusals.note({ address, actor: 'unknown', projectId, code: 'forbidden' })
  }
  await refusals.writeAll()
  expect(dropped()).toBe(2)
  const [stored] = await vault.sql("select count(*)::int as n from audit where project_id = 'gathered'")
  expect(stored).toEqual({ n: 598 })
  await end()
})

test('writes the refused requests of ten minutes without Postgres', async () => {
  let fail = true
  const { refusals, end } = refusalsOf({ fail: () => fail })
  for (let minute = 0; minute < 10; minute++) {
    for (let i = 0; i < 999; i++)
      refusals.note({
        address: `2001:db8:2:${i.toString(16)}::/64`,
        actor: 'unknown',
        projectId: 'outage',
        code: 'expired',
      })
    vault.advance(60_000)
    await expect(refusals.writeEnded()).rejects.toThrow('no database')
  }
  expect(refusals.delayMs()).toBeGreaterThan(9 * 60_000)
  fail = false
  await refusals.writeEnded()
  expect(refusals.delayMs()).toBe(0)
  const [stored] = await vault.sql("select count(*)::int as n from audit where project_id = 'outage'")
  expect(stored).toEqual({ n: 9_990 })
  vault.advance(-600_000)
  await end()
})

test('is not ready while refused requests cannot be written', async () => {
  const metric = async () => {
    const text = await (await fetch(`${vault.url}/metrics`)).text()
    return Number(/^vault_refusals_delay_seconds (\S+)$/m.exec(text)?.[1])
  }
  await signed('shop', newKey())
  expect(await metric()).toBe(0)
  vault.advance(240_000)
  expect(await metric()).toBeGreaterThan(100)
  expect((await send(`${vault.url}/ready`)).body).toMatchObject({ ok: false, checks: { audit: 'failed' } })
  vault.context.background.start()
  await vault.context.background.stop()
  expect((await send(`${vault.url}/ready`)).body).toMatchObject({ ok: true, checks: { audit: 'ok' } })
  vault.advance(-240_000)
})
