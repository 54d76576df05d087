import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, statusAndError as error, newKey } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault

beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

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
  ['that is a JWK of another curve', '{"kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}'],
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
  expect((await admin(vault.url, 'POST', '/projects', { name: 'a'.repeat(63), publicKey: publicKeyHex })).status).toBe(
    201,
  )
})
