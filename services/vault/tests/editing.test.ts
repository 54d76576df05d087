import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import {
  type Answer,
  admin,
  createProject,
  type Key,
  newKey,
  send,
  signedSend,
  signerOf,
  statusAndError,
} from './support/client.ts'
import { audit, rows } from './support/rows.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault
/** Applications read from it. */
let replica: TestVault
let key: Key

const signed = signerOf(() => vault)

beforeAll(async () => {
  vault = await startVault({ MAX_SECRETS: '20', MAX_ENVIRONMENTS: '12', MAX_VERSIONS: '5' })
  replica = await vault.replica()
  key = await createProject(vault.url, 'shop')
  await createProject(vault.url, 'blog')
})
afterAll(async () => {
  await replica.stop()
  await vault.stop()
})

type Person = { readonly id: string; readonly token: string }

async function person(role: string, projects?: readonly string[]): Promise<Person> {
  const { body } = await admin(vault.url, 'POST', '/administrators', {
    name: role,
    role,
    ...(projects && { projects }),
  })
  return body as Person
}

const as = ({ token }: Person, method: string, path: string, body?: unknown): Promise<Answer> =>
  send(`${vault.url}/v1/admin${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

const put = (body: unknown, project = 'shop') => admin(vault.url, 'PUT', `/projects/${project}/secrets`, body)

type Listed = { id: string; key: string; env: string; updatedAt: string; note?: string; expiresAt?: string }

async function list(env: string, project = 'shop'): Promise<readonly Listed[]> {
  return (await admin(vault.url, 'GET', `/projects/${project}/secrets?env=${env}`)).body as Listed[]
}

async function idOf(name: string, env: string, project = 'shop'): Promise<string> {
  return (await list(env, project)).find((each) => each.key === name)?.id ?? ''
}

async function values(env: string): Promise<unknown> {
  const url = `${replica.url}/v1/secrets?env=${env}`
  return (await signedSend({ project: 'shop', key, method: 'GET', url })).body
}

async function newestEntry(query: string): Promise<object> {
  const { body } = await admin(vault.url, 'GET', `/audit?limit=1&${query}`)
  return (body as object[])[0] ?? {}
}

describe('each role', () => {
  const FORBIDDEN = 403
  const fingerprint = '0'.repeat(32)
  const RULE = { name: 'ci', issuer: 'http://x', audience: 'x', claims: { sub: 'repo:octo-org/shop' } }

  /** What each role gets, with all projects. */
  const ENDPOINTS: readonly [method: string, path: string, body: object | undefined, allowed: readonly string[]][] = [
    ['GET', '/projects', undefined, ['auditor', 'editor', 'administrator']],
    ['GET', '/projects/shop/keys', undefined, ['auditor', 'editor', 'administrator']],
    ['GET', '/projects/shop/secrets', undefined, ['auditor', 'editor', 'administrator']],
    ['GET', '/secrets/ID/versions', undefined, ['auditor', 'editor', 'administrator']],
    ['GET', '/expiring', undefined, ['auditor', 'editor', 'administrator']],
    ['GET', '/audit', undefined, ['auditor', 'editor', 'administrator']],
    ['GET', '/administrators', undefined, ['auditor', 'editor', 'administrator']],
    ['PUT', '/projects/shop/secrets', { key: 'R', env: 'roles', value: 'v' }, ['editor', 'administrator']],
    ['PUT', '/projects/shop/secrets', { key: 'R', env: 'roles', generate: {} }, ['editor', 'administrator']],
    ['POST', '/projects/shop/secrets/copy', { from: 'roles', to: 'copied' }, ['editor', 'administrator']],
    ['PATCH', '/secrets/ID', { note: 'n' }, ['editor', 'administrator']],
    ['POST', '/secrets/ID/versions/1/restore', undefined, ['editor', 'administrator']],
    ['DELETE', '/secrets/ID', undefined, ['editor', 'administrator']],
    ['POST', '/projects', { name: 'new', publicKey: newKey().publicKeyHex }, ['administrator']],
    ['PATCH', '/projects/shop', { requireContentDigest: false }, ['administrator']],
    ['PUT', '/projects/blog/rotate', undefined, ['administrator']],
    ['POST', '/projects/shop/keys', { name: 'x', publicKey: 'x' }, ['administrator']],
    ['POST', '/projects/shop/trust-rules', RULE, ['administrator']],
    ['DELETE', `/projects/shop/trust-rules/${newId()}`, undefined, ['administrator']],
    ['DELETE', `/projects/shop/keys/${fingerprint}`, undefined, ['administrator']],
    ['DELETE', '/projects/gone', undefined, ['administrator']],
    ['POST', '/administrators', { name: 'x', role: 'auditor' }, []],
    ['DELETE', `/administrators/01890a5d-ac96-774b-bcce-b302099a8057`, undefined, []],
  ]

  test.each(['auditor', 'editor', 'administrator'])('%s may use its endpoints and no others', async (role) => {
    const caller = await person(role)
    for (const [method, path, body, allowed] of ENDPOINTS) {
      if (path.includes('ID')) await put({ key: 'R', env: 'roles', value: 'v' })
      const id = path.includes('ID') ? await idOf('R', 'roles') : ''
      const answer = await as(caller, method, path.replace('ID', id), body)
      // Any other status was decided after the permission: 404 for a key or a project that does not exist.
      expect([method, path, answer.status === FORBIDDEN]).toEqual([method, path, !allowed.includes(role)])
    }
  })

  test('an editor reaches only the projects in their list', async () => {
    const editor = await person('editor', ['blog'])
    await put({ key: 'A', env: 'foreign', value: 'v' })
    const id = await idOf('A', 'foreign')
    const refused = await Promise.all([
      as(editor, 'PUT', '/projects/shop/secrets', { key: 'A', env: 'foreign', value: 'w' }),
      as(editor, 'POST', '/projects/shop/secrets/copy', { from: 'foreign', to: 'copied' }),
      as(editor, 'PUT', '/projects/no-such-project/secrets', { key: 'A', env: 'foreign', value: 'w' }),
    ])
    expect(refused.map(statusAndError)).toEqual(Array(3).fill([403, 'forbidden']))
    const absent = await Promise.all([
      as(editor, 'PATCH', `/secrets/${id}`, { note: 'n' }),
      as(editor, 'DELETE', `/secrets/${id}`),
      as(editor, 'POST', `/secrets/${id}/versions/1/restore`),
    ])
    expect(absent.map(statusAndError)).toEqual(Array(3).fill([404, 'not_found']))
    expect(await values('foreign')).toEqual({ A: 'v' })
    expect((await as(editor, 'PUT', '/projects/blog/secrets', { key: 'A', env: 'e', value: 'w' })).status).toBe(200)
  })
})

test('stores a value as an editor, who is named in the audit log', async () => {
  const editor = await person('editor', ['shop'])
  const stored = await as(editor, 'PUT', '/projects/shop/secrets', { key: 'DB', env: 'stored', value: 'postgres://x' })
  expect(stored).toMatchObject({ status: 200, body: { ok: true, version: 1 } })
  expect(Object.keys(stored.body as object)).toEqual(['ok', 'version'])
  expect(await values('stored')).toEqual({ DB: 'postgres://x' })
  const actor = `administrator:${editor.id}`
  expect(await newestEntry('action=put&key=DB')).toMatchObject({ actor, env: 'stored', detail: { version: 1 } })
  expect(await newestEntry('action=put&key=DB')).not.toHaveProperty('detail.generated')
  await as(editor, 'DELETE', `/secrets/${await idOf('DB', 'stored')}`)
  expect(await newestEntry('action=delete&key=DB')).toMatchObject({ actor })
  const again = await as(editor, 'PUT', '/projects/shop/secrets', { key: 'DB', env: 'stored', value: 'y' })
  expect(again.body).toEqual({ ok: true, version: 2 })
})

test('stores values also if the project requires a content digest of its applications', async () => {
  await createProject(vault.url, 'strict', { requireContentDigest: true })
  expect((await put({ key: 'A', env: 'e', value: 'v' }, 'strict')).body).toEqual({ ok: true, version: 1 })
})

test('keeps every version of writes by editors and the application at the same time', async () => {
  const editors = await Promise.all(['editor', 'administrator'].map((role) => person(role)))
  const written = await Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      const body = { key: 'HOT', env: 'hot', value: `v${String(i)}` }
      const editor = editors[i % 3]
      const answer =
        editor === undefined
          ? await signed('shop', key, 'PUT', body)
          : await as(editor, 'PUT', '/projects/shop/secrets', body)
      return answer.status
    }),
  )
  expect(written).toEqual(Array(12).fill(200))
  expect((await put({ key: 'HOT', env: 'hot', value: 'last' })).body).toEqual({ ok: true, version: 13 })
  expect(await values('hot')).toEqual({ HOT: 'last' })
  expect((await admin(vault.url, 'GET', `/secrets/${await idOf('HOT', 'hot')}/versions`)).body).toHaveLength(5)
})

describe('a generated value', () => {
  test.each([
    ['32 letters and digits by default', {}, /^[A-Za-z0-9]{32}$/],
    ['hex digits', { length: 64, charset: 'hex' }, /^[0-9a-f]{64}$/],
    ['base64url', { length: 43, charset: 'base64url' }, /^[A-Za-z0-9_-]{43}$/],
    ['printable ASCII', { length: 4096, charset: 'ascii-printable' }, /^[!-~]{4096}$/],
    ['characters of a set of its own', { length: 8, charset: 'ab😀' }, /^[ab😀]{8}$/u],
  ])('has %s', async (_name, generate, pattern) => {
    expect((await put({ key: 'G', env: 'generated', generate })).status).toBe(200)
    expect(await values('generated')).toEqual({ G: expect.stringMatching(pattern) })
  })

  test('is in no answer, log line, metric or audit entry', async () => {
    const own = await createProject(vault.url, 'secretive')
    const answer = await put({ key: 'G', env: 'production', generate: { length: 40 } }, 'secretive')
    expect(answer.body).toEqual({ ok: true, version: 1 })
    const { G: value } = (await signed('secretive', own)).body as { G: string }
    expect(value).toMatch(/^[A-Za-z0-9]{40}$/)
    const id = await idOf('G', 'production', 'secretive')
    const texts = [
      vault.logged(),
      JSON.stringify(await vault.sql('select to_jsonb(a) as entry from audit a')),
      JSON.stringify((await admin(vault.url, 'GET', '/audit?action=all&limit=1000')).body),
      JSON.stringify(await list('production', 'secretive')),
      JSON.stringify((await admin(vault.url, 'GET', `/secrets/${id}/versions`)).body),
      await (await fetch(`${vault.url}/metrics`)).text(),
    ]
    for (const text of texts) expect(text.includes(value)).toBe(false)
    expect(await newestEntry('action=put&projectId=secretive')).toMatchObject({
      actor: 'administrator',
      detail: { key: 'G', generated: true },
    })
  })
})

describe('refuses a write', () => {
  test.each([
    ['without value and generation', { key: 'k', env: 'bad' }],
    ['with both', { key: 'k', env: 'bad', value: 'v', generate: {} }],
    ['of 7 generated characters', { key: 'k', env: 'bad', generate: { length: 7 } }],
    ['of 4,097 generated characters', { key: 'k', env: 'bad', generate: { length: 4_097 } }],
    ['of half a character', { key: 'k', env: 'bad', generate: { length: 8.5 } }],
    ['of a single character', { key: 'k', env: 'bad', generate: { charset: 'a' } }],
    ['of a character that is listed twice', { key: 'k', env: 'bad', generate: { charset: 'alpha-numeric' } }],
    ['of control characters', { key: 'k', env: 'bad', generate: { charset: 'ab\n' } }],
    ['with an unknown member', { key: 'k', env: 'bad', value: 'v', version: 3 }],
    ['with an unknown member of the generation', { key: 'k', env: 'bad', generate: { size: 9 } }],
    ['without a key', { env: 'bad', value: 'v' }],
    ['with a value over 64 KiB', { key: 'k', env: 'bad', value: 'x'.repeat(65_537) }],
    ['with a lone surrogate', '{"key":"k","env":"bad","value":"\\ud800"}'],
    ['with a malformed environment', { key: 'k', env: 'a b', value: 'v' }],
    ['with an empty note', { key: 'k', env: 'bad', value: 'v', note: '' }],
    ['with a note of 501 characters', { key: 'k', env: 'bad', value: 'v', note: 'n'.repeat(501) }],
    ['with a line break in the owner', { key: 'k', env: 'bad', value: 'v', owner: 'a\nb' }],
    ['with an owner of 101 characters', { key: 'k', env: 'bad', value: 'v', owner: 'o'.repeat(101) }],
    ['with an expiry without a zone', { key: 'k', env: 'bad', value: 'v', expiresAt: '2027-01-01T00:00:00' }],
    ['with an expiry that is a date', { key: 'k', env: 'bad', value: 'v', expiresAt: '2027-01-01' }],
    ['with an expiry in the year 0', { key: 'k', env: 'bad', value: 'v', expiresAt: '0000-01-01T00:00:00Z' }],
    ['with an expiry in the year 10000', { key: 'k', env: 'bad', value: 'v', expiresAt: '9999-12-31T23:00:00-02:00' }],
  ])('%s', async (_name, body) => {
    expect(statusAndError(await put(body))).toEqual([400, 'invalid_request'])
    expect(await list('bad')).toEqual([])
  })

  test('to an unknown project', async () => {
    expect(statusAndError(await put({ key: 'k', env: 'e', value: 'v' }, 'unknown'))).toEqual([404, 'not_found'])
    expect(statusAndError(await put({ key: 'k', env: 'e', value: 'v' }, 'a%20b'))).toEqual([404, 'not_found'])
  })

  test('beyond the limits of a project', async () => {
    await createProject(vault.url, 'small')
    for (let i = 0; i < 20; i++) await put({ key: `K${String(i)}`, env: 'e', value: 'v' }, 'small')
    expect(statusAndError(await put({ key: 'K20', env: 'e', value: 'v' }, 'small'))).toEqual([413, 'payload_too_large'])
    expect((await put({ key: 'K19', env: 'e', value: 'w' }, 'small')).body).toEqual({ ok: true, version: 2 })
    for (let i = 1; i < 12; i++) await put({ key: 'K', env: `e${String(i)}`, value: 'v' }, 'small')
    expect(statusAndError(await put({ key: 'K', env: 'e12', value: 'v' }, 'small'))).toEqual([413, 'payload_too_large'])
    const large = '"'.repeat(600_000)
    expect(statusAndError(await put({ key: 'K', env: 'e', value: large }, 'small'))).toEqual([413, 'payload_too_large'])
  })
})

describe('the details of a secret', () => {
  const details = { note: 'Created by hand; see runbook “payments”.', owner: 'team-payments' }

  test('are listed only where they are recorded', async () => {
    await put({ key: 'PLAIN', env: 'details', value: 'v' })
    await put({ key: 'FULL', env: 'details', value: 'v', ...details, expiresAt: '2027-01-31T12:00:00+01:00' })
    const [full, plain] = await list('details')
    expect(full).toEqual({
      ...{ id: expect.any(String), key: 'FULL', env: 'details', updatedAt: expect.any(String) },
      ...{ ...details, expiresAt: '2027-01-31T11:00:00.000Z' },
    })
    expect(Object.keys(plain ?? {})).toEqual(['id', 'key', 'env', 'updatedAt'])
  })

  test('are kept by an overwrite, changed by its members and removed by null', async () => {
    const base = { key: 'KEPT', env: 'kept' }
    await signed('shop', key, 'PUT', { ...base, value: 'one', ...details, expiresAt: '2027-01-31T12:00:00Z' })
    await signed('shop', key, 'PUT', { ...base, value: 'two' })
    await put({ ...base, generate: {} })
    expect(await list('kept')).toMatchObject([{ ...details, expiresAt: '2027-01-31T12:00:00.000Z' }])
    await signed('shop', key, 'PUT', { ...base, value: 'three', owner: 'ada', expiresAt: null })
    const [changed] = await list('kept')
    expect(changed).toMatchObject({ note: details.note, owner: 'ada' })
    expect(changed).not.toHaveProperty('expiresAt')
    await admin(vault.url, 'POST', `/secrets/${changed?.id ?? ''}/versions/1/restore`)
    expect(await list('kept')).toMatchObject([{ note: details.note, owner: 'ada' }])
  })

  test('are edited without a new version, by an administrator named in the audit log', async () => {
    await put({ key: 'E', env: 'edited', value: 'v', note: 'old', owner: 'ada' })
    const [before] = await list('edited')
    const editor = await person('editor')
    const path = `/secrets/${before?.id ?? ''}`
    const note = '🔑'.repeat(500)
    const changed = await as(editor, 'PATCH', path, { note, owner: null, expiresAt: '2020-01-01T00:00:00Z' })
    expect(changed.body).toEqual({ ok: true })
    expect(await list('edited')).toEqual([
      {
        id: before?.id,
        key: 'E',
        env: 'edited',
        updatedAt: before?.updatedAt,
        note,
        expiresAt: '2020-01-01T00:00:00.000Z',
      },
    ])
    expect(await values('edited')).toEqual({ E: 'v' })
    const entry = await newestEntry('action=annotate')
    expect(entry).toMatchObject({
      ...{ actor: `administrator:${editor.id}`, projectId: 'shop', env: 'edited' },
      detail: { key: 'E', changed: 'note,owner,expiresAt' },
    })
    expect(JSON.stringify(entry)).not.toContain('🔑')
    expect(vault.logged()).not.toContain('🔑')
  })

  test('are deleted with their secret', async () => {
    await put({ key: 'D', env: 'dropped', value: 'v', ...details })
    await admin(vault.url, 'DELETE', `/secrets/${await idOf('D', 'dropped')}`)
    await put({ key: 'D', env: 'dropped', value: 'v' })
    expect((await list('dropped'))[0]).not.toHaveProperty('note')
  })

  test.each([
    ['nothing', {}],
    ['no body', undefined],
    ['an unknown member', { value: 'v' }],
    ['an empty owner', { owner: '' }],
    ['a note with NUL', { note: 'a\0b' }],
    ['a lone surrogate', '{"note":"\\udc00"}'],
    ['a number for the expiry', { expiresAt: 1 }],
    ['a day that does not exist', { expiresAt: '2027-02-30T00:00:00Z' }],
  ])('are not changed by %s', async (_name, body) => {
    await put({ key: 'P', env: 'patched', value: 'v', ...details })
    const path = `/secrets/${await idOf('P', 'patched')}`
    expect(statusAndError(await admin(vault.url, 'PATCH', path, body))).toEqual([400, 'invalid_request'])
    expect(await list('patched')).toMatchObject([details])
  })

  test('of an unknown secret are not found', async () => {
    for (const id of ['no-id', '01890a5d-ac96-774b-bcce-b302099a8057'])
      expect(statusAndError(await admin(vault.url, 'PATCH', `/secrets/${id}`, { note: 'n' }))).toEqual([
        404,
        'not_found',
      ])
  })
})

test('rows verify accepts all written secrets', async () => {
  await vault.seal()
  expect(await rows(vault, 'verify')).toMatchObject({ status: 0 })
  expect(await audit(vault, 'verify')).toMatchObject({ status: 0 })
})
