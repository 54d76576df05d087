import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import {
  eventually,
  type PrivateServer,
  removeTemporaryFolder,
  startRedis,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import { admin, createProject, newKey, send, statusAndError } from './support/client.ts'
import { type OidcIssuer, startOidcIssuer } from './support/oidc-issuer.ts'
import { rows } from './support/rows.ts'
import { startVault, type TestVault } from './support/vault.ts'
import { statusOf } from './support/vault-process.ts'

let vault: TestVault
let replica: TestVault
let project: string

beforeAll(async () => {
  vault = await startVault()
  replica = await vault.replica()
})
afterAll(async () => {
  await replica.stop()
  await vault.stop()
})

let projects = 0
beforeEach(async () => {
  project = `shop-${String((projects += 1))}`
  await createProject(vault.url, project)
})

const RULE = {
  name: 'deploy',
  issuer: 'https://token.actions.githubusercontent.com',
  audience: 'https://vault.example.org',
  claims: { sub: 'repo:octo-org/shop:ref:refs/heads/main' },
}

const path = (id = '') => `/projects/${project}/trust-rules${id && `/${id}`}`
const add = (rule: object = {}) => admin(vault.url, 'POST', path(), { ...RULE, ...rule })
const list = async () => (await admin(replica.url, 'GET', path())).body as { id: string; name: string }[]
const idOf = ({ body }: { body: unknown }) => (body as { id: string }).id

test('a rule is listed at every replica with its defaults, and removed', async () => {
  const added = await add()
  expect(added).toMatchObject({ status: 201, body: { ok: true } })
  expect(await list()).toEqual([
    {
      id: idOf(added),
      ...RULE,
      algorithms: ['RS256', 'ES256'],
      scope: { access: 'read', envs: null },
      minutes: 15,
      createdAt: expect.any(String),
    },
  ])
  expect((await admin(replica.url, 'DELETE', path(idOf(added)))).status).toBe(200)
  expect(await list()).toEqual([])
  expect(statusAndError(await admin(vault.url, 'DELETE', path(idOf(added))))).toEqual([404, 'not_found'])
})

test('the audit log names the rule and whom it trusts', async () => {
  const id = idOf(await add({ scope: { access: 'read', envs: ['production'] }, minutes: 5 }))
  await admin(vault.url, 'DELETE', path(id))
  const { body } = await admin(vault.url, 'GET', `/audit?projectId=${project}&action=all`)
  const entries = (body as { action: string; actor: string; detail: object }[]).filter(({ action }) =>
    action.startsWith('trust-rule.'),
  )
  expect(entries).toEqual([
    expect.objectContaining({ actor: 'administrator', detail: { rule: id, name: 'deploy', keys: 0 } }),
    expect.objectContaining({
      actor: 'administrator',
      detail: {
        ...{ rule: id, name: 'deploy', issuer: RULE.issuer, audience: RULE.audience, minutes: 5 },
        ...{ access: 'read', envs: 'production', claims: `sub=${RULE.claims.sub}`, algorithms: 'RS256,ES256' },
      },
    }),
  ])
})

test('refuses a rule that is too broad, or cannot be checked', async () => {
  const refused: readonly object[] = [
    { claims: {} },
    { claims: { sub: '*' } },
    { claims: { sub: 'repo:*' } },
    { claims: { sub: 'repo:octo*' } },
    { claims: { sub: '*', repository: 'octo-org/shop' } },
    { claims: { environment: 'production' } },
    { claims: { sub: 'repo:octo-org/*', aud: 'x' } },
    { claims: { sub: 1 } },
    { claims: { sub: 'x'.repeat(501) } },
    { claims: Object.fromEntries(Array.from({ length: 17 }, (_each, i) => [`claim${String(i)}`, 'x'])) },
    { issuer: 'http://token.actions.githubusercontent.com' },
    { issuer: 'http://127.0.0.1:4000' },
    { issuer: 'https://user:password@example.org' },
    { issuer: 'https://example.org/?a' },
    { issuer: 'https://example.org/#' },
    { issuer: 'https://example.org/\u0000' },
    { issuer: 'file:///etc/passwd' },
    { issuer: '' },
    { audience: '' },
    { algorithms: [] },
    { algorithms: ['none'] },
    { algorithms: ['HS256'] },
    { minutes: 0 },
    { minutes: 61 },
    { name: '../x' },
    { scope: { access: 'all' } },
    { scope: { envs: [] } },
    { unknown: true },
  ]
  for (const rule of refused)
    expect([rule, ...(statusAndError(await add(rule)) as unknown[])]).toEqual([rule, 400, 'invalid_request'])
  expect(await list()).toEqual([])
})

test('a name is used once per project', async () => {
  const [one, other] = await Promise.all([add(), admin(replica.url, 'POST', path(), RULE)])
  expect([one.status, other.status].toSorted()).toEqual([201, 409])
  expect(statusAndError(await add())).toEqual([409, 'trust_rule_exists'])
  const before = project
  project = `${project}-b`
  await createProject(vault.url, project)
  expect((await add()).status).toBe(201)
  project = before
})

test('a project has at most 50 rules, even if two administrators add one at the same time', async () => {
  for (let i = 0; i < 49; i++) expect((await add({ name: `rule-${String(i)}` })).status).toBe(201)
  const last = await Promise.all([
    add({ name: 'one' }),
    admin(replica.url, 'POST', path(), { ...RULE, name: 'other' }),
    add({ name: 'third' }),
  ])
  expect(last.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
  expect(statusAndError(await add({ name: 'fourth' }))).toEqual([409, 'too_many_trust_rules'])
  expect(await list()).toHaveLength(50)
})

test('a project that does not exist has no rules', async () => {
  project = 'missing'
  expect(statusAndError(await add())).toEqual([404, 'not_found'])
  expect(statusAndError(await admin(vault.url, 'GET', path()))).toEqual([404, 'not_found'])
  expect(statusAndError(await admin(vault.url, 'DELETE', path('not-an-id')))).toEqual([404, 'not_found'])
})

test('auditors and administrators of other projects change nothing', async () => {
  const id = idOf(await add())
  const tokenOf = async (body: object) =>
    ((await admin(vault.url, 'POST', '/administrators', body)).body as { token: string }).token
  const auditor = await tokenOf({ name: 'a', role: 'auditor' })
  await createProject(vault.url, `${project}-other`)
  const other = await tokenOf({ name: 'b', role: 'administrator', projects: [`${project}-other`] })
  const as = async (token: string, method: string, at: string, body?: object) =>
    (
      await send(`${vault.url}/v1/admin${at}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    ).status
  expect(await as(auditor, 'GET', path())).toBe(200)
  for (const token of [auditor, other]) {
    expect(await as(token, 'POST', path(), { ...RULE, name: 'x' })).toBe(403)
    expect(await as(token, 'DELETE', path(id))).toBe(403)
  }
  expect(await as(other, 'GET', path())).toBe(403)
  expect(await as(other, 'DELETE', `/projects/${project}-other/trust-rules/${id}`)).toBe(404)
  expect(await list()).toHaveLength(1)
})

test('a rule that the vault did not write, or that was removed, admits no key', async () => {
  const id = idOf(await add())
  const [row] = await vault.sql<{ row: object }>('select to_jsonb(r) as row from trust_rules r where id = $1', [id])
  await vault.sql("update trust_rules set claims = array['sub', 'repo:octo-org/*'] where id = $1", [id])
  expect(await list()).toEqual([])
  const verify = async () => (JSON.parse((await rows(vault, 'verify')).stdout) as { problems: string[] }).problems
  expect(await verify()).toEqual([`trust rule ${id}: its row is not authentic`])
  await admin(vault.url, 'DELETE', path(id))
  const putBack = 'insert into trust_rules select * from jsonb_populate_record(null::trust_rules, $1)'
  await expect(vault.sql(putBack, [JSON.stringify(row?.row)])).rejects.toThrow()
  await vault.sql(`set session_replication_role = replica; ${putBack.replace('$1', `'${JSON.stringify(row?.row)}'`)}`)
  expect(await list()).toEqual([])
  expect(await verify()).toEqual([
    `trust rule ${id}: its row is not authentic`,
    `trust rule ${id}: it was removed but is stored`,
  ])
  await vault.sql('delete from trust_rules')
})

test('rules end with their project', async () => {
  await add()
  await admin(vault.url, 'DELETE', `/projects/${project}`)
  await createProject(vault.url, project)
  expect(await list()).toEqual([])
})

describe('exchanges under a rule', () => {
  let folder: string
  let redis: PrivateServer
  let issuer: OidcIssuer
  let vault: TestVault

  beforeAll(async () => {
    folder = temporaryFolder('exchange-limits')
    redis = await startRedis({ dataDir: `${folder}/redis`, durable: true })
    issuer = await startOidcIssuer()
    vault = await startVault(
      { OIDC_ALLOW_LOOPBACK: 'true', SIGNATURE_FAILURE_LIMIT: '20', TRUSTED_PROXIES: '127.0.0.1' },
      { redisUrl: redis.url },
    )
    await createProject(vault.url, 'shop')
    const claims = { sub: 'repo:octo-org/shop:*' }
    const rule = { name: 'deploy', issuer: issuer.url, audience: 'https://vault.example.org', claims }
    await admin(vault.url, 'POST', '/projects/shop/trust-rules', rule)
  })
  afterAll(async () => {
    await vault.stop()
    await issuer.stop()
    await redis.stop()
    removeTemporaryFolder(folder)
  })

  function exchange(idToken: string, address = '192.0.2.1', options: object = {}) {
    return send(`${vault.url}/v1/keys/exchange`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address },
      body: JSON.stringify({ idToken, publicKey: newKey().publicKeyHex, ...options }),
    })
  }

  const admitted = async (): Promise<number> => (await vault.sql('select from exchanged_keys')).length

  test('after a loss of Redis, tokens that were issued before it are refused', async () => {
    const [spent, unspent] = [await issuer.sign(), await issuer.sign()]
    expect((await exchange(spent)).status).toBe(201)
    const client = new Redis(redis.url)
    await client.flushall()
    await client.quit()
    for (const idToken of [spent, unspent])
      expect(statusAndError(await exchange(idToken))).toEqual([401, 'invalid_id_token'])
    await eventually(async () => (await exchange(await issuer.sign(), '192.0.2.2')).status === 201, undefined, 200)
  })

  test('while Redis is unavailable, nothing is admitted', async () => {
    const before = await admitted()
    redis.pause()
    expect(statusAndError(await exchange(await issuer.sign()))).toEqual([503, 'unavailable'])
    redis.resume()
    await eventually(async () => (await statusOf(`${vault.url}/ready`)) === 200)
    expect(await admitted()).toBe(before)
    await eventually(async () => (await exchange(await issuer.sign(), '192.0.2.3')).status === 201, undefined, 200)
  })

  test('an address that fails too often is blocked, and others are not', async () => {
    const wrong = await issuer.sign({ aud: 'https://other.example.org' })
    for (let i = 0; i < 20; i++) expect((await exchange(wrong, '198.51.100.1')).status).toBe(401)
    expect(statusAndError(await exchange(wrong, '198.51.100.1'))).toEqual([429, 'rate_limited'])
    const refused = await exchange(await issuer.sign(), '198.51.100.1')
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await exchange(await issuer.sign(), '198.51.100.2')).status).toBe(201)
    const metrics = await (await fetch(`${vault.url}/metrics`)).text()
    expect(metrics).toMatch(/^vault_authentication_failures_total\{code="invalid_id_token"\} [1-9]/m)
  })

  test('a token that does not verify, or names a project, reads no more rules than it needs', async () => {
    const refused = async (): Promise<number> => {
      const metrics = await (await fetch(`${vault.url}/metrics`)).text()
      return Number(/^vault_refused_rows_total\{table="trust_rules"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
    }
    const [rule] = await vault.sql<{ id: string }>('select id from trust_rules')
    await createProject(vault.url, 'other')
    const claims = { sub: 'repo:octo-org/shop:*' }
    const other = { name: 'forged', issuer: issuer.url, audience: 'https://vault.example.org', claims }
    await admin(vault.url, 'POST', '/projects/other/trust-rules', other)
    // A row that is read is refused, and counted.
    await vault.sql(`update trust_rules set minutes = 60 where name = 'forged'`)
    const before = await refused()
    const idToken = await issuer.sign()
    expect((await exchange(`${idToken.slice(0, -8)}AAAAAAAA`)).status).toBe(401)
    expect((await exchange(await issuer.sign({ aud: 'https://other.example.org\u0000' }))).status).toBe(401)
    expect((await exchange(idToken, '192.0.2.1', { project: 'shop' })).status).toBe(201)
    expect(await refused()).toBe(before)

    expect((await exchange(await issuer.sign())).status).toBe(201)
    expect(await refused()).toBe(before + 1)
    // The first rule of the issuer is refused, but another one is authentic.
    await vault.sql('update trust_rules set minutes = 59 where id = $1', [rule?.id])
    await vault.sql(`update trust_rules set minutes = 15 where name = 'forged'`)
    expect((await exchange(await issuer.sign())).status).toBe(201)
  })
})
