import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, statusAndError as error, send, signerOf } from './support/client.ts'
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
