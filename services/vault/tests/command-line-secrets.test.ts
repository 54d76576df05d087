import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { temporaryFolder } from '@vault-and-tracker/dev-env'
import { admin, createProject } from './support/client.ts'
import { type CommandWorld, type Outcome, runCommand, startForCommand } from './support/command.ts'
import { ADMIN_TOKEN } from './support/vault.ts'

// The `vault` command for editors, who never see values.
let world: CommandWorld
let token: string

beforeAll(async () => {
  world = await startForCommand()
  const { body } = await admin(world.vault.url, 'POST', '/administrators', { name: 'Ed', role: 'editor' })
  token = (body as { token: string }).token
})

afterAll(() => world.vault.stop())

const vaultWith = (env: Readonly<Record<string, string>>, args: readonly string[], input = '') =>
  runCommand({ ...world.env, ...env }, args, input)

const secrets = (...args: string[]): Promise<Outcome> =>
  vaultWith({ VAULT_ADMIN_TOKEN: token }, ['admin', 'secrets', ...args])
const pipe = (input: string, ...args: string[]): Promise<Outcome> =>
  vaultWith({ VAULT_ADMIN_TOKEN: token }, ['admin', 'secrets', ...args], input)

type Listed = { id: string; key: string; note?: string; owner?: string; expiresAt?: string }
const listed = async (...args: string[]): Promise<readonly Listed[]> =>
  JSON.parse((await secrets('list', 'shop', ...args, '--json')).out) as Listed[]

test('stores a value from standard input or a file, and shows its version', async () => {
  expect(await pipe('correct horse\n', 'set', 'shop', 'PASSPHRASE')).toEqual({
    ...{ status: 0, out: 'Set PASSPHRASE in shop/production, version 1.\n', err: '' },
  })
  const file = join(temporaryFolder('editor'), 'value')
  writeFileSync(file, 'battery\n')
  const json = await secrets('set', 'shop', 'PASSPHRASE', '--env', 'staging', '--from-file', file, '--json')
  expect([json.status, JSON.parse(json.out)]).toEqual([0, { ok: true, version: 1 }])
  expect(await world.client.getAll('production')).toEqual({ PASSPHRASE: 'correct horse' })
  expect(await world.client.getAll('staging')).toEqual({ PASSPHRASE: 'battery\n' })
})

test('takes no value from the command line', async () => {
  const given = await secrets('set', 'shop', 'A', '--value', 'hunter2-on-argv')
  expect([given.status, given.out]).toEqual([2, ''])
  const assigned = await secrets('set', 'shop', 'A=hunter2-on-argv')
  expect([assigned.status, assigned.out]).toEqual([2, ''])
  expect(given.err + assigned.err).not.toContain('hunter2-on-argv')
  expect(await pipe('', 'set', 'shop', 'A')).toMatchObject({ status: 1, out: '' })
  expect(await world.client.getAll('production')).not.toHaveProperty('A')
})

test('generates a value that no output shows', async () => {
  const generated = await secrets('generate', 'shop', 'SESSION', '--env', 'gen', '--length', '64', '--charset', 'hex')
  expect(generated).toEqual({ status: 0, out: 'Generated SESSION in shop/gen, version 1.\n', err: '' })
  const value = (await world.client.get('SESSION', 'gen')) ?? ''
  expect(value).toMatch(/^[0-9a-f]{64}$/)
  await secrets('generate', 'shop', 'SESSION', '--env', 'gen', '--characters', '01')
  expect(await world.client.get('SESSION', 'gen')).toMatch(/^[01]{32}$/)
  const outputs = await Promise.all([
    secrets('list', 'shop', '--json'),
    vaultWith({ VAULT_ADMIN_TOKEN: token }, ['admin', 'audit', '--json']),
  ])
  for (const { out, err } of outputs) expect((out + err).includes(value)).toBe(false)
  for (const args of [
    ['--length', '7'],
    ['--charset', 'hexa'],
    ['--charset', 'hex', '--characters', 'ab'],
  ])
    expect((await secrets('generate', 'shop', 'SESSION', '--env', 'gen', ...args)).status).toBe(2)
})

test('records, lists and removes the details of a secret', async () => {
  const details = ['--note', 'see the runbook', '--owner', 'ada', '--expires', '10d']
  await pipe('v', 'set', 'shop', 'NOTED', '--env', 'noted', ...details)
  const [noted] = await listed('--env', 'noted')
  expect(noted).toMatchObject({ key: 'NOTED', note: 'see the runbook', owner: 'ada' })
  expect(Math.abs(Date.parse(noted?.expiresAt ?? '') - Date.now() - 10 * 86_400_000)).toBeLessThan(600_000)
  expect((await secrets('shop', '--env', 'noted')).out).toMatch(
    /^ID +KEY +ENV +UPDATED AT +EXPIRES AT +OWNER +NOTE +REFERENCES\n\S+ +NOTED +noted +\S+ +\S+ +ada +see the runbook +-\n$/,
  )
  const soon = JSON.parse((await secrets('expiring', '--days', '11', '--json')).out) as Listed[]
  expect(soon).toMatchObject([{ key: 'NOTED', owner: 'ada' }])
  expect(JSON.parse((await secrets('expiring', '--days', '9', '--json')).out)).toEqual([])
  const id = noted?.id ?? ''
  const changed = await secrets('annotate', id, '--no-note', '--owner', 'grace', '--expires', '2027-01-31T12:00Z')
  expect(changed).toMatchObject({ status: 0, err: '' })
  const [after] = await listed('--env', 'noted')
  expect(after).toMatchObject({ owner: 'grace', expiresAt: '2027-01-31T12:00:00.000Z' })
  expect(after).not.toHaveProperty('note')
  expect((await secrets('annotate', id)).status).toBe(2)
})

test('compares two environments, and copies what is missing', async () => {
  for (const [env, key] of [
    ['left', 'BOTH'],
    ['left', 'ONLY_LEFT'],
    ['right', 'BOTH'],
    ['right', 'ONLY_RIGHT'],
  ] as const)
    await world.client.put(key, `${env} ${key}`, env)
  expect(await secrets('compare', 'shop', 'left', 'right')).toEqual({
    ...{ status: 0, out: '+ ONLY_RIGHT\n- ONLY_LEFT\n', err: '' },
  })
  const json = await secrets('compare', 'shop', 'left', 'right', '--exit-code', '--json')
  expect([json.status, JSON.parse(json.out)]).toEqual([1, { onlyLeft: ['ONLY_LEFT'], onlyRight: ['ONLY_RIGHT'] }])
  const copied = await secrets('copy', 'shop', 'left', 'right')
  expect(copied).toMatchObject({ status: 0, err: '' })
  expect(copied.out).toMatch(/Copied 1 secret .*1 /)
  expect(await world.client.getAll('right')).toMatchObject({ BOTH: 'right BOTH', ONLY_LEFT: 'left ONLY_LEFT' })
  expect(await secrets('compare', 'shop', 'right', 'right', '--exit-code')).toMatchObject({ status: 0 })
})

test('inherited keys are not missing in a comparison', async () => {
  const environments = (...args: string[]) =>
    vaultWith({ VAULT_ADMIN_TOKEN: ADMIN_TOKEN }, ['admin', 'environments', ...args])
  await world.client.put('BASE', '1', 'base')
  await world.client.put('OWN', '1', 'child')
  expect(await environments('set-parent', 'shop', 'child', 'base')).toMatchObject({ status: 0, err: '' })
  const json = await environments('list', 'shop', '--json')
  expect(JSON.parse(json.out)).toEqual(expect.arrayContaining([{ env: 'child', parent: 'base', secrets: 1 }]))
  expect((await secrets('compare', 'shop', 'base', 'child')).out).toBe('+ OWN\n')
  expect(await world.client.getAll('child')).toEqual({ BASE: '1', OWN: '1' })
  expect((await environments('set-parent', 'shop', 'base', 'child')).status).toBe(1)
  for (const args of [['child'], ['child', 'base', '--none'], ['child', '../x']])
    expect((await environments('set-parent', 'shop', ...args)).status).toBe(2)
  expect(await environments('set-parent', 'shop', 'child', '--none')).toMatchObject({ status: 0 })
  expect(await world.client.getAll('child')).toEqual({ OWN: '1' })
})

test('stores values with references, and manages who may refer to a project', async () => {
  const asAdmin = (...args: string[]) => vaultWith({ VAULT_ADMIN_TOKEN: ADMIN_TOKEN }, ['admin', ...args])
  await createProject(world.vault.url, 'database')
  await admin(world.vault.url, 'PUT', '/projects/database/secrets', { env: 'main', key: 'URL', value: 'pg://db' })
  await world.client.put('HOST', 'example.org', 'refers')
  const stored = ['set', 'URL', '--references', '--env', 'refers']
  expect(await vaultWith({}, stored, 'https://${HOST}')).toMatchObject({ status: 0, err: '' })
  const refer = (): Promise<Outcome> =>
    pipe('${database.main.URL}', 'set', 'shop', 'DB', '--references', '--env', 'refers')
  expect(await refer()).toMatchObject({ status: 1, err: expect.stringContaining('database.main.URL') })
  const rule = ['add', 'database', '--reader', 'shop', '--envs', 'main', '--key', 'URL', '--json']
  const { id } = JSON.parse((await asAdmin('references', ...rule)).out) as { id: string }
  expect(await refer()).toMatchObject({ status: 0 })
  expect(await world.client.getAll('refers')).toEqual({
    HOST: 'example.org',
    URL: 'https://example.org',
    DB: 'pg://db',
  })
  const rules = JSON.parse((await asAdmin('references', 'list', 'database', '--json')).out) as object[]
  expect(rules).toMatchObject([{ id, project: 'shop', readerEnvs: null, envs: ['main'], keys: ['URL'] }])
  expect(await asAdmin('references', 'remove', 'database', id)).toMatchObject({ status: 0 })
  await expect(world.client.getAll('refers')).rejects.toMatchObject({ code: 'unresolved_reference' })
})

test('overwrites only after a confirmation', async () => {
  const args = ['copy', 'shop', 'left', 'right', '--only', 'BOTH', '--overwrite']
  expect(await secrets(...args)).toMatchObject({ status: 2, err: expect.stringContaining('--yes is required') })
  expect(await world.client.get('BOTH', 'right')).toBe('right BOTH')
  const answer = await secrets(...args, '--yes', '--json')
  expect([answer.status, JSON.parse(answer.out)]).toEqual([0, { ok: true, copied: 1, skipped: 0 }])
  expect(await world.client.get('BOTH', 'right')).toBe('left BOTH')
})

test('an editor may not manage projects', async () => {
  const refused = await vaultWith({ VAULT_ADMIN_TOKEN: token }, ['admin', 'rotate', 'shop', '--overlap', '0'])
  expect([refused.status, refused.out]).toEqual([1, ''])
  expect(refused.err).toContain('(forbidden)')
})
