import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { startFakeVault } from '../fake-vault.ts'
import { newFolder } from '../new-folder.ts'
import { keyPair, projectOf, vault } from './run-vault.ts'

const { privateJwk, publicKeyHex } = keyPair

test.each([
  [['export', '--json'], { A: '1' }],
  [['list', '--json'], ['A']],
  [['rm', 'A', '--yes', '--json'], { ok: true }],
  [['logout', '--json'], { ok: true, profile: 'default' }],
])('%j prints JSON', async (args, printed) => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', '1')
  const home = newFolder()
  writeFileSync(join(home, 'key.json'), privateJwk, { mode: 0o600 })
  const env = {
    HOME: home,
    VAULT_URL: server.url,
    VAULT_PROJECT: 'shop',
    VAULT_PRIVATE_KEY_FILE: join(home, 'key.json'),
  }
  await vault(['login'], env)
  if (args[0] === 'rm') args[1] = '01a202a7-fc9c-76eb-a9e8-23a8a2f0f776'
  server.secrets.set('01a202a7-fc9c-76eb-a9e8-23a8a2f0f776', '')
  if (args[0] !== 'rm') server.secrets.delete('01a202a7-fc9c-76eb-a9e8-23a8a2f0f776')
  const { status, out } = await vault(args, env)
  expect([status, JSON.parse(out)]).toEqual([0, printed])
})

test.each([
  [['get', 'NONE', '--json'], 1, { error: 'not_found', message: expect.stringContaining('NONE') }],
  [['get', '--json', '--env', 'x', 'A', 'B'], 2, { error: 'usage', message: expect.stringContaining('too many') }],
  [['diff', '--json'], 2, { error: 'usage', message: expect.stringContaining('two environments') }],
  [['whoami', '--json', '--key-file', '/dev/null'], 1, { error: 'invalid_configuration', message: expect.any(String) }],
])('%j prints an error as JSON', async (args, expected, json) => {
  await using server = await startFakeVault(publicKeyHex)
  const { status, out, err } = await vault(args, projectOf(server.url))
  expect([status, out, JSON.parse(err)]).toEqual([expected, '', json])
})

test.each(['constructor', '__proto__'])('a profile can be named %s', async (name) => {
  await using server = await startFakeVault(publicKeyHex)
  const home = newFolder()
  writeFileSync(join(home, 'key.json'), privateJwk, { mode: 0o600 })
  const args = ['--url', server.url, '--project', 'shop', '--key-file', join(home, 'key.json'), '--profile', name]
  expect(await vault(['whoami', '--profile', name], { HOME: home })).toMatchObject({ status: 2 })
  expect(await vault(['login', ...args], { HOME: home })).toMatchObject({ status: 0, err: '' })
  expect(await vault(['whoami', '--profile', name], { HOME: home })).toMatchObject({ status: 0 })
})

test('--profile takes precedence over variables', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const home = newFolder()
  writeFileSync(join(home, 'key.json'), privateJwk, { mode: 0o600 })
  const args = ['--url', server.url, '--project', 'shop', '--key-file', join(home, 'key.json'), '--env', 'staging']
  await vault(['login', '--profile', 'work', ...args], { HOME: home })
  const env = {
    ...{ HOME: home, VAULT_URL: 'http://127.0.0.1:1', VAULT_PROJECT: 'other', VAULT_ENV: 'production' },
    VAULT_PRIVATE_KEY: generateKeyPair().privateJwk,
  }
  expect(JSON.parse((await vault(['whoami', '--profile', 'work', '--json'], env)).out)).toMatchObject({
    ...{ url: server.url, project: 'shop', publicKey: publicKeyHex, env: 'staging' },
  })
})

test('concurrent logins all save their profiles', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const home = newFolder()
  writeFileSync(join(home, 'key.json'), privateJwk, { mode: 0o600 })
  const args = ['--url', server.url, '--project', 'shop', '--key-file', join(home, 'key.json')]
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  await Promise.all(names.map((name) => vault(['login', '--profile', name, ...args], { HOME: home })))
  const file = join(home, '.config/vault-client/profiles.json')
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object).toSorted()).toEqual(names)
  expect(readdirSync(join(home, '.config/vault-client'))).toEqual(['profiles.json'])
})

test('reports a damaged file of profiles', async () => {
  const home = newFolder()
  mkdirSync(join(home, '.config/vault-client'), { recursive: true })
  for (const text of ['', '{', '[]', 'null', '{"default":{"url":1}}']) {
    writeFileSync(join(home, '.config/vault-client/profiles.json'), text)
    expect(await vault(['list'], { HOME: home })).toMatchObject({
      status: 1,
      err: expect.stringContaining('profiles.json is damaged'),
    })
  }
})

test('login warns about a key file that other users can read', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const home = newFolder()
  const file = join(home, 'key.json')
  writeFileSync(file, privateJwk, { mode: 0o644 })
  const { status, err } = await vault(['login', '--url', server.url, '--project', 'shop', '--key-file', file], {
    HOME: home,
  })
  expect([status, err]).toEqual([0, expect.stringContaining(`chmod 600 ${file}`)])
})

test('login and whoami accept a write-only key', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const home = newFolder()
  writeFileSync(join(home, 'key.json'), privateJwk, { mode: 0o600 })
  server.answerWith(403, '{"error":"forbidden","message":"The key may not read."}')
  const args = ['login', '--url', server.url, '--project', 'shop', '--key-file', join(home, 'key.json')]
  expect(await vault(args, { HOME: home })).toMatchObject({ status: 0 })
  expect(await vault(['whoami'], { HOME: home })).toMatchObject({ status: 0 })
  expect(JSON.parse((await vault(['whoami', '--json'], { HOME: home })).out)).toMatchObject({ secrets: null })
})

test('an export that cannot be written leaves no files behind', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', 'canary')
  const folder = newFolder()
  mkdirSync(join(folder, 'taken'))
  expect(await vault(['export', '--output', join(folder, 'taken')], projectOf(server.url))).toMatchObject({
    status: 1,
    err: expect.stringContaining('taken'),
  })
  expect(readdirSync(folder)).toEqual(['taken'])
  expect(await vault(['export', '--output', join(folder, 'new')], projectOf(server.url))).toMatchObject({ status: 0 })
  expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o600)
})

test('an export to a pipe or a symbolic link is written to its target', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', 'through')
  const folder = newFolder()
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const read = readFile(join(folder, 'pipe'), 'utf8')
  await vault(['export', '--output', join(folder, 'pipe')], projectOf(server.url))
  expect(await read).toBe("A='through'\n")
  writeFileSync(join(folder, 'file'), '')
  symlinkSync('file', join(folder, 'link'))
  await vault(['export', '--output', join(folder, 'link')], projectOf(server.url))
  expect(readFileSync(join(folder, 'file'), 'utf8')).toBe("A='through'\n")
  expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true)
})

test('a value over the limit is refused before it is read to its end', async () => {
  await using server = await startFakeVault(publicKeyHex)
  expect(await vault(['set', 'A', '--from-file', '/dev/zero'], projectOf(server.url))).toMatchObject({
    status: 1,
    err: expect.stringContaining('/dev/zero'),
  })
  expect(await vault(['set', 'A'], projectOf(server.url), 'x'.repeat((1 << 24) + 1))).toMatchObject({ status: 1 })
  expect(server.seen).toHaveLength(0)
})

test('an empty answer to the prompt stores nothing', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const { status, err } = await vault(['set', 'A'], projectOf(server.url), '', [''])
  expect([status, err]).toEqual([1, expect.stringContaining("--value ''")])
})

test.each(['My Secret', 'a_b', '', 'x'.repeat(254), '-a'])(
  'refuses %j as the name of a Kubernetes Secret',
  async (name) => {
    await using server = await startFakeVault(publicKeyHex)
    expect(await vault(['export', '--format', 'k8s', '--name', name], projectOf(server.url))).toMatchObject({
      status: 2,
      err: expect.stringContaining('--name'),
    })
  },
)

test('import warns about a value that ends at a #, but not about a comment', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(newFolder(), '.env')
  writeFileSync(file, 'A=pass#canary\nB=value # comment\nC="kept#whole"\nD=#fff\n')
  const { status, err, asked } = await vault(['import', file], projectOf(server.url), '', ['no'])
  expect([status, asked]).toEqual([1, ['Import 4 of 4 secrets into shop/production? [y/N] ']])
  expect(err).toMatch(/^vault: warning: .*: A, D\nvault: cancelled.*\n$/)
  await vault(['import', file, '--yes'], projectOf(server.url))
  expect(Object.fromEntries(server.secrets)).toEqual({ A: 'pass', B: 'value', C: 'kept#whole', D: '' })
})

test('import warns about a line that is not a variable, but not about a value of several lines', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(newFolder(), '.env')
  writeFileSync(file, '# comment\n\nA=1\ncanary of a value\nB="two\nlines of\n\nit"\n  # more\nexport C=3\n=nothing\n')
  const { status, err } = await vault(['import', file, '--yes'], projectOf(server.url))
  expect([status, err]).toEqual([0, expect.stringMatching(/^vault: warning: .*: lines 4, 11 .*\n$/)])
  expect(Object.fromEntries(server.secrets)).toEqual({ A: '1', B: 'two\nlines of\n\nit', C: '3' })
})

test('no text from a vault can reorder, hide or move text on a terminal', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const hostile = 'a\u202eb\u2066c\u200bd\u00ade\u3164f\u00a0g\u{e0041}h\u2028i\ud800j\u001b[2Jk\u009bl\u2800m\ufe0fn'
  const invisible = /\p{Cf}|\p{Cs}|\p{Zl}|\u00a0|\u3164|\u2800|\ufe0f|\u001b|\u009b/u
  const env = { ...projectOf(server.url), VAULT_ADMIN_TOKEN: 'token' }
  const admin = [
    { id: hostile, projectId: hostile, action: hostile, detail: { key: hostile, [hostile]: hostile }, name: hostile },
  ]
  const answers: readonly (readonly [args: readonly string[], status: number, body: unknown])[] = [
    [['list'], 200, { [hostile]: '1' }],
    [['list', '--json'], 200, { [hostile]: '1' }],
    [['export', '--format', 'docker'], 200, { [hostile]: '1' }],
    [['run', '--', 'true'], 200, { [`${hostile}=`]: '1' }],
    [['import', '/dev/null', '--yes'], 200, { [hostile]: '1' }],
    [['list'], 400, { error: 'invalid_request', message: hostile }],
    [['list'], 418, { error: hostile, message: hostile.repeat(10_000) }],
    [['admin', 'audit'], 200, admin],
    [['admin', 'audit', '--json'], 200, admin],
    [['admin', 'administrators'], 200, admin],
    [['admin', 'verify'], 200, { intact: false, problem: hostile, id: hostile }],
    [['admin', 'administrators', 'rm', hostile], 200, [{ ...admin[0], id: hostile, role: hostile }]],
  ]
  for (const [args, status, body] of answers) {
    server.answerNext({ status, body: JSON.stringify(body) })
    const { out, err, asked } = await vault(args, env, '', ['no'])
    expect([args, out, err, asked.join('')].join('').replace(args.join(','), '')).not.toMatch(invisible)
    expect(err.length).toBeLessThan(5_000)
  }
  server.answerNext({ status: 200, body: JSON.stringify({ [hostile]: '1' }) })
  expect(JSON.parse((await vault(['list', '--json'], env)).out)).toEqual([hostile])
})

test('each command warns about a key file that other users can read, and about a URL without TLS', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(newFolder(), 'key.json')
  writeFileSync(file, privateJwk, { mode: 0o640 })
  const { VAULT_URL } = projectOf(server.url)
  const env = { VAULT_URL: VAULT_URL ?? '', VAULT_PROJECT: 'shop', VAULT_PRIVATE_KEY_FILE: file }
  expect((await vault(['list'], env)).err).toContain(`chmod 600 ${file}`)
  chmodSync(file, 0o600)
  expect((await vault(['list'], env)).err).not.toContain('warning')
  const other = { ...env, VAULT_URL: 'http://vault.invalid', VAULT_ADMIN_TOKEN: 'token' }
  expect(
    (
      await vault(['list', '--timeout', '1s'], {
        ...other,
        VAULT_URL: 'http://127.evil.invalid',
        HTTP_PROXY: 'http://127.0.0.1:1',
      })
    ).err,
  ).toContain('unencrypted')
  for (const args of [['list'], ['admin', 'projects']])
    expect((await vault([...args, '--timeout', '1s'], { ...other, HTTP_PROXY: 'http://127.0.0.1:1' })).err).toContain(
      'unencrypted',
    )
})

test('an empty variable is incorrect usage', async () => {
  await using server = await startFakeVault(publicKeyHex)
  for (const name of ['VAULT_ENV', 'VAULT_PROJECT', 'VAULT_URL', 'VAULT_PROFILE'])
    expect(await vault(['set', 'A', '--value', '1'], { ...projectOf(server.url), [name]: '' })).toMatchObject({
      ...{ status: 2, out: '', err: expect.stringContaining(`${name} is empty`) },
    })
  expect(server.seen).toHaveLength(0)
})

test('an error about a key names its file or variable, and does not repeat the key', async () => {
  const file = join(newFolder(), 'key.json')
  writeFileSync(file, '{"kty":"canary"}', { mode: 0o600 })
  const env = { VAULT_URL: 'http://127.0.0.1:1', VAULT_PROJECT: 'shop' }
  for (const [variables, named] of [
    [{ VAULT_PRIVATE_KEY_FILE: file }, file],
    [{ VAULT_PRIVATE_KEY: 'canary' }, 'VAULT_PRIVATE_KEY'],
  ] as const) {
    const { status, err } = await vault(['list'], { ...env, ...variables })
    expect([status, err]).toEqual([1, expect.stringContaining(named)])
    expect(err).not.toContain('canary')
  }
})

test('import warns about references, repeated keys and what other readers unescape, and refuses values with a null byte', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(newFolder(), '.env')
  const importing = async (text: string): Promise<string> => {
    writeFileSync(file, text)
    return (await vault(['import', file, '--yes'], projectOf(server.url))).err
  }
  const dotenv = await importing('A=1\nB="two\nA=3\nlines"\nexport C=4\nC: 5\r\nD=x${A}y\nE=$A\n')
  expect(dotenv).toMatch(/appear more than once.*: C\n.*stored as they are.*: D\n$/s)
  expect(Object.fromEntries(server.secrets)).toEqual({ A: '1', B: 'two\nA=3\nlines', C: '5', D: 'x${A}y', E: '$A' })
  const escaped = 'F="{\\"a\\":1}"\nG="C:\\\\dir"\nH="open\nI="two\\nlines"\nJ=\'C:\\\\dir\'\nK=C:\\dir\nL="plain"\n'
  expect(await importing(escaped)).toMatch(/not interpreted.*: F, G, H\n$/)
  expect(await importing('{"A":"A","B":"\\"A\\":","A":"2"}')).toMatch(/appear more than once.*: A\n$/)
  const seen = server.seen.length
  expect(await importing('{"A":"canary\\u0000"}')).toMatch(/the value of A contains a null byte/)
  for (const value of ['canary\0', 'canary\0\n'])
    expect(await vault(['set', 'A'], projectOf(server.url), value)).toMatchObject({
      ...{ status: 1, err: expect.stringContaining('null byte') },
    })
  expect(server.seen).toHaveLength(seen)
})
