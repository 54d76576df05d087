import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { admin, createProject, statusAndError as error, newKey, send, signerOf } from './support/client.ts'
import { ADMIN_TOKEN, startVault, type TestVault } from './support/vault.ts'

let vault: TestVault

beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

/** A request signed at the time of the vault's clock. */
const signed = signerOf(() => vault)

test.each([
  ['GET', '/projects'],
  ['POST', '/projects'],
  ['PATCH', '/projects/x'],
  ['DELETE', '/projects/x'],
  ['PUT', '/projects/x/rotate'],
  ['GET', '/projects/x/secrets'],
  ['DELETE', '/secrets/x'],
  ['GET', '/secrets/x/versions'],
  ['POST', '/secrets/x/versions/1/restore'],
  ['GET', '/audit'],
  ['GET', '/nothing'],
])('%s %s requires the admin token', async (method, path) => {
  const url = `${vault.url}/v1/admin${path}`
  const wrong = [
    undefined,
    'Bearer',
    'Bearer ',
    `Bearer ${ADMIN_TOKEN}x`,
    `Bearer ${ADMIN_TOKEN.slice(1)}`,
    ADMIN_TOKEN,
  ]
  for (const authorization of wrong) {
    const answer = await send(url, { method, headers: authorization === undefined ? {} : { authorization } })
    expect(error(answer)).toEqual([401, 'unauthorized'])
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  }
})

test('ignores an admin token in the URL', async () => {
  const answer = await send(`${vault.url}/v1/admin/projects?token=${ADMIN_TOKEN}&access_token=${ADMIN_TOKEN}`)
  expect(answer.status).toBe(401)
})

test('accepts the previous admin token while it is configured', async () => {
  const previous = 'previous-0123456789-abcdefghijklmnop'
  const other = await vault.replica({ ADMIN_TOKEN_PREVIOUS: previous })
  const statusOf = async (token: string) =>
    (await send(`${other.url}/v1/admin/projects`, { headers: { Authorization: `bearer ${token}` } })).status
  try {
    expect([await statusOf(previous), await statusOf(ADMIN_TOKEN)]).toEqual([200, 200])
  } finally {
    await other.stop()
  }
  expect(
    (await send(`${vault.url}/v1/admin/projects`, { headers: { Authorization: `Bearer ${previous}` } })).status,
  ).toBe(401)
})

test.each([
  ['DELETE', '/projects/unknown'],
  ['DELETE', '/projects/%2e%2e'],
  ['DELETE', '/projects/%zz'],
  ['PUT', '/projects/unknown/rotate'],
  ['GET', '/projects/unknown/secrets'],
  ['GET', '/projects/unknown%00/secrets'],
  ['DELETE', '/secrets/unknown'],
  ['DELETE', '/secrets/01890a5d-ac96-774b-bcce-b302099a8057'],
  ['GET', '/secrets/01890a5d-ac96-774b-bcce-b302099a8057/versions'],
  ['POST', '/secrets/01890a5d-ac96-774b-bcce-b302099a8057/versions/1/restore'],
  ['GET', '/projects/'],
  ['GET', '/Projects'],
])('%s %s is not found', async (method, path) => {
  expect(error(await admin(vault.url, method, path))).toEqual([404, 'not_found'])
})

test('deletes a project with its secrets but keeps its audit entries, and a new one of the same name starts empty', async () => {
  const key = await createProject(vault.url, 'gone')
  const secret = { key: 'A', value: 'old', env: 'production' }
  expect((await signed('gone', key, 'PUT', secret)).status).toBe(200)
  expect((await signed('gone', key)).body).toEqual({ A: 'old' })
  const removed = await admin(vault.url, 'DELETE', '/projects/gone')
  expect([removed.status, removed.body]).toEqual([200, { ok: true }])
  expect([(await signed('gone', key)).body]).toEqual([{ error: 'unknown_project' }])
  expect((await admin(vault.url, 'GET', '/audit?projectId=gone')).body).toHaveLength(1)
  const next = await createProject(vault.url, 'gone')
  expect((await signed('gone', next)).body).toEqual({})
})

test('lists secrets without values, optionally by environment', async () => {
  const key = await createProject(vault.url, 'listing')
  for (const [env, name] of [
    ['production', 'B'],
    ['production', 'A'],
    ['staging', 'A'],
  ] as const)
    await signed('listing', key, 'PUT', { key: name, value: `value-${env}`, env })
  const all = await admin(vault.url, 'GET', '/projects/listing/secrets')
  const listed = all.body as { id: string; env: string; key: string; updatedAt: string }[]
  expect(listed.map(({ env, key: name }) => `${env}/${name}`)).toEqual(['production/A', 'production/B', 'staging/A'])
  expect(Object.keys(listed[0] ?? {}).toSorted()).toEqual(['env', 'id', 'key', 'updatedAt'])
  expect(listed[0]?.updatedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(JSON.stringify(listed)).not.toContain('value-')
  const staging = await admin(vault.url, 'GET', '/projects/listing/secrets?env=staging')
  expect(staging.body).toEqual(listed.slice(2))
  expect((await admin(vault.url, 'GET', '/projects/listing/secrets?env=none')).body).toEqual([])
  for (const query of ['env=a&env=b', 'env[]=a', 'env[x]=1', 'env=', 'env=%00', 'env=%ff', 'env=%', 'env=a%0a'])
    expect(error(await admin(vault.url, 'GET', `/projects/listing/secrets?${query}`))).toEqual([400, 'invalid_request'])
})

test('deletes a secret by its id once', async () => {
  const key = await createProject(vault.url, 'cleaning')
  await signed('cleaning', key, 'PUT', { key: 'A', value: '1', env: 'production' })
  const [secret] = (await admin(vault.url, 'GET', '/projects/cleaning/secrets')).body as { id: string }[]
  const removed = await admin(vault.url, 'DELETE', `/secrets/${String(secret?.id)}`)
  expect([removed.status, removed.body]).toEqual([200, { ok: true }])
  expect((await admin(vault.url, 'DELETE', `/secrets/${String(secret?.id)}`)).status).toBe(404)
  expect((await signed('cleaning', key)).body).toEqual({})
})

test('restores an old version as a new one', async () => {
  const key = await createProject(vault.url, 'versions')
  for (const value of ['one', 'two', 'three'])
    await signed('versions', key, 'PUT', { key: 'A', value, env: 'production' })
  const [secret] = (await admin(vault.url, 'GET', '/projects/versions/secrets')).body as { id: string }[]
  const path = `/secrets/${String(secret?.id)}/versions`
  const listed = (await admin(vault.url, 'GET', path)).body as object[]
  const by = { actor: expect.stringMatching(/^key:/), keyName: 'default', createdAt: expect.any(String) }
  expect(listed).toEqual([
    { version: 3, current: true, ...by },
    { version: 2, current: false, ...by },
    { version: 1, current: false, ...by },
  ])
  const restored = await admin(vault.url, 'POST', `${path}/1/restore`)
  expect([restored.status, restored.body]).toEqual([200, { ok: true, version: 4 }])
  expect((await signed('versions', key)).body).toEqual({ A: 'one' })
  const [newest, ...older] = (await admin(vault.url, 'GET', path)).body as object[]
  expect(newest).toEqual({ version: 4, current: true, actor: 'administrator', createdAt: expect.any(String) })
  expect(older).toHaveLength(3)
  for (const version of ['0', '5', '-1', '1.0', '99999999999', 'x', '2147483648'])
    expect((await admin(vault.url, 'POST', `${path}/${version}/restore`)).status).toBe(404)
  const audit = await admin(vault.url, 'GET', '/audit?projectId=versions&action=restore&key=A')
  expect(audit.body).toEqual([
    expect.objectContaining({
      action: 'restore',
      env: 'production',
      detail: { secretId: secret?.id, key: 'A', restored: 1, version: 4, revision: 4 },
    }),
  ])
  await admin(vault.url, 'DELETE', `/secrets/${String(secret?.id)}`)
  expect((await admin(vault.url, 'GET', path)).status).toBe(404)
})

describe('a new project', () => {
  test('lists a project with its name, its key in lower-case hex and its creation time', async () => {
    const before = new Date().toISOString()
    const key = newKey()
    const created = await admin(vault.url, 'POST', '/projects', {
      name: 'Web.1',
      publicKey: key.publicKeyHex.toUpperCase(),
    })
    expect([created.status, created.body]).toEqual([201, { ok: true, id: 'Web.1' }])
    const { body } = await admin(vault.url, 'GET', '/projects')
    const [project] = (body as { id: string; createdAt: string }[]).filter(({ id }) => id === 'Web.1')
    expect(project).toEqual({ id: 'Web.1', name: 'Web.1', publicKey: key.publicKeyHex, createdAt: project?.createdAt })
    expect(project?.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(String(project?.createdAt) >= before).toBe(true)
  })

  test('accepts a public key as a JWK JSON string', async () => {
    const { publicKey } = generateKeyPairSync('ed25519')
    const jwk = publicKey.export({ format: 'jwk' })
    const created = await admin(vault.url, 'POST', '/projects', { name: 'jwk', publicKey: JSON.stringify(jwk) })
    expect(created.status).toBe(201)
    const { body } = await admin(vault.url, 'GET', '/projects')
    expect(body).toContainEqual(
      expect.objectContaining({ id: 'jwk', publicKey: Buffer.from(String(jwk.x), 'base64url').toString('hex') }),
    )
  })

  test.each([
    ['of 63 digits', 'a'.repeat(63)],
    ['of 66 digits', 'a'.repeat(66)],
    ['that is not hex', 'z'.repeat(64)],
    ['that is the identity point, under which anyone can sign', `01${'00'.repeat(31)}`],
    ['of order 8', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'],
    ['that is not on the curve', `02${'00'.repeat(31)}`],
    ['that is not canonical', `ee${'ff'.repeat(30)}7f`],
    ['that is empty', ''],
    ['that is a number', 7],
    ['that is null', null],
    [
      'that is a JWK of another curve',
      '{"kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}',
    ],
    [
      'that is a private JWK',
      '{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}',
    ],
  ])('refuses a public key %s', async (_name, publicKey) => {
    const answer = await admin(vault.url, 'POST', '/projects', { name: 'never', publicKey })
    expect([answer.status, answer.body]).toEqual([400, { error: 'invalid_public_key' }])
  })

  const { publicKeyHex } = newKey()
  test.each([
    ['without a name', { publicKey: publicKeyHex }],
    ['without a key', { name: 'x' }],
    ['with a name that is a number', { name: 1, publicKey: publicKeyHex }],
    ['with an empty name', { name: '', publicKey: publicKeyHex }],
    ['with a name of 64 characters', { name: 'a'.repeat(64), publicKey: publicKeyHex }],
    ['with a name that starts with a dot', { name: '..', publicKey: publicKeyHex }],
    ['with a slash in the name', { name: 'a/b', publicKey: publicKeyHex }],
    ['with a line break after the name', { name: 'a\n', publicKey: publicKeyHex }],
    ['with a member it does not know', { name: 'x', publicKey: publicKeyHex, requireContentDigset: true }],
    ['with an array for a body', []],
    ['with a null body', 'null'],
    ['with a name twice', `{"name":"a","name":"b","publicKey":"${publicKeyHex}"}`],
    ['with a name twice, once escaped', `{"name":"a","na\\u006de":"b","publicKey":"${publicKeyHex}"}`],
    ['with half a body', '{"name":'],
  ])('refuses to create a project %s', async (_name, body) => {
    const answer = await admin(vault.url, 'POST', '/projects', body)
    expect(error(answer)).toEqual([400, 'invalid_request'])
  })

  test('names an unknown member of a body unless it could be a secret', async () => {
    const bodyOf = async (extra: object) =>
      (await admin(vault.url, 'POST', '/projects', { name: 'x', publicKey: publicKeyHex, ...extra })).body
    expect(await bodyOf({ requireContentDigset: true })).toEqual({
      error: 'invalid_request',
      message: 'requireContentDigset: is not a known member.',
    })
    expect(await bodyOf({ 'correct horse battery': true })).toEqual({
      error: 'invalid_request',
      message: 'The body has an unknown member.',
    })
  })

  test('accepts the longest name', async () => {
    expect(
      (await admin(vault.url, 'POST', '/projects', { name: 'a'.repeat(63), publicKey: publicKeyHex })).status,
    ).toBe(201)
  })
})
