import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { readConfig } from '../src/config.ts'
import { openKeyring } from '../src/context/keyring.ts'
import { dataKeyOwner } from '../src/keyring/data-keys.ts'
import { encryptValue } from '../src/keyring/envelope.ts'
import { unwrapKey } from '../src/keyring/keyring.ts'
import { admin, createProject, type Key, signedSend, statusAndError } from './support/client.ts'
import { audit, rows } from './support/rows.ts'
import { connectSql } from './support/sql.ts'
import { startVault, type TestVault, vaultEnv } from './support/vault.ts'

let vault: TestVault

beforeAll(async () => {
  vault = await startVault({ MAX_ENVIRONMENTS: '3', MAX_ENVIRONMENT_BYTES: '200000' })
})
afterAll(() => vault.stop())

/** A project whose environments have these secrets. */
async function project(name: string, envs: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const key: Key = await createProject(vault.url, name)
  const path = `/projects/${name}/secrets`
  const put = async (env: string, secret: string, value: string, details: object = {}) => {
    const { status } = await admin(vault.url, 'PUT', path, { key: secret, env, value, ...details })
    expect(status).toBe(200)
  }
  for (const [env, secrets] of Object.entries(envs))
    for (const [secret, value] of Object.entries(secrets)) await put(env, secret, value)
  return {
    key,
    put,
    copy: (body: object) => admin(vault.url, 'POST', `${path}/copy`, body),
    list: async (env: string) =>
      (await admin(vault.url, 'GET', `${path}?env=${env}`)).body as { id: string; key: string }[],
    read: async (env: string): Promise<unknown> =>
      (await signedSend({ project: name, key, method: 'GET', url: `${vault.url}/v1/secrets?env=${env}` })).body,
  }
}

test('copies the missing secrets, and skips those that exist', async () => {
  const { copy, read } = await project('missing', { a: { A: 'a', B: 'b', C: '' }, b: { B: 'own' } })
  expect((await copy({ from: 'a', to: 'b' })).body).toEqual({ ok: true, copied: 2, skipped: 1 })
  expect(await read('b')).toEqual({ A: 'a', B: 'own', C: '' })
  expect((await copy({ from: 'a', to: 'b' })).body).toEqual({ ok: true, copied: 0, skipped: 3 })
  expect((await copy({ from: 'a', to: 'new' })).body).toEqual({ ok: true, copied: 3, skipped: 0 })
  expect(await read('new')).toEqual(await read('a'))
  expect(await read('a')).toEqual({ A: 'a', B: 'b', C: '' })
})

test('overwrites if asked to, as the next version', async () => {
  const { copy, read, list } = await project('over', { a: { A: 'new', B: 'new' }, b: { A: 'one' } })
  const [before] = await list('b')
  expect((await copy({ from: 'a', to: 'b', keys: ['A', 'A'], overwrite: true })).body).toMatchObject({ copied: 1 })
  expect(await read('b')).toEqual({ A: 'new' })
  const [after] = await list('b')
  expect(after?.id).toBe(before?.id)
  const versions = await admin(vault.url, 'GET', `/secrets/${after?.id ?? ''}/versions`)
  expect(versions.body).toMatchObject([{ version: 2, current: true }, { version: 1 }])
  await admin(vault.url, 'POST', `/secrets/${after?.id ?? ''}/versions/1/restore`)
  expect(await read('b')).toEqual({ A: 'one' })
})

test('continues the versions of a deleted secret', async () => {
  const { copy, list } = await project('continued', { a: { A: 'a' }, b: { A: 'b' } })
  await admin(vault.url, 'DELETE', `/secrets/${(await list('b'))[0]?.id ?? ''}`)
  await copy({ from: 'a', to: 'b' })
  const versions = await admin(vault.url, 'GET', `/secrets/${(await list('b'))[0]?.id ?? ''}/versions`)
  expect(versions.body).toMatchObject([{ version: 2, current: true }])
})

test('copies the details of new secrets, and keeps those of overwritten ones', async () => {
  const { put, copy, list } = await project('details', {})
  const expiresAt = '2027-01-01T00:00:00.000Z'
  await put('a', 'A', 'v', { note: 'from a', owner: 'ada', expiresAt })
  await put('a', 'B', 'v', { note: 'from a' })
  await put('b', 'B', 'v', { owner: 'grace' })
  await copy({ from: 'a', to: 'b', overwrite: true })
  const [a, b] = await list('b')
  expect(a).toMatchObject({ key: 'A', note: 'from a', owner: 'ada', expiresAt })
  expect(b).toMatchObject({ key: 'B', owner: 'grace' })
  expect(b).not.toHaveProperty('note')
})

test('records each secret in the audit log, and never a value', async () => {
  const { copy } = await project('recorded', { a: { A: 'super-secret-a', B: 'super-secret-b' } })
  const added = await admin(vault.url, 'POST', '/administrators', { name: 'Ada', role: 'editor' })
  const { id, token } = added.body as { id: string; token: string }
  const answer = await fetch(`${vault.url}/v1/admin/projects/recorded/secrets/copy`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ from: 'a', to: 'b' }),
  })
  expect(await answer.json()).toEqual({ ok: true, copied: 2, skipped: 0 })
  const { body } = await admin(vault.url, 'GET', '/audit?action=put&projectId=recorded&env=b')
  const entry = { actor: `administrator:${id}`, env: 'b', detail: { version: 1, revision: 1, copiedFrom: 'a' } }
  expect(body).toHaveLength(2)
  expect(body).toMatchObject([entry, entry])
  expect((body as { detail: { key: string } }[]).map(({ detail }) => detail.key).toSorted()).toEqual(['A', 'B'])
  expect(JSON.stringify(await vault.sql('select to_jsonb(a) as e from audit a'))).not.toContain('super-secret')
  expect(vault.logged()).not.toContain('super-secret')
  await copy({ from: 'a', to: 'b', overwrite: true })
})

describe('copies nothing', () => {
  test('if one value does not decrypt', async () => {
    const { copy, read } = await project('damaged', { a: { A: 'a', B: 'b', C: 'c' }, b: { Z: 'z' } })
    const damaged = `update secret_versions v set blob = set_byte(blob, length(blob) - 1, get_byte(blob, length(blob) - 1) # 1)
      from secrets s join projects p on p.uid = s.project_uid
      where s.id = v.secret_id and p.name = 'damaged' and s.env = 'a' and s.key = 'B'`
    const state = () =>
      vault.sql(`select to_jsonb(s) as s, to_jsonb(v) as v from secrets s
      join secret_versions v on v.secret_id = s.id order by s.id, v.version`)
    await vault.sql(damaged)
    const before = await state()
    expect(statusAndError(await copy({ from: 'a', to: 'b' }))).toEqual([500, 'decryption_failed'])
    expect(statusAndError(await copy({ from: 'a', to: 'new' }))).toEqual([500, 'decryption_failed'])
    expect(await state()).toEqual(before)
    expect(await read('b')).toEqual({ Z: 'z' })
    expect((await copy({ from: 'a', to: 'b', keys: ['A', 'C'] })).body).toMatchObject({ copied: 2 })
    await vault.sql(damaged)
  })

  test('of an environment in which an older version was put back', async () => {
    const { put, copy, read } = await project('rolled-back', { a: { A: 'one' } })
    await put('a', 'A', 'two')
    const runtime = await connectSql(vault.database.appUrl)
    const set = (version: number) =>
      runtime(`update secrets s set version = ${version} from projects p
        where p.uid = s.project_uid and p.name = 'rolled-back'`)
    await set(1)
    expect(statusAndError(await copy({ from: 'a', to: 'b' }))).toEqual([500, 'decryption_failed'])
    await set(2)
    await runtime.end()
    expect(await read('b')).toEqual({})
    expect((await copy({ from: 'a', to: 'b' })).status).toBe(200)
  })

  test('from an environment or a key that does not exist', async () => {
    const { copy, read } = await project('absent', { a: { A: 'a' } })
    for (const body of [
      { from: 'x', to: 'b' },
      { from: 'a', to: 'b', keys: ['A', 'X'] },
    ])
      expect(statusAndError(await copy(body))).toEqual([404, 'not_found'])
    expect(await read('b')).toEqual({})
    const unknown = await admin(vault.url, 'POST', '/projects/unknown/secrets/copy', { from: 'a', to: 'b' })
    expect(statusAndError(unknown)).toEqual([404, 'not_found'])
  })

  test('beyond the limits of a project', async () => {
    const { copy, read, put } = await project('full', { a: { A: 'x'.repeat(60_000), B: 'x'.repeat(60_000) } })
    await put('b', 'C', 'x'.repeat(60_000))
    await put('b', 'D', 'x'.repeat(30_000))
    expect(statusAndError(await copy({ from: 'a', to: 'b' }))).toEqual([413, 'payload_too_large'])
    expect(Object.keys((await read('b')) as object)).toEqual(['C', 'D'])
    await put('c', 'E', 'v')
    expect(statusAndError(await copy({ from: 'a', to: 'd' }))).toEqual([413, 'payload_too_large'])
    expect((await copy({ from: 'a', to: 'b', keys: ['A'] })).status).toBe(200)
  })

  test.each([
    ['to itself', { from: 'a', to: 'a' }],
    ['without a target', { from: 'a' }],
    ['with an empty list of keys', { from: 'a', to: 'b', keys: [] }],
    ['with a malformed environment', { from: 'a', to: 'b/c' }],
    ['with an unknown member', { from: 'a', to: 'b', force: true }],
  ])('%s', async (_name, body) => {
    const path = '/projects/missing/secrets/copy'
    expect(statusAndError(await admin(vault.url, 'POST', path, body))).toEqual([400, 'invalid_request'])
  })
})

test('simultaneous copies in both directions and writes do not deadlock', async () => {
  const { copy, put, read } = await project('both', { a: { A: 'a', X: 'a' }, b: { B: 'b', X: 'b' } })
  const replica = await vault.replica()
  const copyThere = (body: object) => admin(replica.url, 'POST', '/projects/both/secrets/copy', body)
  const statuses = await Promise.all(
    Array.from({ length: 6 }, async (_, i) => {
      await put(i % 2 === 0 ? 'a' : 'b', 'X', String(i))
      const one = copy({ from: 'a', to: 'b', overwrite: true })
      const other = copyThere({ from: 'b', to: 'a', overwrite: true })
      return [(await one).status, (await other).status]
    }),
  )
  await replica.stop()
  expect(statuses.flat()).toEqual(Array(12).fill(200))
  expect(Object.keys((await read('a')) as object).toSorted()).toEqual(['A', 'B', 'X'])
  expect(await read('a')).toEqual(await read('b'))
})

/** Stores `count` secrets in an environment as the vault would, in one statement. */
async function storeMany(name: string, env: string, count: number): Promise<void> {
  const [dek] = await vault.sql<{ uid: string; dekV: number; kekId: string; wrapped: Buffer }>(
    `select d.project_uid as uid, d.dek_v as "dekV", d.kek_id as "kekId", d.wrapped
     from project_deks d join projects p on p.uid = d.project_uid where p.name = $1`,
    [name],
  )
  if (dek === undefined) throw new Error(`${name} has no data key`)
  const stores = { databaseUrl: vault.database.appUrl, redisUrl: vault.redisUrl }
  const keyring = await openKeyring(readConfig(vaultEnv(stores)))
  const dataKey = await unwrapKey(keyring, dek, dataKeyOwner(dek.uid, dek.dekV))
  const keys = Array.from({ length: count }, (_, i) => `K${String(i)}`)
  const blobs = keys.map((key) => {
    return encryptValue(dataKey, dek.dekV, { projectUid: dek.uid, env, key, version: 1 }, `value of ${key}`)
  })
  await vault.sql(
    `with added as (
       insert into secrets (id, project_uid, env, key, version, updated_at)
       select gen_random_uuid(), $1, $2, key, 1, now() from unnest($3::text[]) as key returning id, key
     )
     insert into secret_versions (secret_id, version, dek_v, blob, created_at)
     select id, 1, $5, blob, now() from added join unnest($3::text[], $4::bytea[]) as n (key, blob) using (key)`,
    [dek.uid, env, keys, blobs, dek.dekV],
  )
  await rows(vault, 'authenticate', '--project', name)
}

test('a copy and a write of an administrator reach clients that wait for changes', async () => {
  const { key, copy, put } = await project('waiting', { a: { A: 'a', B: 'b' }, b: { Z: 'z' } })
  type Changes = { version: string; changed: string[] }
  const changes = async (query: string): Promise<Changes> => {
    const url = `${vault.url}/v1/secrets/changes?env=b&${query}`
    return (await signedSend({ project: 'waiting', key, method: 'GET', url })).body as Changes
  }
  const afterNext = async (version: string, write: () => Promise<unknown>): Promise<Changes> => {
    const next = changes(`since=${version}`)
    await eventually(() => Promise.resolve(vault.context.useCases.changes.countWaiting() === 1))
    await write()
    return next
  }
  const { version } = await changes('wait=0')
  const copied = await afterNext(version, () => copy({ from: 'a', to: 'b' }))
  expect(copied.changed.toSorted()).toEqual(['A', 'B'])
  expect((await afterNext(copied.version, () => put('b', 'Z', 'new'))).changed).toEqual(['Z'])
})

test('copies the maximum number of secrets at once', async () => {
  const { copy, read } = await project('many', { first: { A: 'v' } })
  const count = 2_000
  await storeMany('many', 'a', count)
  expect((await copy({ from: 'a', to: 'b' })).body).toEqual({ ok: true, copied: count, skipped: 0 })
  expect(await read('b')).toEqual(await read('a'))
  expect(await read('b')).toMatchObject({
    K0: 'value of K0',
    [`K${String(count - 1)}`]: `value of K${String(count - 1)}`,
  })
  expect((await copy({ from: 'a', to: 'b', overwrite: true })).body).toMatchObject({ copied: count })
  expect(statusAndError(await copy({ from: 'a', to: 'first' }))).toEqual([413, 'payload_too_large'])
})

test('rows verify accepts all copied secrets', async () => {
  await vault.seal()
  expect(await rows(vault, 'verify')).toMatchObject({ status: 0 })
  expect(await audit(vault, 'verify')).toMatchObject({ status: 0 })
})
