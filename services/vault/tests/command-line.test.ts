import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { requireProgram, temporaryFolder } from '@vault-and-tracker/dev-env'
import { admin, createProject } from './support/client.ts'
import { type CommandWorld, type Outcome, runCommand, runProcess, startForCommand } from './support/command.ts'
import { ADMIN_TOKEN, startVault, type TestVault } from './support/vault.ts'

// The `vault` command against the vault itself; packages/vault-client tests it alone.
const home = temporaryFolder('command-line')
const key = join(home, 'key.json')

let server: TestVault

beforeAll(async () => {
  server = await startVault()
})

afterAll(() => server.stop())

/** Runs the command as an administrator who also has the key of the project `shop`. */
const vault = (...args: string[]): Promise<string> => vaultWith({}, ...args)

const vaultWith = (variables: Record<string, string>, ...args: string[]): Promise<string> =>
  outputOf((args[0] === 'run' ? runProcess : runCommand)(environment(variables), args))

const environment = (variables: Record<string, string>): Record<string, string> => ({
  ...{ PATH: process.env['PATH'] ?? '', HOME: home, VAULT_URL: server.url, VAULT_PROJECT: 'shop' },
  ...{ VAULT_PRIVATE_KEY_FILE: key, VAULT_ADMIN_TOKEN: ADMIN_TOKEN },
  ...variables,
})

/** @throws {Error} with what a failed command wrote to standard error */
async function outputOf(running: ReturnType<typeof runCommand>): Promise<string> {
  const { status, out, err } = await running
  if (status !== 0) throw new Error(err)
  return out
}

const json = async (...args: string[]): Promise<unknown> => JSON.parse(await vault(...args, '--json'))

test('creates a project, and stores, reads and runs with its secrets', async () => {
  const publicKey = (await vault('keygen', '--output', key)).trim()
  expect(await json('admin', 'projects', 'add', 'shop', '--public-key', publicKey)).toEqual({ ok: true, id: 'shop' })
  expect(await json('admin', 'projects')).toMatchObject([{ id: 'shop', publicKey }])
  const file = join(home, '.env')
  writeFileSync(file, "COLOUR='green'\nSIZE=large\n")
  expect(await json('import', file, '--yes', '--env', 'staging')).toEqual({ ok: true, put: ['COLOUR', 'SIZE'] })
  expect(await vault('export', '--env', 'staging')).toBe("COLOUR='green'\nSIZE='large'\n")
  expect(await vault('run', '--env', 'staging', '--', 'sh', '-c', 'printf %s "$COLOUR"')).toBe('green')
})

test('sets, restores and deletes a secret, and shows its place', async () => {
  const set = ['set', 'COLOUR', '--value', 'red', '--env', 'staging']
  expect(await vault(...set)).toBe('Set COLOUR in shop/staging.\n')
  const listed = (await json('admin', 'secrets', 'shop', '--env', 'staging')) as { id: string; key: string }[]
  const id = listed.find((secret) => secret.key === 'COLOUR')?.id ?? ''
  expect(await json('admin', 'versions', id)).toMatchObject([{ version: 2, current: true }, { version: 1 }])
  await vault('admin', 'restore', id, '1')
  expect(await vault('get', 'COLOUR', '--env', 'staging')).toBe('green\n')
  expect(await vaultWith({ VAULT_ADMIN_TOKEN: '' }, 'rm', 'COLOUR', '--env', 'staging', '--yes')).toBe(
    'Deleted COLOUR in shop/staging.\n',
  )
  await vault('set', 'EXTRA', '--value', '1', '--env', 'staging')
  const [extra] = (await json('admin', 'secrets', 'shop', '--env', 'staging')) as { id: string }[]
  await vault('admin', 'rm', extra?.id ?? '', '--yes')
  expect(await json('list', '--env', 'staging')).toEqual(['SIZE'])
})

test('rotates a key and records it', async () => {
  writeFileSync(key, await vault('admin', 'rotate', 'shop', '--overlap', '0'))
  expect(await json('whoami', '--env', 'staging')).toMatchObject({ project: 'shop', secrets: 1 })
  expect(await json('admin', 'audit', '--project', 'shop', '--action', 'rotate')).toMatchObject([{ projectId: 'shop' }])
  expect(readFileSync(key, 'utf8')).toContain('"kty":"OKP"')
})

test('verifies the newest audit entries', async () => {
  await server.seal()
  expect(await vault('admin', 'verify')).toMatch(/^The newest \d+ entries match their seals, up to seal \d+\.\n$/)
  expect(await json('admin', 'verify')).toMatchObject({ intact: true })
  const [row] = await server.sql<{ id: string }>("select id from audit where action = 'rotate'")
  await server.sql("update audit set action = 'put' where action = 'rotate'")
  const refused = vault('admin', 'verify')
  await expect(refused).rejects.toThrow(String(row?.id))
  await server.sql("update audit set action = 'rotate' where id = $1", [row?.id])
})

test('creates, lists and revokes a key with a scope', async () => {
  writeFileSync(key, await vault('admin', 'rotate', 'shop', '--overlap', '0', '--access', 'read', '--envs', 'staging'))
  const [listed] = (await json('admin', 'keys', 'shop')) as { fingerprint: string; scope: object }[]
  expect(listed?.scope).toEqual({ access: 'read', envs: ['staging'] })
  expect(await json('list', '--env', 'staging')).toEqual(['SIZE'])
  const put = vault('set', 'SIZE', '--value', 'small', '--env', 'staging')
  await expect(put).rejects.toThrow('(forbidden)')
  expect(await vault('admin', 'revoke', 'shop', listed?.fingerprint ?? '')).toContain('Revoked key')
  await expect(vault('list', '--env', 'staging')).rejects.toThrow('(invalid_signature)')
})

test('rotates a key into a new file, or not at all if it cannot be created', async () => {
  const scope = ['--access', 'write', '--envs', 'staging']
  const refused = vault('admin', 'rotate', 'shop', '--output', key, ...scope)
  await expect(refused).rejects.toThrow('never overwritten')
  const before = await json('admin', 'keys', 'shop')
  const fresh = join(home, 'write-only.json')
  expect(await json('admin', 'rotate', 'shop', '--output', fresh, ...scope)).toEqual({ ok: true, file: fresh })
  expect(before).toEqual([])
  expect(statSync(fresh).mode & 0o777).toBe(0o600)
})

test('signs in with a key that can only write', async () => {
  const options = ['--key-file', join(home, 'write-only.json'), '--profile', 'writer']
  expect(await vault('login', ...options, '--env', 'staging')).toContain('Saved profile writer')
  expect(await json('whoami', '--profile', 'writer')).toMatchObject({ project: 'shop', env: 'staging', secrets: null })
})

test('adds, uses and removes a named administrator', async () => {
  const add = ['admin', 'administrators', 'add', 'Ada', '--projects', 'shop', 'blog', '--expires', '30d']
  const token = (await vault(...add)).trim()
  const [ada] = (await json('admin', 'administrators')) as { id: string; expiresAt: string }[]
  expect(ada).toMatchObject({ name: 'Ada', role: 'auditor', projects: ['shop', 'blog'] })
  expect(Math.round((Date.parse(ada?.expiresAt ?? '') - Date.now()) / 86_400_000)).toBe(30)
  expect(JSON.parse(await vaultWith({ VAULT_ADMIN_TOKEN: token }, 'admin', 'projects', '--json'))).toMatchObject([
    { id: 'shop' },
  ])
  const remove = vaultWith({ VAULT_ADMIN_TOKEN: token }, 'admin', 'projects', 'rm', 'shop', '--yes')
  await expect(remove).rejects.toThrow('(forbidden)')
  expect(await json('admin', 'administrators', 'rm', ada?.id ?? '', '--yes')).toEqual({ ok: true })
  await expect(vaultWith({ VAULT_ADMIN_TOKEN: token }, 'admin', 'projects')).rejects.toThrow('(unauthorized)')
  const created = await json('admin', 'audit', '--action', 'administrator.create')
  expect(created).toMatchObject([{ detail: { administrator: ada?.id, name: 'Ada' } }])
})

test('shows the number of secrets when it deletes a project', async () => {
  expect(await vault('admin', 'projects', 'rm', 'shop', '--yes')).toBe('Deleted project shop and 1 secret.\n')
  expect(await json('admin', 'projects')).toEqual([])
})

test('works as one executable file', async () => {
  await requireProgram('strip')
  const folder = join(home, 'release')
  const root = join(import.meta.dirname, '../../..')
  const options = { cwd: root, env: { ...process.env, NODE_OPTIONS: '' } }
  await promisify(execFile)(process.execPath, ['infra/release/cli.mjs', folder], options)
  const [name = ''] = readdirSync(folder)
  const file = join(folder, name)
  // Node itself is most of it: 87 MB of version 20, 109 MB of version 24.
  expect(statSync(file).size).toBeLessThan(115e6)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const settings = { PATH: '', VAULT_PROJECT: 'one-file', VAULT_PRIVATE_KEY_FILE: join(home, 'one-file.json') }
  const run = (...args: string[]): Promise<string> => outputOf(runProcess(environment(settings), args, [file]))
  expect(await run('--version')).toBe(`${version}\n`)
  const publicKey = (await run('keygen', '--output', settings.VAULT_PRIVATE_KEY_FILE)).trim()
  await run('admin', 'projects', 'add', 'one-file', '--public-key', publicKey)
  await run('set', 'COLOUR', '--value', 'blue')
  expect(await run('get', 'COLOUR')).toBe('blue\n')
})

describe('the secrets of editors', () => {
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
})
