import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, type Key, send, signerOf, statusAndError } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

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
