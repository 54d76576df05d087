import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import pg from 'pg'
import { ENDPOINTS } from '../src/app.ts'
import { createAuditStore, isRefusedValue } from '../src/audit/audit.store.ts'
import { createRefusals } from '../src/audit/refusals.ts'
import { type Schema } from '../src/database.ts'
import { type Answer, admin, createProject, type Key, newKey, send, signedSend, signerOf } from './support/client.ts'
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
  await signed('shop', key, 'PUT', { key: 'A', value: 'v', env: 'reading' })
  await admin(vault.url, 'GET', '/projects')
  await admin(vault.url, 'GET', '/projects/shop/keys')
  const { body } = await admin(vault.url, 'GET', '/projects/shop/secrets?env=reading')
  const [secret] = body as { id: string }[]
  await admin(vault.url, 'GET', `/secrets/${String(secret?.id)}/versions`)
  await admin(vault.url, 'GET', '/audit?projectId=shop')
  const reads = await listed('action=read')
  expect(reads.map(({ projectId, env, actor, detail }) => [detail['what'], projectId, env, actor])).toEqual([
    ['audit', 'shop', null, 'administrator'],
    ['versions', 'shop', 'reading', 'administrator'],
    ['secrets', 'shop', 'reading', 'administrator'],
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
  for (const { method, path } of paths) {
    const urlOf = (id: string) =>
      vault.url + path.replace(':id', id).replace(':fingerprint', '0'.repeat(32)).replace(':version', '1')
    for (const id of MALFORMED) {
      const url = urlOf(id)
      const { status, body } = await send(url, { method, headers: { Authorization: `Bearer ${token}` } })
      expect([method, path, status, body]).toEqual([method, path, 404, expect.objectContaining({ error: 'not_found' })])
    }
    const url = urlOf('%00')
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

describe('listings', () => {
  type Entry = { id: string; action: string; env: string | null; projectId: string; detail?: unknown }

  function signed(method: string, path: string, body?: unknown): Promise<Answer> {
    return signedSend({ project: 'shop', key, method, url: `${vault.url}/v1${path}`, body })
  }

  async function listed(query: string): Promise<Entry[]> {
    return (await admin(vault.url, 'GET', `/audit?${query}`)).body as Entry[]
  }

  test('lists fetches and rotations, newest first', async () => {
    for (const env of ['one', 'two']) await signed('GET', `/secrets?env=${env}`)
    await admin(vault.url, 'PUT', '/projects/shop/rotate')
    const entries = await listed('projectId=shop')
    expect(entries.map(({ action, env }) => [action, env])).toEqual([
      ['rotate', null],
      ['fetch', 'two'],
      ['fetch', 'one'],
    ])
    expect(Object.keys(entries[0] ?? {}).toSorted()).toEqual(['action', 'env', 'id', 'ip', 'projectId', 'requestedAt'])
  })

  test('pages through the log without gaps', async () => {
    for (let i = 0; i < 7; i++) await signed('GET', `/secrets?env=page-${String(i)}`)
    const all = await listed('limit=1000')
    const pages: Entry[] = []
    for (
      let page = await listed('limit=3');
      page.length > 0;
      page = await listed(`limit=3&before=${String(pages.at(-1)?.id)}`)
    )
      pages.push(...page)
    expect(pages).toEqual(all)
  })

  test('returns at most 100 entries by default', async () => {
    await Promise.all(Array.from({ length: 101 }, () => signed('GET', '/secrets')))
    expect(await listed('')).toHaveLength(100)
  })

  test.each([
    'limit=0',
    'limit=1001',
    'limit=-1',
    'limit=ten',
    'limit=1.5',
    'limit=',
    'limit=1&limit=2',
    'before=x',
    'action=reads',
    'since=yesterday',
    'env=',
    'key=',
    'actor=',
    'projectId[]=a',
  ])('refuses a listing with %s', async (query) => {
    const answer = await admin(vault.url, 'GET', `/audit?${query}`)
    expect([answer.status, (answer.body as { error: string }).error]).toEqual([400, 'invalid_request'])
  })

  test('lists other actions only on request', async () => {
    await createProject(vault.url, 'busy')
    const secret = { key: 'TOKEN', value: 'hidden-value', env: 'staging' }
    await signed('PUT', '/secrets', secret)
    const [metadata] = (await admin(vault.url, 'GET', '/projects/shop/secrets?env=staging')).body as { id: string }[]
    const secretId = metadata?.id
    await signed('DELETE', `/secrets/${String(secretId)}`)
    await admin(vault.url, 'PATCH', '/projects/busy', { requireContentDigest: true })
    await admin(vault.url, 'DELETE', '/projects/busy')

    expect((await listed('action=put'))[0]).toMatchObject({
      projectId: 'shop',
      env: 'staging',
      detail: { secretId, key: 'TOKEN', version: 1 },
    })
    expect((await listed('action=delete'))[0]).toMatchObject({ env: 'staging', detail: { secretId, key: 'TOKEN' } })
    expect((await listed('action=project.create'))[0]).toMatchObject({ projectId: 'busy', env: null })
    expect((await listed('action=project.update'))[0]).toMatchObject({ detail: { requireContentDigest: true } })
    expect((await listed('action=project.delete'))[0]).toMatchObject({ projectId: 'busy' })
    expect(await listed('action=fetch&projectId=busy')).toEqual([])
  })

  test('filters by actor, environment, key and time', async () => {
    const mine = await createProject(vault.url, 'writer')
    const send = (method: string, path: string, body?: unknown) =>
      signedSend({ project: 'writer', key: mine, method, url: `${vault.url}/v1${path}`, body })
    for (const env of ['one', 'two'])
      for (const name of ['A', 'B']) await send('PUT', '/secrets', { key: name, value: 'v', env })
    await send('GET', '/secrets?env=one')
    const list = async (query: string) =>
      (await listed(`action=all&projectId=writer&${query}`)).map(({ action }) => action)
    const everything = await list('')
    expect(everything).toEqual(expect.arrayContaining(['project.create', 'put', 'fetch']))
    const afterwards = await list('')
    expect(afterwards).toContain('read')
    const withoutReads = (await listed('action=without-reads&projectId=writer')).map(({ action }) => action)
    expect(withoutReads).toEqual(afterwards.filter((action) => action !== 'read'))
    expect(await list('env=one&key=A')).toEqual(['put'])
    expect(await list('env=one')).toEqual(['fetch', 'put', 'put'])
    const [fetched] = (await listed('action=all&projectId=writer&env=one&limit=1')) as { actor?: string }[]
    expect(fetched?.actor).toMatch(/^key:/)
    expect(await list(`actor=${encodeURIComponent(String(fetched?.actor))}`)).toEqual([
      'fetch',
      'put',
      'put',
      'put',
      'put',
    ])
    expect(await list('actor=administrator&env=one')).toEqual([])
    expect(await list(`since=${encodeURIComponent(new Date(vault.now() + 60_000).toISOString())}`)).toEqual([])
    expect(
      await list(`since=${encodeURIComponent(new Date(vault.now() - 60_000).toISOString())}&env=two&key=B`),
    ).toEqual(['put'])
    const until = encodeURIComponent(new Date(vault.now() - 60_000).toISOString())
    expect(await list(`until=${until}`)).toEqual([])
    expect(
      await list(`until=${encodeURIComponent(new Date(vault.now() + 60_000).toISOString())}&env=two&key=B`),
    ).toEqual(['put'])
    const exported = await admin(
      vault.url,
      'GET',
      '/audit/export?format=json&action=all&projectId=writer&env=two&key=B',
    )
    expect(exported.body).toMatchObject([{ action: 'put', projectId: 'writer', env: 'two', detail: { key: 'B' } }])
    // The default listing supports the filters too.
    expect((await listed('projectId=writer&env=one')).map(({ action }) => action)).toEqual(['fetch'])
  })

  test('finds a rare action with its own index', async () => {
    const client = new pg.Client({ connectionString: vault.database.adminUrl })
    await client.connect()
    try {
      await client.query('set enable_seqscan = off')
      const text = "explain select id from audit where action in ('put') order by seq desc limit 100"
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(text)
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/_action_seq_idx/)
    } finally {
      await client.end()
    }
  })

  test('returns an empty object for an unknown environment, and records the fetch', async () => {
    const answer = await signed('GET', '/secrets?env=nobody')
    expect([answer.status, answer.body]).toEqual([200, {}])
    expect((await listed('limit=1'))[0]).toMatchObject({ action: 'fetch', env: 'nobody' })
  })

  test('has partitions for this month and the next three', async () => {
    const client = new pg.Client({ connectionString: vault.database.adminUrl })
    await client.connect()
    try {
      const partitions = await client.query<{ name: string }>(
        "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit'::regclass",
      )
      expect(partitions.rows.filter(({ name }) => /^audit_\d{4}_\d\d$/.test(name))).toHaveLength(4)
      const homes = await client.query<{ home: string }>(
        "select distinct tableoid::regclass::text as home from audit where action = 'fetch'",
      )
      const now = new Date()
      expect(homes.rows).toEqual([
        { home: `audit_${String(now.getUTCFullYear())}_${String(now.getUTCMonth() + 1).padStart(2, '0')}` },
      ])
    } finally {
      await client.end()
    }
  })

  test('moves rows from the default partition to a new one', async () => {
    const client = new pg.Client({ connectionString: vault.database.adminUrl })
    await client.connect()
    try {
      const inFiveMonths = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 5, 2)).getTime()
      const prefix = inFiveMonths.toString(16).padStart(12, '0')
      const id = `${prefix.slice(0, 8)}-${prefix.slice(8)}-7000-8000-000000000000`
      await client.query(
        "insert into audit (id, project_id, action, requested_at, ip) values ($1, 'early', 'fetch', now(), '::1')",
        [id],
      )
      const home = async () =>
        (
          await client.query<{ home: string }>(
            "select tableoid::regclass::text as home from audit where project_id = 'early'",
          )
        ).rows
      expect(await home()).toEqual([{ home: 'audit_default' }])
      await client.query('select audit_ensure_partitions(6)')
      expect((await home())[0]?.home).toMatch(/^audit_\d{4}_\d\d$/)
      await client.query("delete from audit where project_id = 'early'")
    } finally {
      await client.end()
    }
  })
})
