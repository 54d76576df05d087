import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { type Answer, admin, createProject, type Key, signedSend } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault
let key: Key

beforeAll(async () => {
  vault = await startVault()
  key = await createProject(vault.url, 'shop')
})
afterAll(() => vault.stop())

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
  expect(await list(`since=${encodeURIComponent(new Date(vault.now() - 60_000).toISOString())}&env=two&key=B`)).toEqual(
    ['put'],
  )
  const until = encodeURIComponent(new Date(vault.now() - 60_000).toISOString())
  expect(await list(`until=${until}`)).toEqual([])
  expect(await list(`until=${encodeURIComponent(new Date(vault.now() + 60_000).toISOString())}&env=two&key=B`)).toEqual(
    ['put'],
  )
  const exported = await admin(vault.url, 'GET', '/audit/export?format=json&action=all&projectId=writer&env=two&key=B')
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
    const homes = await client.query<{ home: string }>('select distinct tableoid::regclass::text as home from audit')
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
