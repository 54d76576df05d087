import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { admin } from './support/client.ts'
import { type CommandWorld, runCommand, startForCommand } from './support/command.ts'
import { ADMIN_TOKEN } from './support/vault.ts'

// The `vault` command for administrators.
let world: CommandWorld

beforeAll(async () => {
  world = await startForCommand()
})

afterAll(() => world.vault.stop())

const vault = (...args: string[]) => runCommand({ ...world.env, VAULT_ADMIN_TOKEN: ADMIN_TOKEN }, args)

type Key = { name: string; state: string; fingerprint: string; until: string | null; scope: object }
const keysOf = async (project: string): Promise<readonly Key[]> =>
  (await admin(world.vault.url, 'GET', `/projects/${project}/keys`)).body as Key[]
const register = (project: string, ...scope: string[]): Promise<unknown> =>
  vault('admin', 'projects', 'add', project, '--public-key', generateKeyPair().publicKeyHex, ...scope)

test('a rotation keeps the scope, and shows it with the end of the replaced key', async () => {
  await register('narrow', '--access', 'read', '--envs', 'production,staging')
  const { status, out, err } = await vault('admin', 'rotate', 'narrow')
  expect([status, JSON.parse(out)]).toEqual([0, expect.objectContaining({ kty: 'OKP' })])
  const [added, replaced] = await keysOf('narrow')
  expect([added?.until, added?.scope]).toEqual([null, { access: 'read', envs: ['production', 'staging'] }])
  const [, until = ''] =
    /^vault: the new key may read in the environments production, staging; the replaced key is active until (\S+)\n$/.exec(
      err,
    ) ?? []
  expect(Math.abs(Date.parse(until) - Date.parse(replaced?.until ?? ''))).toBeLessThan(10_000)
})

test('an option of a rotation replaces only its part of the scope', async () => {
  await register('partly', '--access', 'read', '--envs', 'production')
  const wider = await vault('admin', 'rotate', 'partly', '--access', 'read-write', '--overlap', '0')
  expect(wider.err).toBe(
    'vault: the new key may read and write in the environment production; the replaced key is revoked\n',
  )
  expect(await keysOf('partly')).toMatchObject([{ scope: { access: 'read-write', envs: ['production'] } }])
  const all = await vault('admin', 'rotate', 'partly', '--all-envs', '--overlap', '0')
  expect(all.err).toContain('the new key may read and write in all environments;')
  await vault('admin', 'rotate', 'partly', '--envs', 'staging', '--access', 'write', '--overlap', '0')
  expect(await keysOf('partly')).toMatchObject([{ scope: { access: 'write', envs: ['staging'] } }])
})

test('a rotation continues a revoked default key, with its scope', async () => {
  await register('ended', '--access', 'read', '--envs', 'staging')
  const revoke = async () => vault('admin', 'revoke', 'ended', (await keysOf('ended'))[0]?.fingerprint ?? '')
  await revoke()
  const continued = await vault('admin', 'rotate', 'ended')
  expect([continued.status, continued.err]).toEqual([0, 'vault: the new key may read in the environment staging\n'])
  expect(await keysOf('ended')).toMatchObject([{ scope: { access: 'read', envs: ['staging'] } }])
  await revoke()
  expect((await vault('admin', 'rotate', 'ended', '--access', 'write')).status).toBe(0)
  expect(await keysOf('ended')).toMatchObject([{ scope: { access: 'write', envs: ['staging'] } }])
})

test('a rotation sends a scope only if an option changes it, so that no other change of it is undone', async () => {
  await register('meanwhile', '--access', 'read-write')
  const bodies: object[] = []
  const proxy = createServer((request, response) => {
    void (async () => {
      const { method = 'GET', url = '', headers } = request
      const body = await text(request)
      if (method === 'PUT') bodies.push(JSON.parse(body) as object)
      const answer = await fetch(`${world.vault.url}${url}`, {
        method,
        headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
        ...(body !== '' && { body }),
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })()
  })
  await new Promise<void>((resolve) => proxy.unref().listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`
  const rotate = (...options: string[]) => vault('admin', 'keys', 'rotate', 'meanwhile', ...options, '--url', url)
  expect((await rotate('--overlap', '5m')).status).toBe(0)
  expect((await rotate('--envs', 'staging')).status).toBe(0)
  expect(bodies).toEqual([{ overlap: 300 }, { overlap: 600, scope: { access: 'read-write', envs: ['staging'] } }])
  proxy.closeAllConnections()
  await new Promise((resolve) => proxy.close(resolve))
})

test('refuses some and all environments together', async () => {
  expect(await vault('admin', 'rotate', 'shop', '--envs', 'staging', '--all-envs')).toMatchObject({
    status: 2,
    err: expect.stringContaining('use either --envs or --all-envs'),
  })
  expect(await keysOf('shop')).toHaveLength(1)
})

test('adds keys, rotates one, and revokes one by its name', async () => {
  await register('team')
  const dana = await vault('admin', 'keys', 'add', 'team', 'dana', '--access', 'read', '--envs', 'staging')
  expect([dana.status, JSON.parse(dana.out)]).toEqual([0, expect.objectContaining({ kty: 'OKP' })])
  expect(dana.err).toBe('vault: the new key may read in the environment staging\n')
  const file = join(mkdtempSync(join(tmpdir(), 'keys-')), 'ci.key')
  const ci = await vault('admin', 'keys', 'add', 'team', 'ci', '--expires', '90d', '--output', file)
  expect([ci.status, ci.out]).toEqual([0, 'Added the key ci to team.\n'])
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ kty: 'OKP', crv: 'Ed25519' })
  const [added] = await keysOf('team')
  expect(Math.abs(Date.parse(added?.until ?? '') - Date.now() - 90 * 86_400_000)).toBeLessThan(60_000)
  expect(ci.err).toBe(`vault: the new key may read and write in all environments until ${added?.until ?? ''}\n`)

  // A rotation keeps the expiry, and can end it. The other keys stay.
  await vault('admin', 'keys', 'rotate', 'team', 'ci', '--overlap', '0')
  expect((await keysOf('team'))[0]).toMatchObject({ name: 'ci', until: added?.until, scope: added?.scope })
  const lasting = await vault('admin', 'keys', 'rotate', 'team', 'ci', '--lasting')
  expect(lasting.status).toBe(0)
  expect((await keysOf('team')).map(({ name, state, until }) => [name, state, until === null])).toEqual([
    ['ci', 'active', true],
    ['ci', 'replaced', false],
    ['dana', 'active', true],
    ['default', 'active', true],
  ])

  const revoked = await vault('admin', 'keys', 'revoke', 'team', 'ci')
  expect([revoked.status, revoked.out]).toEqual([
    0,
    expect.stringMatching(/^(Revoked key [0-9a-f]{32} of team\.\n){2}$/),
  ])
  expect((await keysOf('team')).map(({ name }) => name)).toEqual(['dana', 'default'])
  const all = JSON.parse((await vault('admin', 'keys', 'list', 'team', '--json', '--ended')).out) as Key[]
  expect(all.map(({ name, state }) => [name, state])).toEqual([
    ...[1, 2, 3].map(() => ['ci', 'revoked']),
    ['dana', 'active'],
    ['default', 'active'],
  ])
  // Without a subcommand, keys are listed.
  expect((await vault('admin', 'keys', 'team')).out).toMatch(/^NAME +STATE +FINGERPRINT .*\ndana +active /)
})

test('refuses names that are taken or unknown', async () => {
  await register('names')
  await vault('admin', 'keys', 'add', 'names', 'dana')
  const refused = async (...args: string[]) => {
    const { status, err } = await vault('admin', 'keys', ...args)
    return [status, err]
  }
  expect(await refused('add', 'names', 'dana')).toEqual([1, expect.stringMatching(/with this name.*key_exists/)])
  expect(await refused('rotate', 'names', 'bob')).toEqual([1, expect.stringContaining('(not_found)')])
  expect(await refused('revoke', 'names', 'bob')).toEqual([1, expect.stringContaining('no active key bob')])
  expect(await refused('rotate', 'names', 'dana', '--expires', '1d', '--lasting')).toEqual([2, expect.any(String)])
  expect(await refused('add', 'names', 'eve', '--public-key', '00', '--output', 'x')).toEqual([2, expect.any(String)])
  expect((await keysOf('names')).map(({ name }) => name)).toEqual(['dana', 'default'])
})

test('shows the audit log with actors and filters', async () => {
  await world.client.put('COLOUR', 'green')
  await world.client.put('COLOUR', 'red', 'staging')
  const [key] = await keysOf('shop')
  const actor = `key:${key?.fingerprint ?? ''}`
  const lines = async (...filters: string[]): Promise<readonly string[]> =>
    (await vault('admin', 'audit', '--project', 'shop', ...filters)).out.trimEnd().split('\n')
  const [head, ...all] = await lines()
  expect(head).toMatch(/^TIME +PROJECT +ACTION +ENV +KEY +ACTOR +KEY NAME +IP +ID +DETAIL$/)
  expect(all.join('\n')).toMatch(/ read .* administrator .* what=keys/)
  expect(all.join('\n')).toMatch(/ project\.create /)
  const [, put, ...others] = await lines('--key', 'COLOUR', '--env', 'staging', '--actor', actor, '--since', '1h')
  expect(put).toMatch(new RegExp(` shop +put +staging +COLOUR +${actor} +default +127\\.0\\.0\\.1 .* version=1`))
  expect(others).toEqual([])
  expect(await lines('--action', 'put')).toHaveLength(3)
  expect(await lines('--action', 'put', '--key-name', 'default')).toHaveLength(3)
  expect(await lines('--action', 'put', '--key-name', 'dana')).toHaveLength(1)
  expect(await lines('--since', new Date(Date.now() + 60_000).toISOString())).toHaveLength(1)
})

test('lists sessions, and revokes one or all', async () => {
  const { sessions } = world.vault.context.useCases
  for (const subject of ['ada', 'grace', 'eve'])
    await sessions.begin({
      subject,
      name: subject,
      roles: ['auditor'],
      issuer: 'https://id.example.org',
      address: '::1',
    })
  const listed = async () =>
    JSON.parse((await vault('admin', 'sessions', '--json')).out) as { id: string; actor: string }[]
  const [ada] = await listed()
  expect(ada).toMatchObject({ actor: 'oidc:ada', name: 'ada', roles: ['auditor'] })
  expect(await vault('admin', 'sessions', 'revoke', ada?.id ?? '')).toMatchObject({ status: 0 })
  expect((await listed()).map(({ actor }) => actor)).toEqual(['oidc:grace', 'oidc:eve'])
  expect((await vault('admin', 'sessions', 'revoke', ada?.id ?? '')).status).not.toBe(0)
  expect(await vault('admin', 'sessions', 'revoke-all')).toMatchObject({ status: 2 })
  expect(await vault('admin', 'sessions', 'revoke-all', '--yes')).toMatchObject({ status: 0 })
  expect(await listed()).toEqual([])
})

test('adds an administrator, and removes one by name or id with --yes without a terminal', async () => {
  const add = ['admin', 'administrators', 'add', 'Ada', '--role', 'auditor', '--projects', 'shop', '--expires', '30d']
  const added = await vault(...add)
  const [ada] = JSON.parse((await vault('admin', 'administrators', '--json')).out) as {
    id: string
    expiresAt: string
  }[]
  const id = ada?.id ?? ''
  expect(added.out).toMatch(/^\S{20,}\n$/)
  expect(added.err).toBe(
    `vault: added Ada with the id ${id} and the role auditor; projects: shop; until ${ada?.expiresAt ?? ''}\n`,
  )
  const again = await vault('admin', 'administrators', 'add', 'Ada', '--role', 'administrator')
  expect(again.status).toBe(0)
  expect(again.err).toMatch(
    /^vault: warning: another administrator is named Ada: [-0-9a-f]{36}\nvault: added Ada with the id [-0-9a-f]{36} and the role administrator\n$/,
  )
  expect(again.err).toContain(`is named Ada: ${id}\n`)
  expect(await vault('admin', 'administrators', 'rm', id)).toMatchObject({
    status: 2,
    err: expect.stringContaining('--yes is required'),
  })
  expect((await vault('admin', 'administrators', 'rm', 'Ada', '--yes')).status).toBe(1)
  expect((await vault('admin', 'administrators', 'rm', id, '--yes')).status).toBe(0)
  expect((await vault('admin', 'administrators', 'rm', 'Ada', '--yes')).status).toBe(0)
  const gone = await vault('admin', 'administrators', 'rm', 'Ada', '--yes', '--json')
  expect([gone.status, JSON.parse(gone.err)]).toMatchObject([1, { error: 'not_found' }])
})

test('manages the webhooks of a project', async () => {
  await register('hooked')
  const url = 'https://receiver.example/vault?token=of-the-receiver'
  const added = await vault('admin', 'webhooks', 'add', 'hooked', url, '--json')
  const { id } = JSON.parse(added.out) as { id: string }
  const listed = await vault('admin', 'webhooks', 'hooked')
  expect(listed.out).toContain('https://receiver.example/vault')
  expect(listed.out).not.toContain('of-the-receiver')
  expect(
    (
      await vault(
        'admin',
        'webhooks',
        'update',
        'hooked',
        id,
        '--disable',
        '--to',
        'https://receiver.example/vault?token=new',
      )
    ).status,
  ).toBe(0)
  const rows = JSON.parse((await vault('admin', 'webhooks', 'list', 'hooked', '--json')).out) as object[]
  expect(rows).toMatchObject([{ id, enabled: false, hasQuery: true }])
  expect((await vault('admin', 'webhooks', 'test', 'hooked', id)).status).toBe(0)
  const deliveries = await vault('admin', 'webhooks', 'deliveries', 'hooked', id, '--json')
  expect(JSON.parse(deliveries.out)).toMatchObject([{ event: 'webhook.test', state: 'waiting' }])
  expect((await vault('admin', 'webhooks', 'key')).out).toMatch(/^[0-9a-f]{64}\n$/)
  expect((await vault('admin', 'webhooks', 'update', 'hooked', id)).status).toBe(2)
  expect((await vault('admin', 'webhooks', 'rm', 'hooked', id, '--yes')).status).toBe(0)
  expect(JSON.parse((await vault('admin', 'webhooks', 'hooked', '--json')).out)).toEqual([])
  expect((await vault('admin', 'webhooks', 'add', 'hooked', 'http://receiver.example/')).err).toContain('https://')
})
