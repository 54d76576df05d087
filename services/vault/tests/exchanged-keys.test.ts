import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import {
  type Answer,
  admin,
  createProject,
  fingerprintOf,
  type Key,
  newKey,
  send,
  signedSend,
  statusAndError,
} from './support/client.ts'
import { type OidcIssuer, startOidcIssuer } from './support/oidc-issuer.ts'
import { rows } from './support/rows.ts'
import { startVault, type TestVault } from './support/vault.ts'

const AUDIENCE = 'https://vault.example.org'
/** Lets the owner of the tables change them without their triggers. */
const AS_OWNER = 'set session_replication_role = replica;'
const REFUSED = [401, 'invalid_signature']

let issuer: OidcIssuer
let vault: TestVault
let replica: TestVault
let project: string
let own: Key

beforeAll(async () => {
  issuer = await startOidcIssuer()
  vault = await startVault({ OIDC_ALLOW_LOOPBACK: 'true' })
  replica = await vault.replica()
})
afterAll(async () => {
  await replica.stop()
  await vault.stop()
  await issuer.stop()
})

let projects = 0
beforeEach(async () => {
  project = `shop-${String((projects += 1))}`
  own = await createProject(vault.url, project)
  for (const env of ['production', 'staging']) expect((await put(own, env, 'A', env)).status).toBe(200)
})

const request = (key: Key, method: string, query = '', body?: object, at = vault): Promise<Answer> =>
  signedSend({ project, key, method, url: `${at.url}/v1/secrets${query}`, body })
const fetched = (key: Key, env = 'production', at = vault) => request(key, 'GET', `?env=${env}`, undefined, at)
const put = (key: Key, env: string, name: string, value: string, at = vault) =>
  request(key, 'PUT', '', { key: name, value, env }, at)

async function trust(rule: object = {}): Promise<string> {
  const claims = { sub: 'repo:octo-org/shop:*' }
  const body = { name: 'deploy', issuer: issuer.url, audience: AUDIENCE, claims, ...rule }
  const added = await admin(vault.url, 'POST', `/projects/${project}/trust-rules`, body)
  expect(added.status).toBe(201)
  return (added.body as { id: string }).id
}

async function exchange(at = vault, sub?: string, key = newKey()): Promise<Key> {
  const idToken = await issuer.sign(sub === undefined ? {} : { sub })
  const answer = await send(`${at.url}/v1/keys/exchange`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ idToken, publicKey: key.publicKeyHex, project }),
  })
  expect(answer.status).toBe(201)
  return key
}

test('an exchanged key works at every replica, within its scope', async () => {
  await trust({ scope: { access: 'read', envs: ['production'] } })
  // Both replicas have the project in their cache.
  for (const at of [vault, replica]) await fetched(own, 'production', at)
  const key = await exchange()
  for (const at of [vault, replica, vault, replica])
    expect(await fetched(key, 'production', at)).toMatchObject({ status: 200, body: { A: 'production' } })
  expect(statusAndError(await fetched(key, 'staging'))).toEqual([403, 'forbidden'])
  expect(statusAndError(await put(key, 'production', 'A', 'new'))).toEqual([403, 'forbidden'])
  expect((await fetched(own)).body).toEqual({ A: 'production' })
})

test('an exchanged key writes and deletes if its rule allows that', async () => {
  await trust({ scope: { access: 'read-write', envs: ['staging'] } })
  const key = await exchange()
  expect((await put(key, 'staging', 'B', 'new', replica)).status).toBe(200)
  expect((await request(key, 'DELETE', '?key=A&env=staging')).status).toBe(200)
  expect((await fetched(key, 'staging')).body).toEqual({ B: 'new' })
  expect(statusAndError(await put(key, 'production', 'B', 'new'))).toEqual([403, 'forbidden'])
})

test('a client with an exchanged key waits for changes, until the key is no longer valid', async () => {
  const rule = await trust()
  const key = await exchange()
  const changes = (since?: string) => {
    const query = `?env=production&wait=1${since === undefined ? '' : `&since=${since}`}`
    return signedSend({ project, key, method: 'GET', url: `${vault.url}/v1/secrets/changes${query}` })
  }
  const first = await changes()
  expect(first).toMatchObject({ status: 200, body: { changed: ['A'] } })
  await put(own, 'production', 'B', 'new')
  const { version } = first.body as { version: string }
  expect(await changes(version)).toMatchObject({ status: 200, body: { changed: ['B'] } })
  await admin(replica.url, 'DELETE', `/projects/${project}/trust-rules/${rule}`)
  expect(statusAndError(await changes(version))).toEqual(REFUSED)
})

test('an exchange does not affect other keys, and rotations do not affect exchanged ones', async () => {
  await trust()
  const [before] = await vault.sql('select generation, code from projects where name = $1', [project])
  const key = await exchange()
  expect(await vault.sql('select generation, code from projects where name = $1', [project])).toEqual([before])
  await fetched(key)
  const rotated = newKey()
  await admin(replica.url, 'PUT', `/projects/${project}/rotate`, { publicKey: rotated.publicKeyHex, overlap: 0 })
  for (const at of [vault, replica]) {
    expect((await fetched(key, 'production', at)).status).toBe(200)
    expect((await fetched(rotated, 'production', at)).status).toBe(200)
    expect(statusAndError(await fetched(own, 'production', at))).toEqual(REFUSED)
  }
})

test('an exchanged key expires', async () => {
  await trust({ minutes: 2, scope: { access: 'read-write', envs: null } })
  const key = await exchange()
  await vault.age(90_000)
  for (const at of [vault, replica]) expect((await fetched(key, 'production', at)).status).toBe(200)
  await vault.age(31_000)
  for (const at of [vault, replica]) {
    expect(statusAndError(await fetched(key, 'production', at))).toEqual(REFUSED)
    expect(statusAndError(await put(key, 'production', 'A', 'x', at))).toEqual(REFUSED)
  }
})

const ended = async (at: TestVault, state: string): Promise<number> => {
  const metrics = await (await fetch(`${at.url}/metrics`)).text()
  const count = new RegExp(`^vault_ended_key_requests_total\\{state="${state}"\\} (\\d+)`, 'm').exec(metrics)?.[1]
  return Number(count ?? 0)
}

test('requests of expired and revoked keys are counted and recorded with their name for 30 days only', async () => {
  const rule = await trust()
  const removed = await trust({ name: 'removed', claims: { sub: 'repo:octo-org/other:*' } })
  const expired = await exchange()
  await vault.age(16 * 60_000)
  const [revoked, ofRule] = [await exchange(), await exchange(vault, 'repo:octo-org/other:ref')]
  for (const key of [revoked, ofRule]) expect((await fetched(key, 'production', replica)).status).toBe(200)
  await admin(vault.url, 'DELETE', `/projects/${project}/keys/${fingerprintOf(revoked)}`)
  await admin(vault.url, 'DELETE', `/projects/${project}/trust-rules/${removed}`)
  const use = async (at: TestVault) => {
    const before = [await ended(at, 'expired'), await ended(at, 'revoked')]
    for (const key of [expired, revoked, ofRule]) {
      expect(statusAndError(await fetched(key, 'production', at))).toEqual(REFUSED)
      expect(statusAndError(await put(key, 'production', 'A', 'x', at))).toEqual(REFUSED)
    }
    return [(await ended(at, 'expired')) - (before[0] ?? 0), (await ended(at, 'revoked')) - (before[1] ?? 0)]
  }
  for (const at of [vault, replica]) expect(await use(at)).toEqual([2, 4])
  replica.context.background.start()
  await replica.context.background.stop()
  const { body } = await admin(vault.url, 'GET', `/audit?projectId=${project}&action=refused`)
  const entries = (body as { actor: string; keyName: string; detail: { invalid_signature: number } }[]).map(
    ({ actor, keyName, detail }) => [actor, keyName, detail.invalid_signature],
  )
  expect(entries).toEqual(
    expect.arrayContaining([
      [`key:${fingerprintOf(expired)}`, 'deploy', 2],
      [`key:${fingerprintOf(revoked)}`, 'deploy', 2],
      [`key:${fingerprintOf(ofRule)}`, 'removed', 2],
    ]),
  )
  const states = async (query: string) => {
    const { body: listed } = await admin(replica.url, 'GET', `/projects/${project}/keys${query}`)
    return (listed as { fingerprint: string; state: string; name: string }[]).map(({ state, name }) => [name, state])
  }
  expect(await states('')).toEqual([['default', 'active']])
  expect((await states('?ended=true')).toSorted()).toEqual([
    ...[
      ['default', 'active'],
      ['deploy', 'expired'],
      ['deploy', 'revoked'],
      ['removed', 'revoked'],
    ],
  ])
  // The rows of the last keys are pruned together with those of a project that exchanges on.
  await vault.age(31 * 86_400_000)
  await exchange()
  await eventually(async () => (await use(vault)).join() === '0,0')
  expect(await states('?ended=true')).toHaveLength(2)
  await admin(vault.url, 'DELETE', `/projects/${project}/trust-rules/${rule}`)
}, 20_000)

test('an expired or revoked public key can be admitted again, at once at every replica', async () => {
  await trust()
  const key = await exchange()
  for (const end of [
    () => vault.age(16 * 60_000),
    () => admin(vault.url, 'DELETE', `/projects/${project}/keys/${fingerprintOf(key)}`),
  ]) {
    for (const at of [vault, replica]) expect((await fetched(key, 'production', at)).status).toBe(200)
    await end()
    for (const at of [vault, replica]) expect(statusAndError(await fetched(key, 'production', at))).toEqual(REFUSED)
    await exchange(vault, undefined, key)
    await eventually(async () => (await fetched(key, 'production', replica)).status === 200)
    expect((await fetched(key)).status).toBe(200)
  }
})

test('the last 5,000 expired or revoked keys of a project are remembered', async () => {
  await trust()
  const [first, key] = [await exchange(), await exchange()]
  await admin(vault.url, 'DELETE', `/projects/${project}/keys/${fingerprintOf(first)}`)
  await vault.sql(
    `insert into ended_exchanged_keys select e.project_uid, decode(md5(n::text), 'hex'), e.name, e.subject, e.access, e.envs,
       e.created_at, null, e.ended_at + n * interval '1 microsecond', true
     from ended_exchanged_keys e join projects p on p.uid = e.project_uid, generate_series(1, 5000) as n where p.name = $1`,
    [project],
  )
  await admin(vault.url, 'DELETE', `/projects/${project}/keys/${fingerprintOf(key)}`)
  const [row] = await vault.sql<{ n: number }>(
    `select count(*)::integer as n from ended_exchanged_keys e join projects p on p.uid = e.project_uid where p.name = $1`,
    [project],
  )
  expect(row?.n).toBe(5_000)
  const before = await ended(vault, 'revoked')
  for (const each of [first, key]) expect(statusAndError(await fetched(each))).toEqual(REFUSED)
  expect(await ended(vault, 'revoked')).toBe(before + 1)
})

test('removing the rule ends its keys at once, at every replica', async () => {
  const rule = await trust({ scope: { access: 'read-write', envs: null } })
  const keys = [await exchange(), await exchange(replica)]
  for (const key of keys)
    for (const at of [vault, replica]) expect((await fetched(key, 'production', at)).status).toBe(200)
  await admin(replica.url, 'DELETE', `/projects/${project}/trust-rules/${rule}`)
  for (const key of keys)
    for (const at of [vault, replica]) {
      expect(statusAndError(await fetched(key, 'production', at))).toEqual(REFUSED)
      expect(statusAndError(await put(key, 'production', 'A', 'x', at))).toEqual(REFUSED)
    }
  expect((await fetched(own)).body).toEqual({ A: 'production' })
})

test('revoking an exchanged key takes effect at once, at every replica, and affects no other', async () => {
  await trust()
  const [key, other] = [await exchange(), await exchange()]
  for (const at of [vault, replica]) expect((await fetched(key, 'production', at)).status).toBe(200)
  const path = `/projects/${project}/keys/${fingerprintOf(key)}`
  expect((await admin(replica.url, 'DELETE', path)).status).toBe(200)
  for (const at of [vault, replica]) {
    expect(statusAndError(await fetched(key, 'production', at))).toEqual(REFUSED)
    expect((await fetched(other, 'production', at)).status).toBe(200)
  }
  expect(statusAndError(await admin(vault.url, 'DELETE', path))).toEqual([404, 'not_found'])
})

test('exchanged keys are listed with the keys of their project, and marked', async () => {
  await trust({ minutes: 30, scope: { access: 'read', envs: ['production'] } })
  const key = await exchange()
  await fetched(key)
  const list = async () =>
    (await admin(replica.url, 'GET', `/projects/${project}/keys`)).body as Record<string, string>[]
  const [listed, registered] = await list()
  expect(listed).toMatchObject({
    ...{ name: 'deploy', fingerprint: fingerprintOf(key), state: 'active' },
    ...{ subject: 'repo:octo-org/shop:ref:refs/heads/main', scope: { access: 'read', envs: ['production'] } },
  })
  expect(Date.parse(listed?.['until'] ?? '') - Date.parse(listed?.['since'] ?? '')).toBe(30 * 60_000)
  expect(registered).toMatchObject({ name: 'default', fingerprint: fingerprintOf(own) })
  expect(registered).not.toHaveProperty('subject')
  vault.context.background.start()
  await eventually(async () => typeof (await list())[0]?.['lastUsedAt'] === 'string')
  await vault.context.background.stop()
  const { body: all } = await admin(replica.url, 'GET', '/keys')
  expect((all as { project: string }[]).filter((each) => each.project === project)).toEqual(
    (await list()).map((each) => ({ project, ...each })),
  )
  await vault.age(31 * 60_000)
  expect(await list()).toHaveLength(1)
}, 40_000)

test('the audit log names the key and its rule', async () => {
  const rule = await trust({ scope: { access: 'read-write', envs: null } })
  const key = await exchange()
  await fetched(key)
  await put(key, 'production', 'A', 'new')
  await admin(vault.url, 'DELETE', `/projects/${project}/keys/${fingerprintOf(key)}`)
  await admin(vault.url, 'DELETE', `/projects/${project}/trust-rules/${rule}`)
  const { body } = await admin(vault.url, 'GET', `/audit?projectId=${project}&action=all&limit=20`)
  const entries = body as { action: string; actor: string; keyName?: string; detail: object }[]
  const actor = `key:${fingerprintOf(key)}`
  expect(entries.filter((entry) => entry.actor === actor).map(({ action, keyName }) => [action, keyName])).toEqual([
    ['put', 'deploy'],
    ['fetch', 'deploy'],
    ['key.exchange', 'deploy'],
  ])
  expect(entries.find(({ action }) => action === 'key.revoke')?.detail).toEqual({
    ...{ name: 'deploy', fingerprint: fingerprintOf(key), exchanged: true },
  })
  expect(entries.find(({ action }) => action === 'trust-rule.delete')?.detail).toMatchObject({ keys: 0 })
})

const rowsOf = async (table: string): Promise<string> =>
  (await vault.sql<{ rows: string }>(`select jsonb_agg(to_jsonb(t))::text as rows from ${table} t`))[0]?.rows ?? '[]'
const putBack = (table: string, stored: string): string =>
  `insert into ${table} select * from jsonb_populate_recordset(null::${table}, '${stored}') on conflict do nothing`

test('a key that the vault did not write is refused and reported', async () => {
  await trust()
  const [key, forged] = [await exchange(), newKey()]
  await vault.sql(
    `insert into exchanged_keys (id, project_uid, rule_id, public_key, subject, access, created_at, expires_at, code)
     select gen_random_uuid(), project_uid, rule_id, $1, subject, 'read-write', created_at, expires_at, code
     from exchanged_keys where public_key = $2`,
    [Buffer.from(forged.publicKeyHex, 'hex'), Buffer.from(key.publicKeyHex, 'hex')],
  )
  for (const at of [vault, replica]) expect(statusAndError(await fetched(forged, 'production', at))).toEqual(REFUSED)
  await fetched(key)
  // A wider scope and a later end do not help a key that this replica has cached, nor one that it has not.
  await vault.sql(
    "update exchanged_keys set access = 'read-write', expires_at = expires_at + interval '1 day' where public_key = $1",
    [Buffer.from(key.publicKeyHex, 'hex')],
  )
  expect(statusAndError(await put(key, 'production', 'A', 'x'))).toEqual([403, 'forbidden'])
  expect(statusAndError(await fetched(key, 'production', replica))).toEqual(REFUSED)
  const { problems } = JSON.parse((await rows(vault, 'verify')).stdout) as { problems: string[] }
  expect(problems).toEqual([
    expect.stringMatching(/^exchanged key .* is not authentic$/),
    expect.stringMatching(/^exchanged key .* is not authentic$/),
  ])
  const metrics = await (await fetch(`${replica.url}/metrics`)).text()
  expect(metrics).toMatch(/^vault_refused_rows_total\{table="exchanged_keys"\} [1-9]/m)
  await vault.sql('delete from exchanged_keys')
})

test('a revoked key, or one of a removed rule, stays refused after its rows were put back', async () => {
  const rule = await trust()
  const [revoked, kept] = [await exchange(), await exchange()]
  const stored = { rules: await rowsOf('trust_rules'), keys: await rowsOf('exchanged_keys') }
  for (const key of [revoked, kept])
    for (const at of [vault, replica]) expect((await fetched(key, 'production', at)).status).toBe(200)
  await admin(vault.url, 'DELETE', `/projects/${project}/keys/${fingerprintOf(revoked)}`)
  await expect(vault.sql(putBack('exchanged_keys', stored.keys))).rejects.toThrow('cannot be put back')
  await vault.sql(`${AS_OWNER} ${putBack('exchanged_keys', stored.keys)}`)
  for (const at of [vault, replica]) {
    expect(statusAndError(await fetched(revoked, 'production', at))).toEqual(REFUSED)
    expect((await fetched(kept, 'production', at)).status).toBe(200)
  }
  await admin(vault.url, 'DELETE', `/projects/${project}/trust-rules/${rule}`)
  await vault.sql(`${AS_OWNER} ${putBack('trust_rules', stored.rules)}; ${putBack('exchanged_keys', stored.keys)}`)
  for (const at of [vault, replica])
    for (const key of [revoked, kept]) expect(statusAndError(await fetched(key, 'production', at))).toEqual(REFUSED)
  await vault.sql('delete from trust_rules')
})

test('a deletion of the project ends its exchanged keys', async () => {
  await trust()
  const key = await exchange()
  await fetched(key)
  await admin(replica.url, 'DELETE', `/projects/${project}`)
  expect(statusAndError(await fetched(key))).toEqual([401, 'unknown_project'])
  await createProject(vault.url, project)
  for (const at of [vault, replica]) expect(statusAndError(await fetched(key, 'production', at))).toEqual(REFUSED)
})

test('the log of the vault has no ID token', async () => {
  await trust()
  const idToken = await issuer.sign()
  const body = JSON.stringify({ idToken, publicKey: newKey().publicKeyHex, project })
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }
  for (let i = 0; i < 2; i++) await send(`${vault.url}/v1/keys/exchange`, init)
  const [, payload = '', signature = ''] = idToken.split('.')
  for (const part of [payload, signature]) expect(vault.logged()).not.toContain(part)
})
