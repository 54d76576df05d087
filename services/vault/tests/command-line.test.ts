import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { requireProgram, temporaryFolder } from '@vault-and-tracker/dev-env'
import { runCommand, runProcess } from './support/command.ts'
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
