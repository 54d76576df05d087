import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { admin, createProject, type Key, newKey, signedSend, statusAndError } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault

beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

const FORBIDDEN = [403, 'forbidden']

function client(project: string, key: Key) {
  const send = (method: string, path: string, body?: unknown) =>
    signedSend({
      project,
      key,
      method,
      url: `${vault.url}/v1/secrets${path}`,
      body,
    })
  return {
    get: (env: string) => send('GET', `?env=${env}`),
    put: (env: string, name = 'A') => send('PUT', '', { key: name, value: 'v', env }),
    remove: (id: string) => send('DELETE', `/${id}`),
  }
}

async function idOf(project: string, env: string): Promise<string> {
  const { body } = await admin(vault.url, 'GET', `/projects/${project}/secrets?env=${env}`)
  return (body as { id: string }[])[0]?.id ?? ''
}

/** A project with a secret in two environments, and a new key with this scope. */
async function projectWith(name: string, scope: object) {
  const first = client(name, await createProject(vault.url, name))
  for (const env of ['production', 'staging']) expect((await first.put(env)).status).toBe(200)
  const key = newKey()
  const rotation = { publicKey: key.publicKeyHex, overlap: 0, scope }
  expect((await admin(vault.url, 'PUT', `/projects/${name}/rotate`, rotation)).status).toBe(200)
  return { ...client(name, key), key }
}

test('a rotation keeps the scope of the replaced key, which is everything by default', async () => {
  const first = await createProject(vault.url, 'plain')
  expect((await client('plain', first).put('production')).status).toBe(200)
  const read = { access: 'read', envs: ['staging'] }
  const rotate = async (body: object = {}) => {
    const key = newKey()
    const rotation = { publicKey: key.publicKeyHex, ...body }
    expect((await admin(vault.url, 'PUT', '/projects/plain/rotate', rotation)).status).toBe(200)
    return key
  }
  await rotate({ scope: read })
  const next = await rotate()
  expect(statusAndError(await client('plain', next).put('staging'))).toEqual(FORBIDDEN)
  expect((await client('plain', next).get('staging')).status).toBe(200)
  const keys = async () =>
    (await admin(vault.url, 'GET', '/projects/plain/keys')).body as { fingerprint: string; scope: object }[]
  expect((await keys()).map(({ scope }) => scope)).toEqual([read, read, { access: 'read-write', envs: null }])
  for (const { fingerprint } of await keys()) await admin(vault.url, 'DELETE', `/projects/plain/keys/${fingerprint}`)
  const after = await rotate()
  expect(statusAndError(await client('plain', after).put('staging'))).toEqual(FORBIDDEN)
})

test('a key for reading can neither write nor delete', async () => {
  const reader = await projectWith('reader', { access: 'read' })
  expect((await reader.get('production')).body).toEqual({ A: 'v' })
  expect(statusAndError(await reader.put('production'))).toEqual(FORBIDDEN)
  expect(statusAndError(await reader.remove(await idOf('reader', 'production')))).toEqual(FORBIDDEN)
  expect(statusAndError(await reader.remove('no-id'))).toEqual(FORBIDDEN)
  expect((await reader.get('production')).body).toEqual({ A: 'v' })
})

test('a key for writing cannot read', async () => {
  const writer = await projectWith('writer', { access: 'write' })
  expect(statusAndError(await writer.get('production'))).toEqual(FORBIDDEN)
  expect((await writer.put('production', 'B')).status).toBe(200)
  expect((await writer.remove(await idOf('writer', 'staging'))).status).toBe(200)
})

test('a key for one environment has no access to others', async () => {
  const staging = await projectWith('staging', { envs: ['staging'] })
  expect((await staging.get('staging')).body).toEqual({ A: 'v' })
  expect((await staging.put('staging', 'B')).status).toBe(200)
  expect(statusAndError(await staging.get('production'))).toEqual(FORBIDDEN)
  expect(statusAndError(await staging.get('unheard-of'))).toEqual(FORBIDDEN)
  expect(statusAndError(await staging.put('production'))).toEqual(FORBIDDEN)
  expect(statusAndError(await staging.remove(await idOf('staging', 'production')))).toEqual(FORBIDDEN)
  expect((await staging.remove(await idOf('staging', 'staging'))).status).toBe(200)
})

test('records requests refused by a scope, with the key', async () => {
  const reader = await projectWith('noted', { access: 'read' })
  vault.context.background.start()
  for (let i = 0; i < 3; i++) await reader.put('production')
  await vault.context.background.stop()
  const { body } = await admin(vault.url, 'GET', '/audit?action=refused&projectId=noted')
  expect(body).toMatchObject([{ actor: expect.stringMatching(/^key:[0-9a-f]{32}$/), detail: { forbidden: 3 } }])
  expect((await admin(vault.url, 'GET', '/audit?action=put&projectId=noted')).body).toHaveLength(2)
})

test('a narrower scope takes effect at all replicas', async () => {
  const wide = await projectWith('narrowed', { access: 'read-write' })
  const replica = await vault.replica()
  expect((await wide.get('production')).status).toBe(200)
  // The key is removed, and added again with a narrower scope.
  const between = newKey()
  const rotate = (publicKey: string, scope: object) =>
    admin(replica.url, 'PUT', '/projects/narrowed/rotate', { publicKey, overlap: 0, scope })
  expect((await rotate(between.publicKeyHex, {})).status).toBe(200)
  expect((await rotate(wide.key.publicKeyHex, { access: 'write' })).status).toBe(200)
  await replica.stop()
  expect(statusAndError(await wide.get('production'))).toEqual(FORBIDDEN)
})

describe('refuses a scope that', () => {
  test.each([
    ['has an unknown access', { access: 'admin' }],
    ['has no environment', { envs: [] }],
    ['has a malformed environment', { envs: ['a b'] }],
    ['has too many environments', { envs: Array.from({ length: 101 }, (_, i) => `e${String(i)}`) }],
    ['has an unknown member', { access: 'read', env: 'staging' }],
    ['is no object', 'read'],
  ])('%s', async (_name, scope) => {
    const body = { name: 'malformed', publicKey: newKey().publicKeyHex, scope }
    expect(statusAndError(await admin(vault.url, 'POST', '/projects', body))).toEqual([400, 'invalid_request'])
  })
})
