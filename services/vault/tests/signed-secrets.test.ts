import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { importPrivateKey, signRequest } from '@vault-and-tracker/http-signatures'
import {
  type Answer,
  admin,
  createProject,
  type Key,
  newKey,
  send,
  signedSend,
  signHeaders,
  signHeadersOtherwise,
} from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault
let key: Key
let url: string

beforeAll(async () => {
  vault = await startVault()
  key = await createProject(vault.url, 'shop')
  url = `${vault.url}/v1/secrets`
})
afterAll(() => vault.stop())

const now = () => Math.floor(Date.now() / 1000)

function put(
  body: unknown,
  options: { headers?: Record<string, string>; project?: string; with?: Key } = {},
): Promise<Answer> {
  const { project = 'shop', with: own = key, headers = {} } = options
  return signedSend({ project, key: own, method: 'PUT', url, body, headers })
}

async function values(env: string): Promise<unknown> {
  return (await signedSend({ project: 'shop', key, method: 'GET', url: `${url}?env=${env}` })).body
}

test('keeps the id of an overwritten secret', async () => {
  await put({ key: 'A', value: 'one', env: 'over' })
  const before = (await admin(vault.url, 'GET', '/projects/shop/secrets?env=over')).body
  await put({ key: 'A', value: 'two', env: 'over' })
  expect(await values('over')).toEqual({ A: 'two' })
  const after = (await admin(vault.url, 'GET', '/projects/shop/secrets?env=over')).body
  expect((after as { id: string }[]).map(({ id }) => id)).toEqual((before as { id: string }[]).map(({ id }) => id))
})

test.each([
  ['the empty string', ''],
  ['line breaks and tabs', 'a\r\n\tb\n'],
  ['characters beyond the basic plane', '𝔰𝔢𝔠𝔯𝔢𝔱 ключ 鍵 \u{10ffff}'],
  ['control characters', 'a\0\u0001b\u007f'],
  ['a line separator', 'a\u2028b'],
  ['64 KiB', 'é'.repeat(32_768)],
  ['a byte order mark', '\ufefftext'],
])('returns a value of %s unchanged', async (_name, value) => {
  expect((await put({ key: 'V', value, env: 'exact' })).status).toBe(200)
  expect(await values('exact')).toEqual({ V: value })
})

test.each(['__proto__', 'constructor', 'toString', '0', 'a b', '..', 'ключ', 'k'.repeat(256), '"quoted"\\'])(
  'a secret named %s works like any other',
  async (name) => {
    expect((await put({ key: name, value: 'x', env: 'names' })).status).toBe(200)
    const answer = await signedSend({ project: 'shop', key, method: 'GET', url: `${url}?env=names` })
    expect(Object.getOwnPropertyDescriptor(answer.body, name)?.value).toBe('x')
  },
)

test.each([
  ['no key', { value: 'v', env: 'e' }],
  ['no value', { key: 'k', env: 'e' }],
  ['no environment', { key: 'k', value: 'v' }],
  ['an empty key', { key: '', value: 'v', env: 'e' }],
  ['a key of 257 characters', { key: 'k'.repeat(257), value: 'v', env: 'e' }],
  ['a key with NUL', { key: 'a\0', value: 'v', env: 'e' }],
  ['a key with a line break', { key: 'a\n', value: 'v', env: 'e' }],
  ['a number for a value', { key: 'k', value: 1, env: 'e' }],
  ['null for a value', { key: 'k', value: null, env: 'e' }],
  ['a value over 64 KiB', { key: 'k', value: 'é'.repeat(32_769), env: 'e' }],
  ['a lone surrogate in the value', '{"key":"k","value":"\\ud800","env":"e"}'],
  ['a lone surrogate in the key', '{"key":"\\udc00","value":"v","env":"e"}'],
  ['an environment with a slash', { key: 'k', value: 'v', env: 'a/b' }],
  ['an environment of 65 characters', { key: 'k', value: 'v', env: 'e'.repeat(65) }],
  ['a member it does not know', { key: 'k', value: 'v', env: 'e', notes: 'n' }],
  ['the key twice', '{"key":"a","key":"b","value":"v","env":"e"}'],
  ['text that is not JSON', 'key=a'],
  ['no body', undefined],
])('refuses a write with %s', async (_name, body) => {
  const answer = await put(body)
  expect([answer.status, (answer.body as { error: string }).error]).toEqual([400, 'invalid_request'])
  expect(await values('e')).toEqual({})
})

test.each(['a=1&a=2', 'q=%zz', 'env=%ff'])(
  'a query of %s is malformed, even on paths without parameters',
  async (query) => {
    const body = { key: 'k', value: 'v', env: 'e' }
    const answers = [
      await signedSend({ project: 'shop', key, method: 'GET', url: `${url}?${query}` }),
      await signedSend({ project: 'shop', key, method: 'PUT', url: `${url}?${query}`, body }),
      await signedSend({ project: 'shop', key, method: 'DELETE', url: `${url}/x?${query}` }),
      await admin(vault.url, 'GET', `/projects?${query}`),
      await admin(vault.url, 'PUT', `/projects/shop/rotate?${query}`),
    ]
    for (const { status, body: refused } of answers)
      expect([status, (refused as { error: string }).error]).toEqual([400, 'invalid_request'])
    expect(await values('e')).toEqual({})
  },
)

test('refuses bytes that are not UTF-8', async () => {
  const headers = await signHeaders({ project: 'shop', key, method: 'PUT', url })
  const body = Buffer.concat([Buffer.from('{"key":"k","value":"'), Buffer.from([0xff]), Buffer.from('","env":"e"}')])
  const answer = await send(url, { method: 'PUT', headers: { ...headers, 'Content-Type': 'application/json' }, body })
  expect(answer.status).toBe(400)
})

test('refuses large, compressed and non-JSON bodies', async () => {
  expect((await put({ key: 'k', value: 'v'.repeat(600_000), env: 'e' })).body).toMatchObject({
    error: 'payload_too_large',
  })
  for (const headers of [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/jsonp' },
    { 'Content-Encoding': 'gzip' },
  ]) {
    const answer = await put({ key: 'k', value: 'v', env: 'e' }, { headers })
    expect([answer.status, (answer.body as { error: string }).error]).toEqual([415, 'unsupported_media_type'])
  }
  const accepted = await put(
    { key: 'k', value: 'v', env: 'typed' },
    { headers: { 'Content-Type': 'application/json; charset=utf-8' } },
  )
  expect(accepted.status).toBe(200)
})

test.each(['env=a&env=b', 'env[]=a', 'env=', 'env=a%2Fb', 'env=%E0%A4', 'x=%', 'environment=a', 'Env=a', 'x=1&envs=a'])(
  'a fetch with ?%s is a malformed request',
  async (query) => {
    const answer = await signedSend({ project: 'shop', key, method: 'GET', url: `${url}?${query}` })
    expect([answer.status, (answer.body as { error: string }).error]).toEqual([400, 'invalid_request'])
  },
)

test('returns 404 for foreign, unknown and malformed ids', async () => {
  const other = await createProject(vault.url, 'neighbour')
  await put({ key: 'MINE', value: 'x', env: 'production' }, { project: 'neighbour', with: other })
  const [theirs] = (await admin(vault.url, 'GET', '/projects/neighbour/secrets')).body as { id: string }[]
  const bodies = []
  for (const id of [
    String(theirs?.id),
    '01890a5d-ac96-774b-bcce-b302099a8057',
    'x',
    'a%2Fb',
    '%zz',
    String(theirs?.id).toUpperCase(),
  ]) {
    const answer = await signedSend({ project: 'shop', key, method: 'DELETE', url: `${url}/${id}` })
    expect(answer.status).toBe(404)
    bodies.push(JSON.stringify(answer.body))
  }
  expect(new Set(bodies).size).toBe(1)
  const own = { project: 'neighbour', key: other, method: 'DELETE', url: `${url}/${String(theirs?.id)}` }
  expect((await signedSend(own)).body).toEqual({ ok: true })
  expect((await signedSend(own)).status).toBe(404)
})

test('deletes a secret by key and environment within the scope', async () => {
  const own = await createProject(vault.url, 'tidy')
  const remove = (name: string, env: string, with_ = own) =>
    signedSend({
      ...{ project: 'tidy', key: with_, method: 'DELETE' },
      url: `${url}?${new URLSearchParams({ key: name, env }).toString()}`,
    })
  const names = ['A b/é&', '__proto__']
  for (const env of ['production', 'staging'])
    for (const name of names) await put({ key: name, value: 'x', env }, { project: 'tidy', with: own })
  for (const name of names) expect(await remove(name, 'staging')).toMatchObject({ status: 200, body: { ok: true } })
  const left = (await admin(vault.url, 'GET', '/projects/tidy/secrets')).body
  expect((left as { env: string }[]).map(({ env }) => env)).toEqual(['production', 'production'])
  expect(await remove('A b/é&', 'staging')).toMatchObject({ status: 404, body: { error: 'not_found' } })
  for (const query of ['', '?key=A', '?env=staging', '?key=&env=staging', '?key=A&env='])
    expect((await signedSend({ project: 'tidy', key: own, method: 'DELETE', url: `${url}${query}` })).status).toBe(400)
  const [entry] = (await admin(vault.url, 'GET', '/audit?action=delete&projectId=tidy')).body as object[]
  expect(entry).toMatchObject({
    env: 'staging',
    detail: { key: '__proto__', secretId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  })

  const next = newKey()
  const scope = { access: 'write', envs: ['staging'] }
  await admin(vault.url, 'PUT', '/projects/tidy/rotate', { publicKey: next.publicKeyHex, overlap: 0, scope })
  expect(await remove('A b/é&', 'production', next)).toMatchObject({ status: 403, body: { error: 'forbidden' } })
})

test('checks a covered digest, and requires one if the project does', async () => {
  const own = await createProject(vault.url, 'strict', { requireContentDigest: true })
  const signingKey = importPrivateKey(JSON.stringify(own.privateKey.export({ format: 'jwk' })))
  const text = JSON.stringify({ key: 'k', value: 'v', env: 'e' })
  const digestHeaders = (digest: 'sha-256' | 'sha-512') =>
    signRequest({
      method: 'PUT',
      url,
      project: 'strict',
      key: signingKey,
      created: now(),
      nonce: randomBytes(16).toString('hex'),
      body: text,
      digest,
    })
  const write = async (headers: Record<string, string>, body: string) =>
    send(url, { method: 'PUT', headers: { ...headers, 'Content-Type': 'application/json' }, body })

  expect((await put(text, { project: 'strict', with: own })).body).toEqual({ error: 'invalid_signature' })
  const plain = await signHeaders({ project: 'strict', key: own, method: 'PUT', url })
  const uncovered = `sha-256=:${createHash('sha256').update(text).digest('base64')}:`
  expect((await write({ ...plain, 'Content-Digest': uncovered }, text)).body).toEqual({ error: 'invalid_signature' })
  for (const digest of ['sha-256', 'sha-512'] as const) {
    expect((await write(digestHeaders(digest), text.replace('"v"', '"w"'))).body).toEqual({
      error: 'invalid_signature',
    })
    expect((await write(digestHeaders(digest), text)).body).toMatchObject({ ok: true })
  }
  expect((await signedSend({ project: 'strict', key: own, method: 'GET', url })).status).toBe(200)

  await admin(vault.url, 'PATCH', '/projects/strict', { requireContentDigest: false })
  expect((await put(text, { project: 'strict', with: own })).status).toBe(200)
})

test('summarises the versions of many deleted keys', async () => {
  await put({ key: 'LATE', value: 'x', env: 'folded' })
  await vault.sql(
    `with made as (
       insert into secrets (id, project_uid, env, key, version, updated_at)
       select gen_random_uuid(), uid, 'folded', 'K' || n, n, now() from projects, generate_series(1, 1001) n where name = 'shop'
     ) select`,
  )
  await vault.sql(`delete from secrets where env = 'folded' and key like 'K%'`)
  const [kept] = await vault.sql<{ count: string }>(`select count(*) from removed_secrets where env = 'folded'`)
  expect(Number(kept?.count)).toBeLessThan(600)
  const stored: [string, number][] = [
    ['K1', 502],
    ['K501', 502],
    ['K900', 901],
    ['NEW', 502],
    ['LATE', 2],
  ]
  for (const [name, version] of stored) {
    expect((await put({ key: name, value: 'x', env: 'folded' })).status).toBe(200)
    const [row] = await vault.sql<{ version: number }>(
      `select version from secrets where env = 'folded' and key = $1`,
      [name],
    )
    expect([name, row?.version]).toEqual([name, version])
  }
})

test('continues the versions of a deleted key', async () => {
  const listed = async () => {
    const answer = await admin(vault.url, 'GET', '/projects/shop/secrets?env=counted')
    return answer.body as readonly { id: string; key: string }[]
  }
  for (const name of ['A', 'A', 'A', 'B']) await put({ key: name, value: 'x', env: 'counted' })
  for (const { id } of await listed()) await signedSend({ project: 'shop', key, method: 'DELETE', url: `${url}/${id}` })
  for (const name of ['A', 'B', 'C']) await put({ key: name, value: 'x', env: 'counted' })
  const versions: [string, unknown][] = []
  for (const { id, key: name } of await listed())
    versions.push([name, (await admin(vault.url, 'GET', `/secrets/${id}/versions`)).body])
  expect(versions).toMatchObject([
    ['A', [{ version: 4 }]],
    ['B', [{ version: 2 }]],
    ['C', [{ version: 1 }]],
  ])
})

describe('the main job', () => {
  test('stores and fetches a secret, signed with http-message-signatures', async () => {
    const key = await createProject(vault.url, 'main-job')
    const url = `${vault.url}/v1/secrets`
    const secret = { key: 'DATABASE_URL', value: 'postgres://shop:hunter2@db/shop', env: 'production' }

    const put = await signedSend({ project: 'main-job', key, method: 'PUT', url, body: secret })
    expect([put.status, put.body]).toEqual([200, { ok: true }])

    const fetched = await signedSend({ project: 'main-job', key, method: 'GET', url })
    expect([fetched.status, fetched.body]).toEqual([200, { DATABASE_URL: secret.value }])
    expect(fetched.headers.get('cache-control')).toBe('no-store')

    const stored = await vault.sql(
      `select blob from secret_versions v join secrets s on s.id = v.secret_id
       join projects p on p.uid = s.project_uid where p.name = 'main-job'`,
    )
    expect(stored.map(({ blob }) => Buffer.from(blob as Buffer).includes('hunter2'))).toEqual([false])

    const audit = await admin(vault.url, 'GET', '/audit?projectId=main-job')
    expect(audit.body).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        projectId: 'main-job',
        action: 'fetch',
        env: 'production',
        requestedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        ip: '127.0.0.1',
      },
    ])
  })

  test('fetches a secret, signed with http-message-sig', async () => {
    const key = await createProject(vault.url, 'blog')
    const url = `${vault.url}/v1/secrets?env=staging`
    const body = { key: 'TOKEN', value: '', env: 'staging' }
    await signedSend({ project: 'blog', key, method: 'PUT', url: `${vault.url}/v1/secrets`, body })
    const headers = await signHeadersOtherwise({ project: 'blog', key, method: 'GET', url })
    const fetched = await send(url, { headers })
    expect([fetched.status, fetched.body]).toEqual([200, { TOKEN: '' }])
  })
})
