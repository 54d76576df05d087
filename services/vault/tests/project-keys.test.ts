import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  admin,
  createProject,
  fingerprintOf,
  type Key,
  keyOf,
  newKey,
  signedSend,
  signerOf,
  statusAndError,
} from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault

beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

const fetchAs = (project: string, key: Key) =>
  signedSend({
    ...{ project, key, method: 'GET', url: `${vault.url}/v1/secrets` },
  })
const keysOf = async (project: string) => (await admin(vault.url, 'GET', `/projects/${project}/keys`)).body
const FULL = { access: 'read-write', envs: null }

test('lists the valid keys of a project, newest first', async () => {
  const first = await createProject(vault.url, 'listed')
  expect(await keysOf('listed')).toEqual([
    {
      ...{ name: 'default', state: 'active', fingerprint: fingerprintOf(first), scope: FULL },
      ...{ since: expect.any(String), until: null, lastUsedAt: null },
    },
  ])
  const second = newKey()
  await admin(vault.url, 'PUT', '/projects/listed/rotate', { publicKey: second.publicKeyHex })
  expect(await keysOf('listed')).toMatchObject([
    { fingerprint: fingerprintOf(second), state: 'active', until: null },
    { fingerprint: fingerprintOf(first), state: 'replaced', until: expect.any(String) },
  ])
  vault.advance(601_000)
  expect(await keysOf('listed')).toMatchObject([{ fingerprint: fingerprintOf(second) }])
  expect((await admin(vault.url, 'GET', '/projects/unknown/keys')).status).toBe(404)
})

test('refuses a revoked key at all replicas', async () => {
  const first = await createProject(vault.url, 'revoked')
  const second = newKey()
  await admin(vault.url, 'PUT', '/projects/revoked/rotate', { publicKey: second.publicKeyHex })
  const replica = await vault.replica()
  expect((await fetchAs('revoked', first)).status).toBe(200)
  const path = `/projects/revoked/keys/${fingerprintOf(first)}`
  expect((await admin(replica.url, 'DELETE', path)).body).toEqual({ ok: true })
  await replica.stop()
  expect(statusAndError(await fetchAs('revoked', first))).toEqual([401, 'invalid_signature'])
  expect((await fetchAs('revoked', second)).status).toBe(200)
  expect((await admin(vault.url, 'DELETE', path)).status).toBe(404)
  expect(await keysOf('revoked')).toMatchObject([{ fingerprint: fingerprintOf(second) }])
})

test('revokes the only key', async () => {
  const only = await createProject(vault.url, 'locked')
  await admin(vault.url, 'DELETE', `/projects/locked/keys/${fingerprintOf(only)}`)
  expect(statusAndError(await fetchAs('locked', only))).toEqual([401, 'invalid_signature'])
  expect(await keysOf('locked')).toEqual([])
  expect((await admin(vault.url, 'GET', '/projects')).status).toBe(200)
  const next = newKey()
  await admin(vault.url, 'PUT', '/projects/locked/rotate', { publicKey: next.publicKeyHex })
  expect((await fetchAs('locked', next)).status).toBe(200)
})

test('records the key or the administrator of every action', async () => {
  const key = await createProject(vault.url, 'acted')
  await fetchAs('acted', key)
  const url = `${vault.url}/v1/secrets`
  const body = { key: 'A', value: 'v', env: 'production' }
  await signedSend({ project: 'acted', key, method: 'PUT', url, body })
  await admin(vault.url, 'PUT', '/projects/acted/rotate')
  const actorOf = async (action: string) => {
    const { body: entries } = await admin(vault.url, 'GET', `/audit?projectId=acted&action=${action}`)
    return (entries as { actor: string }[]).map(({ actor }) => actor)
  }
  expect(await actorOf('fetch')).toEqual([`key:${fingerprintOf(key)}`])
  expect(await actorOf('put')).toEqual([`key:${fingerprintOf(key)}`])
  expect(await actorOf('rotate')).toEqual(['administrator'])
  expect(await actorOf('project.create')).toEqual(['administrator'])
})

test('shows when a key was last used', async () => {
  const key = await createProject(vault.url, 'used')
  vault.context.background.start()
  await fetchAs('used', key)
  const at = vault.now()
  await vault.context.background.stop()
  const [listed] = (await keysOf('used')) as { lastUsedAt: string }[]
  expect(Math.abs(new Date(listed?.lastUsedAt ?? 0).getTime() - at)).toBeLessThan(60_000)
})

const MINUTE = 60_000

/** A request signed at the time of the vault's clock. */
const signed = signerOf(() => vault)

test('returns a generated private key once, and accepts the old key for ten minutes', async () => {
  const old = await createProject(vault.url, 'rotating')
  const rotated = await admin(vault.url, 'PUT', '/projects/rotating/rotate')
  expect([rotated.status, rotated.headers.get('cache-control')]).toEqual([200, 'no-store'])
  const { ok, privateKey } = rotated.body as { ok: boolean; privateKey: string }
  expect(ok).toBe(true)
  expect(Object.keys(JSON.parse(privateKey) as object).toSorted()).toEqual(['crv', 'd', 'kty', 'x'])
  const fresh = keyOf(privateKey)

  expect((await signed('rotating', fresh)).status).toBe(200)
  expect((await signed('rotating', old)).status).toBe(200)
  vault.advance(10 * MINUTE - 5_000)
  expect((await signed('rotating', old)).status).toBe(200)
  vault.advance(5_000)
  expect(statusAndError(await signed('rotating', old))).toEqual([401, 'invalid_signature'])
  expect((await signed('rotating', fresh)).status).toBe(200)
  const { body } = await admin(vault.url, 'GET', '/projects')
  expect(body).toContainEqual(expect.objectContaining({ id: 'rotating', publicKey: fresh.publicKeyHex }))
})

test('does not extend an overlap by another rotation', async () => {
  const first = await createProject(vault.url, 'twice')
  const rotate = async () =>
    keyOf(((await admin(vault.url, 'PUT', '/projects/twice/rotate')).body as { privateKey: string }).privateKey)
  const second = await rotate()
  vault.advance(6 * MINUTE)
  await rotate()
  vault.advance(5 * MINUTE)
  expect((await signed('twice', first)).status).toBe(401)
  expect((await signed('twice', second)).status).toBe(200)
  vault.advance(6 * MINUTE)
  expect((await signed('twice', second)).status).toBe(401)
})

test('revokes the oldest of more than five valid keys', async () => {
  const keys = [await createProject(vault.url, 'many')]
  for (let i = 0; i < 5; i++) {
    const { body } = await admin(vault.url, 'PUT', '/projects/many/rotate')
    keys.push(keyOf((body as { privateKey: string }).privateKey))
  }
  const statuses = await Promise.all(keys.map(async (key) => (await signed('many', key)).status))
  expect(statuses).toEqual([401, 200, 200, 200, 200, 200])
})

test('ends all older keys immediately with an overlap of 0', async () => {
  const first = await createProject(vault.url, 'leaked')
  await admin(vault.url, 'PUT', '/projects/leaked/rotate')
  const { body } = await admin(vault.url, 'PUT', '/projects/leaked/rotate', { overlap: 0 })
  expect((await signed('leaked', first)).status).toBe(401)
  expect((await signed('leaked', keyOf((body as { privateKey: string }).privateKey))).status).toBe(200)
})

test('does not return a private key for a given public key', async () => {
  await createProject(vault.url, 'own-key')
  const key = newKey()
  const rotated = await admin(vault.url, 'PUT', '/projects/own-key/rotate', { publicKey: key.publicKeyHex })
  expect([rotated.status, rotated.body]).toEqual([200, { ok: true }])
  expect((await signed('own-key', key)).status).toBe(200)
  const again = await admin(vault.url, 'PUT', '/projects/own-key/rotate', { publicKey: key.publicKeyHex })
  expect(statusAndError(again)).toEqual([400, 'invalid_request'])
  const bad = await admin(vault.url, 'PUT', '/projects/own-key/rotate', { publicKey: '00' })
  expect(statusAndError(bad)).toEqual([400, 'invalid_public_key'])
  expect(statusAndError(await admin(vault.url, 'PUT', '/projects/own-key/rotate', { overlap: 601 }))).toEqual([
    400,
    'invalid_request',
  ])
  expect(statusAndError(await admin(vault.url, 'PUT', '/projects/own-key/rotate', { overlap: -1 }))).toEqual([
    400,
    'invalid_request',
  ])
})

test('leaves one current key after two simultaneous rotations', async () => {
  await createProject(vault.url, 'contended')
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => admin(vault.url, 'PUT', '/projects/contended/rotate')),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const keys = answers.map(({ body }) => keyOf((body as { privateKey: string }).privateKey))
  const statuses = await Promise.all(keys.map(async (key) => (await signed('contended', key)).status))
  expect(statuses).toEqual([200, 200, 200, 200])
  vault.advance(10 * MINUTE)
  const later = await Promise.all(keys.map(async (key) => (await signed('contended', key)).status))
  expect(later.toSorted()).toEqual([200, 401, 401, 401])
})
