import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { admin, createProject, type Key, send, signerOf, statusAndError } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

const HOUR_MS = 3_600_000
const SECOND_SEAL = 2

let vault: TestVault
let shop: Key

const signed = signerOf(() => vault)

beforeAll(async () => {
  vault = await startVault()
  shop = await createProject(vault.url, 'shop')
  await createProject(vault.url, 'blog')
})
afterAll(() => vault.stop())

async function tokenOf(administrator: object): Promise<string> {
  return ((await admin(vault.url, 'POST', '/administrators', administrator)).body as { token: string }).token
}

const as = (token: string, path: string) =>
  send(`${vault.url}/v1/admin${path}`, { headers: { Authorization: `Bearer ${token}` } })

const read = async (path: string) => (await admin(vault.url, 'GET', path)).body

type Hour = { start: string; fetches: number | null; writes: number | null; refused: number | null }

const hoursOf = async (query: string) => ((await read(`/activity${query}`)) as { items: Hour[] }).items

test('identifies the administrator', async () => {
  expect(await read('/me')).toEqual({
    ...{ actor: 'administrator', role: 'holder', projects: null, session: null },
    grants: [{ role: 'holder', projects: null }],
  })
  const auditor = await tokenOf({ name: 'Ada', role: 'auditor', projects: ['shop'] })
  expect((await as(auditor, '/me')).body).toEqual({
    ...{ actor: expect.stringMatching(/^administrator:[0-9a-f-]{36}$/), role: 'auditor', projects: ['shop'] },
    ...{ grants: [{ role: 'auditor', projects: ['shop'] }], session: null },
  })
  expect(statusAndError(await send(`${vault.url}/v1/admin/me`))).toEqual([401, 'unauthorized'])
})

test('counts only projects of the administrator', async () => {
  await signed('shop', shop, 'PUT', { key: 'A', value: 'v', env: 'production' })
  await admin(vault.url, 'PUT', '/projects/shop/rotate')
  const [key] = (await read('/projects/blog/keys')) as { fingerprint: string }[]
  await admin(vault.url, 'DELETE', `/projects/blog/keys/${key?.fingerprint ?? ''}`)
  const counts = { projects: 2, projectsWithoutKey: 1, secrets: 1, endingKeys: 1 }
  expect(await read('/overview')).toMatchObject(counts)
  const auditor = await tokenOf({ name: 'Bob', role: 'auditor', projects: ['blog'] })
  expect((await as(auditor, '/overview')).body).toMatchObject({
    ...{ projects: 1, projectsWithoutKey: 1, secrets: 0, endingKeys: 0 },
  })
  for (const path of ['/activity', '/keys', '/audit/verification', '/activity?projectId=blog'])
    expect((await as(auditor, path)).status).toBe(200)
  expect(statusAndError(await as(auditor, '/activity?projectId=shop'))).toEqual([403, 'forbidden'])
  expect((await as(auditor, '/keys')).body).toEqual([])
})

test('shows how far the log is sealed', async () => {
  await vault.seal()
  const { seal } = (await read('/overview')) as { seal: { last: object; unsealed: number; waitingSince: string } }
  expect(seal).toEqual({
    ...{ last: { sealNo: expect.any(Number), at: expect.any(String) }, unsealed: 0, waitingSince: null },
  })
  await signed('shop', shop, 'PUT', { key: 'B', value: 'v', env: 'production' })
  expect(await read('/overview')).toMatchObject({
    seal: { unsealed: expect.any(Number), waitingSince: expect.stringMatching(/Z$/) },
  })
})

test('lists the keys of all projects', async () => {
  const own = (await read('/projects/shop/keys')) as object[]
  expect(own).toHaveLength(2)
  expect(await read('/keys')).toEqual(own.map((key) => ({ ...key, project: 'shop' })))
})

test('counts fetches, writes and refused requests per hour', async () => {
  // A new hour may begin meanwhile.
  const sumOf = (hours: readonly Hour[], count: 'fetches' | 'writes' | 'refused'): number =>
    hours.reduce((sum, hour) => sum + (hour[count] ?? 0), 0)
  const before = await hoursOf('?projectId=shop')
  await signed('shop', shop)
  await signed('shop', shop)
  await signed('shop', shop, 'PUT', { key: 'C', value: 'v', env: 'production' })
  const after = await hoursOf('?projectId=shop')
  expect(after).toHaveLength(24)
  expect(after.map(({ start }) => Date.parse(start) % HOUR_MS)).toEqual(after.map(() => 0))
  expect(vault.now() - Date.parse(after.at(-1)?.start ?? '')).toBeLessThan(2 * HOUR_MS)
  expect({
    fetches: sumOf(after, 'fetches') - sumOf(before, 'fetches'),
    writes: sumOf(after, 'writes') - sumOf(before, 'writes'),
    refused: sumOf(after, 'refused'),
  }).toEqual({ fetches: 2, writes: 1, refused: 0 })
  await vault.sql(
    `insert into audit (id, project_id, action, requested_at, ip, actor, detail)
      values ($1, '', 'refused', $2, '10.1.2.3', 'unknown', '{"since": "x", "unauthorized": 3, "rate_limited": 4}')`,
    [newId(), new Date(vault.now())],
  )
  expect((await hoursOf('?range=7d')).at(-1)).toMatchObject({ refused: 7 })
  expect(await hoursOf('?range=7d')).toHaveLength(168)
  expect((await hoursOf('?projectId=blog')).at(-1)).toMatchObject({ fetches: 0, writes: 0, refused: 0 })
  expect(statusAndError(await admin(vault.url, 'GET', '/activity?range=1y'))).toEqual([400, 'invalid_request'])
})

test('verifies the newest entries, and reports changed, missing and added ones', async () => {
  await vault.seal()
  expect(await read('/audit/verification')).toMatchObject({ intact: true, rows: expect.any(Number) })
  const [row] = await vault.sql<{ id: string; seq: string; project_id: string }>(
    `select id, seq, project_id from audit where action = 'put' order by seq desc limit 1`,
  )
  const problem = { intact: false, seq: Number(row?.seq), id: row?.id }
  await vault.sql(`update audit set project_id = 'other' where id = $1`, [row?.id])
  expect(await read('/audit/verification')).toMatchObject(problem)
  await vault.sql(`update audit set project_id = $2 where id = $1`, [row?.id, row?.project_id])
  expect(await read('/audit/verification')).toMatchObject({ intact: true })

  const [seal] = await vault.sql<{ position: string }>('select max(position) as position from audit_seals')
  const added = newId()
  await vault.sql(
    `insert into audit (id, seq, project_id, action, requested_at, ip)
      select $1, seq + 0, 'shop', 'fetch', requested_at, ip from audit where seq = $2`,
    [added, seal?.position],
  )
  expect(await read('/audit/verification')).toMatchObject({ intact: false, problem: expect.stringContaining('twice') })
  await vault.sql('delete from audit where id = $1', [added])
  await vault.sql('delete from audit where id = $1', [row?.id])
  expect(await read('/audit/verification')).toEqual({
    ...{ intact: false, problem: `row ${row?.seq ?? ''} is missing`, seq: Number(row?.seq) },
  })
})

test('reports a missing seal', async () => {
  await vault.seal()
  await vault.sql('delete from audit_seals where seal_no = $1', [SECOND_SEAL])
  expect(await read('/audit/verification')).toMatchObject({ intact: false })
})

test('records reads by administrators', async () => {
  const entries = (await read('/audit?action=read&limit=1000')) as { detail: { what: string } }[]
  const read_ = new Set(entries.map(({ detail }) => detail.what))
  for (const what of ['overview', 'activity', 'keys', 'verification']) expect(read_).toContain(what)
})

describe('expiring secrets', () => {
  const DAY_MS = 86_400_000

  let vault: TestVault
  let key: Key

  const signed = signerOf(() => vault)

  beforeAll(async () => {
    vault = await startVault()
    vault.holdClock()
    key = await createProject(vault.url, 'shop')
    await createProject(vault.url, 'blog')
  })
  afterAll(() => vault.stop())

  async function put(project: string, name: string, days: number | null): Promise<void> {
    const expiresAt = days === null ? null : new Date(vault.now() + days * DAY_MS).toISOString()
    const body = { key: name, env: 'production', value: 'v', expiresAt }
    expect((await admin(vault.url, 'PUT', `/projects/${project}/secrets`, body)).status).toBe(200)
  }

  type Expiring = { items: { project: string; key: string }[]; complete: boolean }

  async function expiring(query = '', token?: string): Promise<string[]> {
    const headers = token === undefined ? undefined : { Authorization: `Bearer ${token}` }
    const answer =
      headers === undefined
        ? await admin(vault.url, 'GET', `/expiring${query}`)
        : await send(`${vault.url}/v1/admin/expiring${query}`, { headers })
    const { items, complete } = answer.body as Expiring
    expect(complete).toBe(true)
    return items.map((each) => `${each.project}/${each.key}`)
  }

  /** The counts of the metric, by `due`. */
  async function counts(): Promise<object> {
    const text = await (await fetch(`${vault.url}/metrics`)).text()
    const lines = text.matchAll(/^vault_secrets_expiring\{due="(\w+)"\} (\d+)$/gm)
    return Object.fromEntries(Array.from(lines, ([, due = '', count]) => [due, Number(count)] as const))
  }

  test('lists secrets that are overdue or expire soon, the earliest first', async () => {
    await put('shop', 'LATER', 40)
    await put('shop', 'MONTH', 20)
    await put('blog', 'WEEK', 5)
    await put('shop', 'OVERDUE', -3)
    await put('shop', 'NEVER', null)
    expect(await expiring()).toEqual(['shop/OVERDUE', 'blog/WEEK', 'shop/MONTH'])
    expect(await expiring('?days=7')).toEqual(['shop/OVERDUE', 'blog/WEEK'])
    expect(await expiring('?days=0')).toEqual(['shop/OVERDUE'])
    expect(await expiring('?days=9999')).toHaveLength(4)
    const [first] = ((await admin(vault.url, 'GET', '/expiring')).body as Expiring).items
    expect(first).toEqual({
      ...{ id: expect.any(String), project: 'shop', env: 'production', key: 'OVERDUE' },
      expiresAt: new Date(vault.now() - 3 * DAY_MS).toISOString(),
    })
    const [read] = (await admin(vault.url, 'GET', '/audit?action=read&limit=1')).body as object[]
    expect(read).toMatchObject({ actor: 'administrator', detail: { what: 'expiring' } })
  })

  test('names values with references, which a replacement has to keep', async () => {
    const body = { key: 'URL', env: 'production', value: 'x', references: true }
    const expiresAt = new Date(vault.now() - DAY_MS).toISOString()
    await admin(vault.url, 'PUT', '/projects/blog/secrets', { ...body, expiresAt })
    const { items } = (await admin(vault.url, 'GET', '/expiring?days=0')).body as { items: { references?: true }[] }
    expect(items.map(({ references }) => references)).toEqual([undefined, true])
    await put('blog', 'URL', null)
  })

  test.each(['?days=-1', '?days=x', '?days=', '?days=10000', '?days=1&days=2'])('refuses %s', async (query) => {
    expect(statusAndError(await admin(vault.url, 'GET', `/expiring${query}`))).toEqual([400, 'invalid_request'])
  })

  test('lists only the projects an administrator has access to', async () => {
    const tokenFor = async (projects: string[]): Promise<string> => {
      const administrator = { name: 'Ada', role: 'auditor', projects }
      const { body } = await admin(vault.url, 'POST', '/administrators', administrator)
      return (body as { token: string }).token
    }
    expect(await expiring('', await tokenFor(['blog']))).toEqual(['blog/WEEK'])
    expect(await expiring('', await tokenFor(['not-there-yet']))).toEqual([])
  })

  test('counts secrets as time passes, at most once a minute', async () => {
    expect(await counts()).toEqual({ overdue: 1, '7d': 1, '30d': 2 })
    vault.advance(13 * DAY_MS)
    expect(await counts()).toEqual({ overdue: 2, '7d': 1, '30d': 2 })
    await put('blog', 'WEEK', null)
    expect(await counts()).toEqual({ overdue: 2, '7d': 1, '30d': 2 })
    vault.advance(59_000)
    expect(await counts()).toEqual({ overdue: 2, '7d': 1, '30d': 2 })
    vault.advance(1_000)
    expect(await counts()).toEqual({ overdue: 1, '7d': 1, '30d': 2 })
  })

  test('keeps the last counts, and answers metrics, while secrets cannot be counted', async () => {
    const before = await counts()
    await vault.sql('alter table secrets rename to hidden')
    vault.advance(60_000)
    expect(await counts()).toEqual(before)
    await vault.sql('alter table hidden rename to secrets')
    expect(vault.logged()).toContain('counting expiring secrets failed')
    vault.advance(60_000)
    expect(await counts()).toEqual(before)
  })

  test('an overdue secret stays available', async () => {
    expect((await signed('shop', key)).body).toMatchObject({ OVERDUE: 'v' })
  })

  test('reads the expiry from an index', async () => {
    await vault.sql(`insert into secrets (id, project_uid, env, key, version, updated_at)
    select gen_random_uuid(), uid, 'bulk', 'K' || n, 1, now() from projects, generate_series(1, 20000) as n
    where name = 'blog'`)
    await vault.sql('analyze secrets')
    const plan = await vault.sql(
      'explain select expires_at from secrets where expires_at <= now() order by expires_at limit 10000',
    )
    expect(JSON.stringify(plan)).toContain('secrets_expires_at')
  })
})
