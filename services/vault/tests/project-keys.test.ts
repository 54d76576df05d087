import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, type Key, newKey, signedSend, statusAndError } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault

beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

const fingerprintOf = (key: Key) =>
  createHash('sha256').update(Buffer.from(key.publicKeyHex, 'hex')).digest('hex').slice(0, 32)
const fetchAs = (project: string, key: Key) =>
  signedSend({
    ...{ project, key, method: 'GET', url: `${vault.url}/v1/secrets` },
  })
const keysOf = async (project: string) => (await admin(vault.url, 'GET', `/projects/${project}/keys`)).body
const FULL = { access: 'read-write', envs: null }

test('lists the valid keys of a project, newest first', async () => {
  const first = await createProject(vault.url, 'listed')
  expect(await keysOf('listed')).toEqual([
    { fingerprint: fingerprintOf(first), since: expect.any(String), until: null, lastUsedAt: null, scope: FULL },
  ])
  const second = newKey()
  await admin(vault.url, 'PUT', '/projects/listed/rotate', { publicKey: second.publicKeyHex })
  expect(await keysOf('listed')).toMatchObject([
    { fingerprint: fingerprintOf(second), until: null },
    { fingerprint: fingerprintOf(first), until: expect.any(String) },
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
