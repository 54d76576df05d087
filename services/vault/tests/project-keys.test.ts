import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  admin,
  createProject,
  fingerprintOf,
  type Key,
  keyOf,
  newKey,
  send,
  signedSend,
  signerOf,
  statusAndError,
} from './support/client.ts'
import { type OidcIssuer, startOidcIssuer } from './support/oidc-issuer.ts'
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

describe('scopes', () => {
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
})

describe('a team', () => {
  const PEOPLE = ['dana', 'erin', 'finn', 'gina', 'hugo'] as const
  const LEAVER = 'dana'
  const AUDIENCE = 'https://vault.example.org'
  /** How often each of them fetches and stores in a phase. */
  const ROUNDS = 3

  type Phase = 'before' | 'during' | 'after'
  type Member = { readonly name: string; readonly key: Key; readonly done: Record<Phase, number> }

  let issuer: OidcIssuer
  let replicas: readonly [TestVault, TestVault]

  beforeAll(async () => {
    issuer = await startOidcIssuer()
    const env = { OIDC_ALLOW_LOOPBACK: 'true' }
    replicas = [await vault.replica(env), await vault.replica(env)]
  })
  afterAll(async () => {
    for (const replica of replicas) await replica.stop()
    await issuer.stop()
  })

  const at = (round: number): string => replicas[round % 2 === 0 ? 0 : 1].url

  const request = ({ key }: Pick<Member, 'key'>, round: number, method = 'GET', body?: object, path = '') =>
    signedSend({ project: 'shop', key, method, url: `${at(round)}/v1/secrets${path}`, body })

  /** A key for an ID token of CI. */
  async function exchange(round: number): Promise<Key> {
    const key = newKey()
    const { status } = await send(`${at(round)}/v1/keys/exchange`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ idToken: await issuer.sign({ aud: AUDIENCE }), publicKey: key.publicKeyHex }),
    })
    expect(status).toBe(201)
    return key
  }

  /** Fetches and stores in turns, at both replicas. All requests have to be answered as usual. */
  async function work(member: Member, phase: Phase): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const value = `${phase}-${String(round)}`
      const put = await request(member, round, 'PUT', { key: `OF_${member.name}`, value, env: 'production' })
      expect([put.status, put.body]).toEqual([200, { ok: true }])
      const fetched = await request(member, round + 1)
      expect([fetched.status, fetched.body]).toEqual([200, expect.objectContaining({ [`OF_${member.name}`]: value })])
      member.done[phase] += 1
    }
  }

  test('one of five people leaves a project that CI also uses, and no one else notices', async () => {
    const defaultKey = await createProject(at(0), 'shop')
    const people: Member[] = []
    for (const [i, name] of PEOPLE.entries()) {
      const key = newKey()
      const added = await admin(at(i), 'POST', '/projects/shop/keys', { name, publicKey: key.publicKeyHex })
      expect(added.status).toBe(201)
      people.push({ name, key, done: { before: 0, during: 0, after: 0 } })
    }
    const rule = { name: 'ci', issuer: issuer.url, audience: AUDIENCE, claims: { sub: 'repo:octo-org/shop:*' } }
    const scope = { access: 'read-write', envs: ['production'] }
    expect((await admin(at(1), 'POST', '/projects/shop/trust-rules', { ...rule, scope })).status).toBe(201)
    const ci: Member = { name: 'ci', key: await exchange(0), done: { before: 0, during: 0, after: 0 } }
    const leaver = people.find(({ name }) => name === LEAVER)
    if (leaver === undefined) throw new Error(`${LEAVER} is not one of them`)
    const others = [...people.filter((member) => member !== leaver), ci]

    await Promise.all([leaver, ...others].map((member) => work(member, 'before')))

    // Clients that wait at both replicas while the key is revoked.
    await request({ key: defaultKey }, 0, 'PUT', { key: 'QUIET', value: '1', env: 'staging' })
    const { body } = await request({ key: defaultKey }, 0, 'GET', undefined, '/changes?env=staging')
    const since = (body as { version: string }).version
    const waiting = [0, 1].map((round) =>
      request({ key: defaultKey }, round, 'GET', undefined, `/changes?env=staging&wait=30&since=${since}`),
    )
    const leaverWaits = request(leaver, 1, 'GET', undefined, `/changes?env=staging&wait=30&since=${since}`)

    const revoke = async (): Promise<void> => {
      const keys = (await admin(at(0), 'GET', '/projects/shop/keys')).body as { name: string; fingerprint: string }[]
      const fingerprint = keys.find(({ name }) => name === LEAVER)?.fingerprint ?? ''
      expect((await admin(at(0), 'DELETE', `/projects/shop/keys/${fingerprint}`)).status).toBe(200)
      for (const round of [0, 1])
        expect(statusAndError(await request(leaver, round))).toEqual([401, 'invalid_signature'])
    }
    await Promise.all([...others.map((member) => work(member, 'during')), revoke()])

    await Promise.all(others.map((member) => work(member, 'after')))
    // A new job gets a key as before.
    await work({ ...ci, key: await exchange(1) }, 'after')
    for (const round of [0, 1]) {
      expect(statusAndError(await request(leaver, round))).toEqual([401, 'invalid_signature'])
      const write = await request(leaver, round, 'PUT', { key: 'OF_dana', value: 'later', env: 'production' })
      expect(statusAndError(write)).toEqual([401, 'invalid_signature'])
    }

    await request({ key: defaultKey }, 1, 'PUT', { key: 'QUIET', value: '2', env: 'staging' })
    for (const answer of await Promise.all(waiting)) expect(answer.body).toMatchObject({ changed: ['QUIET'] })
    expect(statusAndError(await leaverWaits)).toEqual([401, 'invalid_signature'])

    // The audit log names each of them for each of their requests.
    for (const member of [leaver, ...others]) {
      const listed = await admin(at(1), 'GET', `/audit?action=all&limit=1000&keyName=${member.name}`)
      const entries = listed.body as { action: string; keyName: string }[]
      const count = (action: string): number => entries.filter((entry) => entry.action === action).length
      const { before, during } = member.done
      const expected = member === leaver ? before : before + during + (member === ci ? 2 : 1) * ROUNDS
      expect({ name: member.name, put: count('put'), fetch: count('fetch') }).toEqual({
        ...{ name: member.name, put: expected, fetch: expected },
      })
    }
    const fetched = (await request({ key: defaultKey }, 0)).body
    expect(fetched).toMatchObject({ OF_dana: `before-${String(ROUNDS - 1)}`, OF_ci: `after-${String(ROUNDS - 1)}` })
    const counted = await Promise.all(replicas.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()))
    for (const metrics of counted) expect(metrics).toMatch(/^vault_ended_key_requests_total\{state="revoked"\} [1-9]/m)
  })
})
