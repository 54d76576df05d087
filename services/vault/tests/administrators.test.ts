import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { admin, createProject, type Key, newKey, send, signerOf, statusAndError } from './support/client.ts'
import { rows } from './support/rows.ts'
import { connectSql } from './support/sql.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault
let key: Key
let shopSecret: string
let blogSecret: string

const signed = signerOf(() => vault)

beforeAll(async () => {
  vault = await startVault({ ADMIN_FAILURE_LIMIT: '1000' })
  key = await createProject(vault.url, 'shop')
  const blog = await createProject(vault.url, 'blog')
  await signed('shop', key, 'PUT', { key: 'A', value: 'v', env: 'production' })
  await signed('blog', blog, 'PUT', { key: 'A', value: 'v', env: 'production' })
  shopSecret = await secretOf('shop')
  blogSecret = await secretOf('blog')
})
afterAll(() => vault.stop())

async function secretOf(project: string): Promise<string> {
  const { body } = await admin(vault.url, 'GET', `/projects/${project}/secrets`)
  return (body as { id: string }[])[0]?.id ?? ''
}

type Added = { id: string; token: string }

async function add(administrator: object): Promise<Added> {
  const { status, body } = await admin(vault.url, 'POST', '/administrators', administrator)
  expect([status, body]).toEqual([200, { ok: true, id: expect.any(String), token: expect.any(String) }])
  return body as Added
}

const as = ({ token }: { token: string }, method: string, path: string, body?: object, url = vault.url) =>
  send(`${url}/v1/admin${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })

const FORBIDDEN = [403, 'forbidden']
const UNAUTHORIZED = [401, 'unauthorized']

test('returns a token once, stores only its hash, and revokes it at all replicas', async () => {
  const added = await add({ name: 'Ada', role: 'administrator' })
  const replica = await vault.replica()
  expect((await as(added, 'GET', '/projects', undefined, replica.url)).status).toBe(200)
  const [listed] = (await admin(vault.url, 'GET', '/administrators')).body as object[]
  expect(listed).toEqual({
    ...{ id: added.id, name: 'Ada', role: 'administrator', projects: null, expiresAt: null },
    createdAt: expect.any(String),
  })
  const stored = await vault.sql<{ row: string }>('select to_jsonb(a)::text as row from administrators a')
  expect(JSON.stringify(stored)).not.toContain(added.token)
  expect(vault.logged()).not.toContain(added.token)
  expect((await admin(vault.url, 'DELETE', `/administrators/${added.id}`)).body).toEqual({ ok: true })
  expect(statusAndError(await as(added, 'GET', '/projects', undefined, replica.url))).toEqual(UNAUTHORIZED)
  await replica.stop()
  expect((await admin(vault.url, 'DELETE', `/administrators/${added.id}`)).status).toBe(404)
  expect((await admin(vault.url, 'DELETE', '/administrators/no-id')).status).toBe(404)
})

test('lets an administrator do everything except manage administrators', async () => {
  const ada = await add({ name: 'Ada', role: 'administrator' })
  const created = await as(ada, 'POST', '/projects', { name: 'new', publicKey: newKey().publicKeyHex })
  expect(created.status).toBe(201)
  expect((await as(ada, 'PUT', '/projects/new/rotate')).status).toBe(200)
  expect((await as(ada, 'DELETE', '/projects/new')).status).toBe(200)
  expect((await as(ada, 'GET', '/administrators')).status).toBe(200)
  expect(statusAndError(await as(ada, 'POST', '/administrators', { name: 'Eve', role: 'auditor' }))).toEqual(FORBIDDEN)
  expect(statusAndError(await as(ada, 'DELETE', `/administrators/${ada.id}`))).toEqual(FORBIDDEN)
  const { body } = await admin(vault.url, 'GET', '/audit?action=project.create&projectId=new')
  expect(body).toMatchObject([{ actor: `administrator:${ada.id}` }])
  const created_by = (await admin(vault.url, 'GET', '/audit?action=administrator.create&limit=1')).body
  expect(created_by).toMatchObject([{ actor: 'administrator', detail: { administrator: ada.id, name: 'Ada' } }])
})

test('lets an auditor only read', async () => {
  const auditor = await add({ name: 'Audrey', role: 'auditor' })
  for (const path of ['/projects', '/projects/shop/keys', '/projects/shop/secrets', '/audit', '/administrators'])
    expect((await as(auditor, 'GET', path)).status).toBe(200)
  expect((await as(auditor, 'GET', `/secrets/${shopSecret}/versions`)).status).toBe(200)
  const writes: [string, string, object?][] = [
    ['POST', '/projects', { name: 'x', publicKey: newKey().publicKeyHex }],
    ['PATCH', '/projects/shop', { requireContentDigest: true }],
    ['PUT', '/projects/shop/rotate'],
    ['DELETE', '/projects/shop'],
    ['DELETE', `/projects/shop/keys/${'0'.repeat(32)}`],
    ['DELETE', `/secrets/${shopSecret}`],
    ['POST', `/secrets/${shopSecret}/versions/1/restore`],
    ['POST', '/administrators', { name: 'Eve', role: 'administrator' }],
    ['DELETE', `/administrators/${auditor.id}`],
  ]
  for (const [method, path, body] of writes)
    expect([path, ...(statusAndError(await as(auditor, method, path, body)) as unknown[])]).toEqual([
      path,
      ...FORBIDDEN,
    ])
  expect((await signed('shop', key)).body).toEqual({ A: 'v' })
})

test('restricts an administrator to their projects', async () => {
  const grace = await add({ name: 'Grace', role: 'administrator', projects: ['shop', 'later'] })
  expect((await as(grace, 'GET', '/projects')).body).toMatchObject([{ id: 'shop' }])
  expect((await as(grace, 'GET', '/projects/shop/secrets')).status).toBe(200)
  expect((await as(grace, 'GET', `/secrets/${shopSecret}/versions`)).status).toBe(200)
  const own = await as(grace, 'GET', '/audit?action=put')
  expect((own.body as { projectId: string }[]).map(({ projectId }) => projectId)).toEqual(['shop'])
  const forbidden: [string, string, object?][] = [
    ['GET', '/projects/blog/secrets'],
    ['GET', '/projects/blog/keys'],
    ['GET', '/projects/no-such-project/keys'],
    ['GET', '/audit?projectId=blog'],
    ['GET', '/administrators'],
    ['PUT', '/projects/blog/rotate'],
    ['DELETE', '/projects/blog'],
    ['POST', '/projects', { name: 'other', publicKey: newKey().publicKeyHex }],
  ]
  for (const [method, path, body] of forbidden)
    expect([path, ...(statusAndError(await as(grace, method, path, body)) as unknown[])]).toEqual([path, ...FORBIDDEN])
  const unknown: [string, string][] = [
    ['GET', `/secrets/${blogSecret}/versions`],
    ['DELETE', `/secrets/${blogSecret}`],
    ['POST', `/secrets/${blogSecret}/versions/1/restore`],
  ]
  for (const [method, path] of unknown)
    expect(statusAndError(await as(grace, method, path))).toEqual([404, 'not_found'])
  expect((await as(grace, 'POST', '/projects', { name: 'later', publicKey: newKey().publicKeyHex })).status).toBe(201)
  expect((await as(grace, 'POST', `/secrets/${shopSecret}/versions/1/restore`)).status).toBe(200)
})

test('does not give access to a later project of the same name', async () => {
  const key = await createProject(vault.url, 'gone')
  const linus = await add({ name: 'Linus', role: 'administrator', projects: ['gone', 'shop'] })
  await signed('gone', key, 'PUT', { key: 'A', value: 'v', env: 'production' })
  expect((await as(linus, 'GET', '/projects/gone/secrets')).status).toBe(200)
  await admin(vault.url, 'DELETE', '/projects/gone')
  const register = { name: 'gone', publicKey: newKey().publicKeyHex }
  expect(statusAndError(await as(linus, 'POST', '/projects', register))).toEqual(FORBIDDEN)
  const next = await createProject(vault.url, 'gone')
  await signed('gone', next, 'PUT', { key: 'A', value: 'v', env: 'production' })
  const secret = await secretOf('gone')
  const replica = await vault.replica()
  for (const { url } of [vault, replica]) {
    for (const [method, path] of [
      ['GET', '/projects/gone/secrets'],
      ['GET', '/projects/gone/keys'],
      ['GET', '/audit?projectId=gone'],
      ['GET', '/activity?projectId=gone'],
      ['PUT', '/projects/gone/rotate'],
      ['PUT', '/projects/gone/secrets'],
      ['DELETE', '/projects/gone'],
    ] as const)
      expect([path, ...(statusAndError(await as(linus, method, path, undefined, url)) as unknown[])]).toEqual([
        path,
        ...FORBIDDEN,
      ])
    for (const [method, path] of [
      ['GET', `/secrets/${secret}/versions`],
      ['DELETE', `/secrets/${secret}`],
      ['POST', `/secrets/${secret}/versions/1/restore`],
    ] as const)
      expect((await as(linus, method, path, undefined, url)).status).toBe(404)
    expect((await as(linus, 'GET', '/projects', undefined, url)).body).toMatchObject([{ id: 'shop' }])
    expect((await as(linus, 'GET', '/overview', undefined, url)).body).toMatchObject({ projects: 1, secrets: 1 })
  }
  await replica.stop()
  const listed = (await admin(vault.url, 'GET', '/administrators')).body as { id: string; projects: string[] }[]
  expect(listed.find(({ id }) => id === linus.id)?.projects).toEqual(['gone', 'shop'])
})

test('binds an administrator to the first project that gets a name from their list', async () => {
  const margaret = await add({ name: 'Margaret', role: 'administrator', projects: ['first-own', 'first-other'] })
  const register = (name: string) => ({ name, publicKey: newKey().publicKeyHex })
  expect((await as(margaret, 'POST', '/projects', register('first-own'))).status).toBe(201)
  expect((await admin(vault.url, 'POST', '/projects', register('first-other'))).status).toBe(201)
  for (const name of ['first-own', 'first-other']) {
    expect((await as(margaret, 'GET', `/projects/${name}/keys`)).status).toBe(200)
    await admin(vault.url, 'DELETE', `/projects/${name}`)
    await createProject(vault.url, name)
    expect(statusAndError(await as(margaret, 'GET', `/projects/${name}/keys`))).toEqual(FORBIDDEN)
  }
})

test('binds administrators of an earlier release at the start, and ignores forged bindings', async () => {
  const early = await add({ name: 'Early', role: 'auditor', projects: ['shop'] })
  await vault.sql('delete from administrator_projects where administrator_id = $1', [early.id])
  expect(statusAndError(await as(early, 'GET', '/projects/shop/keys'))).toEqual(FORBIDDEN)
  const upgraded = await vault.replica()
  expect((await as(early, 'GET', '/projects/shop/keys', undefined, upgraded.url)).status).toBe(200)
  await upgraded.stop()
  const other = await add({ name: 'Other', role: 'auditor', projects: ['shop', 'nothing-here'] })
  const runtime = await connectSql(vault.database.appUrl)
  await expect(runtime('delete from administrator_projects')).rejects.toThrow('permission denied')
  await expect(runtime('update administrator_projects set project_uid = gen_random_uuid()')).rejects.toThrow(
    'permission denied',
  )
  await runtime(
    `insert into administrator_projects select $1, p.name, p.uid, '\\x00' from projects p where p.name = 'blog'`,
    [other.id],
  )
  await runtime.end()
  expect(statusAndError(await as(other, 'GET', '/projects/blog/keys'))).toEqual(FORBIDDEN)
  expect((await as(other, 'GET', '/projects/shop/keys')).status).toBe(200)
})

test('refuses an expired token', async () => {
  const expiresAt = new Date(vault.now() + 60_000).toISOString()
  const temporary = await add({ name: 'Temp', role: 'auditor', expiresAt })
  expect((await as(temporary, 'GET', '/projects')).status).toBe(200)
  vault.advance(61_000)
  expect(statusAndError(await as(temporary, 'GET', '/projects'))).toEqual(UNAUTHORIZED)
})

test('refuses and counts forged, changed and rolled back rows', async () => {
  const auditor = await add({ name: 'Audrey', role: 'auditor' })
  const runtime = await connectSql(vault.database.appUrl)
  await expect(runtime(`update administrators set role = 'administrator'`)).rejects.toThrow('permission denied')
  const [copy] = await runtime<{ row: string }>(`select to_jsonb(a)::text as row from administrators a where id = $1`, [
    auditor.id,
  ])
  await admin(vault.url, 'DELETE', `/administrators/${auditor.id}`)
  const insert = (row: string) =>
    `insert into administrators select * from jsonb_populate_record(null::administrators, '${row}')`
  await expect(runtime(insert(copy?.row ?? ''))).rejects.toThrow('only grows')
  const foreign = JSON.stringify({
    ...(JSON.parse(copy?.row ?? '{}') as object),
    ...{ id: '01890a5d-ac96-774b-bcce-b302099a8057', role: 'administrator' },
  })
  await runtime(insert(foreign))
  await runtime.end()
  expect(statusAndError(await as(auditor, 'GET', '/projects'))).toEqual(UNAUTHORIZED)
  const metrics = await (await fetch(`${vault.url}/metrics`)).text()
  expect(metrics).toMatch(/^vault_refused_rows_total\{table="administrators"\} [1-9]/m)
  const verified = await rows(vault, 'verify')
  expect(verified.status).toBe(1)
  expect(verified.stdout).toContain('administrator 01890a5d-ac96-774b-bcce-b302099a8057: its row is not authentic')
  await vault.sql(`delete from administrators where id = '01890a5d-ac96-774b-bcce-b302099a8057'`)
  expect((await rows(vault, 'verify')).status).toBe(0)
})

test('records requests refused by a role, with the administrator', async () => {
  const auditor = await add({ name: 'Audrey', role: 'auditor' })
  vault.context.background.start()
  await as(auditor, 'DELETE', '/projects/shop')
  await vault.context.background.stop()
  const { body } = await admin(vault.url, 'GET', '/audit?action=refused&projectId=shop')
  expect((body as object[])[0]).toMatchObject({ actor: `administrator:${auditor.id}`, detail: { forbidden: 1 } })
})

describe('refuses an administrator who', () => {
  test.each([
    ['has no name', { name: '', role: 'auditor' }],
    ['has a control character in the name', { name: 'a\u0000b', role: 'auditor' }],
    ['has no role', { name: 'x' }],
    ['has an unknown role', { name: 'x', role: 'owner' }],
    ['has an empty list of projects', { name: 'x', role: 'auditor', projects: [] }],
    ['has a malformed project', { name: 'x', role: 'auditor', projects: ['a b'] }],
    ['has expired', { name: 'x', role: 'auditor', expiresAt: '2020-01-01T00:00:00Z' }],
    ['expires on a day that does not exist', { name: 'x', role: 'auditor', expiresAt: '2027-02-30T00:00:00Z' }],
    ['expires at a time without a zone', { name: 'x', role: 'auditor', expiresAt: '2027-02-20T00:00:00' }],
    ['brings a token', { name: 'x', role: 'auditor', token: 'mine' }],
  ])('%s', async (_name, body) => {
    expect(statusAndError(await admin(vault.url, 'POST', '/administrators', body))).toEqual([400, 'invalid_request'])
  })
})

test('shows empty lists to an administrator without a project', async () => {
  const later = await add({ name: 'Later', role: 'administrator', projects: ['not-there-yet'] })
  expect((await as(later, 'GET', '/audit?action=all')).body).toEqual([])
  expect((await as(later, 'GET', '/projects')).body).toEqual([])
  expect((await as(later, 'GET', '/overview')).body).toMatchObject({ projects: 0, secrets: 0 })
  for (const [method, path] of [
    ['GET', `/secrets/${shopSecret}/versions`],
    ['DELETE', `/secrets/${shopSecret}`],
    ['POST', `/secrets/${shopSecret}/versions/1/restore`],
  ] as const)
    expect((await as(later, method, path)).status).toBe(404)
})
