import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { startFakeVault } from '../fake-vault.ts'
import { newFolder } from '../new-folder.ts'
import { keyPair, projectOf, vault } from './run-vault.ts'

const { privateJwk, publicKeyHex } = keyPair

test('keygen prints a private JWK on standard output and its public key on standard error', async () => {
  const { status, out, err } = await vault(['keygen'])
  expect(status).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ kty: 'OKP', crv: 'Ed25519' })
  expect(err).toMatch(/^public key: [0-9a-f]{64}\n$/)
})

test('put stores standard input without its final line break, and get prints it', async () => {
  await using server = await startFakeVault(publicKeyHex)
  expect(await vault(['put', 'MOTTO'], projectOf(server.url), 'two\nlines\n')).toMatchObject({
    ...{ status: 0, out: expect.stringContaining('shop/production') },
  })
  expect(server.secrets.get('MOTTO')).toBe('two\nlines')
  expect(await vault(['get', 'MOTTO'], projectOf(server.url))).toMatchObject({ status: 0, out: 'two\nlines\n' })
  expect(await vault(['get'], projectOf(server.url))).toMatchObject({
    status: 0,
    out: '{\n  "MOTTO": "two\\nlines"\n}\n',
  })
})

test('reads the private key from VAULT_PRIVATE_KEY_FILE', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(newFolder(), 'key.json')
  writeFileSync(file, `${privateJwk}\n`, { mode: 0o600 })
  const env = { VAULT_URL: server.url, VAULT_PROJECT: 'shop', VAULT_PRIVATE_KEY_FILE: file }
  expect(await vault(['get'], env)).toMatchObject({ status: 0, out: '{}\n' })
})

test('rm of an unknown id exits with 1', async () => {
  await using server = await startFakeVault(publicKeyHex)
  expect(await vault(['rm', '01a202a7-fc9c-76eb-a9e8-23a8a2f0f776', '--yes'], projectOf(server.url))).toMatchObject({
    status: 1,
    err: expect.stringContaining('not_found'),
  })
})

test('run passes secrets to the command, and exits with its status', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('COLOUR', 'green')
  const file = join(newFolder(), 'seen')
  const script = `printf '%s' "$COLOUR" > ${file}; exit 7`
  expect((await vault(['run', '--', 'sh', '-c', script], projectOf(server.url))).status).toBe(7)
  expect(readFileSync(file, 'utf8')).toBe('green')
})

test.each([
  ['COLOUR', 'canary\0green'],
  ['PATH=/tmp;X', 'green'],
])(
  'run refuses a name or value that is invalid for variables, and names the key %j without its value',
  async (key, value) => {
    await using server = await startFakeVault(publicKeyHex)
    server.secrets.set(key, value)
    const { status, out, err } = await vault(['run', '--', 'true'], projectOf(server.url))
    expect([status, out]).toEqual([1, ''])
    expect(err).toContain(JSON.stringify(key))
    expect(err).not.toContain('green')
  },
)

test('run exits with 128 + n if signal n ended the command', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', '1')
  expect((await vault(['run', '--', 'sh', '-c', 'kill -TERM $$'], projectOf(server.url))).status).toBe(143)
})

test.each([
  [[], 'Usage: vault'],
  [['launch'], "unknown command 'launch'"],
  [['get', 'A', 'B'], 'too many arguments'],
  [['get', '--format', 'xml'], 'json, dotenv'],
  [['get', '--colour'], "unknown option '--colour'"],
  [['put'], "missing required argument 'key'"],
  [['run'], "missing required argument 'command'"],
  [['run', '--interval', 'soon', '--', 'ls'], '30s'],
  [['diff', '--env', 'a'], 'two environments'],
  [['get', '--env', ''], 'empty'],
  [['get', '--env', 'a', '--env', 'b'], 'once'],
  [['get', '--env', 'a/b'], 'letters, digits'],
  [['login', '--env', ''], 'empty'],
  [['get', '--project', ''], 'empty'],
  [['get'], 'missing VAULT_URL, VAULT_PROJECT, VAULT_PRIVATE_KEY or VAULT_PRIVATE_KEY_FILE'],
])('%j exits with 2 and the reason', async (args, message) => {
  const { status, err } = await vault(args)
  expect(status).toBe(2)
  expect(err).toContain(message)
})

test.each([[['--help']], [['--version']], [['help']], [['run', '--help']], [['admin', 'projects', '--help']]])(
  '%j exits with 0',
  async (args) => {
    const { status, out, err } = await vault(args)
    expect([status, err]).toEqual([0, ''])
    expect(out).toMatch(args[0] === '--version' ? /^1\.2\.3\n$/ : /^Usage: vault/)
  },
)

test('an empty VAULT_PRIVATE_KEY does not hide VAULT_PRIVATE_KEY_FILE', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(newFolder(), 'key.json')
  writeFileSync(file, privateJwk)
  const env = { ...projectOf(server.url), VAULT_PRIVATE_KEY: '', VAULT_PRIVATE_KEY_FILE: file }
  expect(await vault(['get'], env)).toMatchObject({ status: 0, out: '{}\n' })
})

test('keygen writes a private file, and overwrites none', async () => {
  const file = join(newFolder(), 'key.json')
  const { status, out } = await vault(['keygen', '--output', file])
  expect([status, out]).toEqual([0, expect.stringMatching(/^[0-9a-f]{64}\n$/)])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const before = readFileSync(file, 'utf8')
  expect(await vault(['keygen', '--output', file])).toMatchObject({
    status: 1,
    err: expect.stringContaining('already exists'),
  })
  expect(readFileSync(file, 'utf8')).toBe(before)
})

test('set reads a value from a file, --value or a hidden prompt', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(newFolder(), 'value')
  writeFileSync(file, 'kept\n\n')
  await vault(['set', 'FILE', '--from-file', file], projectOf(server.url))
  await vault(['set', 'OPTION', '--value', ' given '], projectOf(server.url))
  const prompted = await vault(['set', 'PROMPT'], projectOf(server.url), '', ['typed'])
  expect(prompted).toMatchObject({ status: 0, asked: ['Value of PROMPT: (hidden)'] })
  expect(Object.fromEntries(server.secrets)).toEqual({ FILE: 'kept\n\n', OPTION: ' given ', PROMPT: 'typed' })
})

test.each([['A=canary'], ['A=canary', '--value', '1']])(
  'set refuses the key %j without repeating what may be a value',
  async (...args) => {
    await using server = await startFakeVault(publicKeyHex)
    const { status, out, err } = await vault(['set', ...args], projectOf(server.url), 'piped')
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain('vault set A')
    expect(err).not.toContain('canary')
    expect(server.seen).toHaveLength(0)
  },
)

test.each(['', '\n', '\r\n'])('set refuses empty standard input: %j', async (input) => {
  await using server = await startFakeVault(publicKeyHex)
  expect(await vault(['set', 'A'], projectOf(server.url), input)).toMatchObject({
    status: 1,
    err: expect.stringContaining("--value ''"),
  })
  expect(server.seen).toHaveLength(0)
})

test("an empty value is stored with --value ''", async () => {
  await using server = await startFakeVault(publicKeyHex)
  expect(await vault(['set', 'A', '--value', ''], projectOf(server.url))).toMatchObject({ status: 0 })
  expect(server.secrets.get('A')).toBe('')
})

test('a value that is not UTF-8 is refused', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(newFolder(), 'value')
  writeFileSync(file, Buffer.from([0xff, 0x00]))
  expect(await vault(['set', 'A', '--from-file', file], projectOf(server.url))).toMatchObject({
    status: 1,
    err: expect.stringContaining('is not UTF-8'),
  })
  expect(server.secrets.size).toBe(0)
})

test('list prints keys without values', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('B', 'canary').set('A', 'canary')
  expect(await vault(['list'], projectOf(server.url))).toMatchObject({ status: 0, out: 'A\nB\n' })
  expect(await vault(['list', '--json'], projectOf(server.url))).toMatchObject({ out: '["A","B"]\n' })
})

test.each([
  [['get'], '{}\n'],
  [['list'], ''],
  [['list', '--json'], '[]\n'],
  [['export', '--allow-empty'], ''],
])('%j warns about an environment without secrets, and exits with 0', async (args, out) => {
  await using server = await startFakeVault(publicKeyHex)
  expect(await vault([...args, '--env', 'prodution'], projectOf(server.url))).toMatchObject({
    ...{ status: 0, out },
    err: expect.stringContaining('prodution has no secrets'),
  })
})

test('export refuses an environment without secrets, and leaves its file alone', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(newFolder(), 'secrets.env')
  const refused = await vault(['export', '--env', 'prodution', '--output', file], projectOf(server.url))
  expect(refused).toMatchObject({ status: 1, out: '', err: expect.stringContaining('prodution has no secrets') })
  expect(existsSync(file)).toBe(false)
})

test('import shows changed keys without values, asks, and stores only the changes', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('SAME', 'canary-1').set('CHANGED', 'canary-2').set('KEPT', 'canary-3')
  const file = join(newFolder(), '.env')
  writeFileSync(file, '# comment\nSAME=canary-1\nexport CHANGED=\'canary-4\'\nNEW="canary-5"\n')
  const refused = await vault(['import', file], projectOf(server.url), '', ['no'])
  expect(refused).toMatchObject({ status: 1, out: '+ NEW\n~ CHANGED\n' })
  expect(refused.asked).toEqual(['Import 2 of 3 secrets into shop/production? [y/N] '])
  expect(await vault(['import', file], projectOf(server.url))).toMatchObject({
    status: 2,
    err: expect.stringContaining('--yes'),
  })
  expect(await vault(['import', file, '--yes'], projectOf(server.url))).toMatchObject({ status: 0 })
  expect(server.seen.filter(({ method }) => method === 'PUT')).toHaveLength(2)
  expect(Object.fromEntries(server.secrets)).toEqual({
    SAME: 'canary-1',
    CHANGED: 'canary-4',
    KEPT: 'canary-3',
    NEW: 'canary-5',
  })
  expect(JSON.parse((await vault(['import', file, '--yes', '--json'], projectOf(server.url))).out)).toEqual({
    ...{ ok: true, put: [] },
  })
})

test('an import of a file that contains no secret in a known form fails', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(newFolder(), 'list.json')
  writeFileSync(file, '["A", "B"]\n')
  expect(await vault(['import', file, '--yes'], projectOf(server.url))).toMatchObject({
    ...{ status: 1, out: '', err: expect.stringContaining('list.json') },
  })
  expect(server.seen).toEqual([])
})

test('an import that fails halfway reports its progress', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(newFolder(), 'secrets.json')
  writeFileSync(file, '{"A":"1","B":"2"}')
  // The responses to the read, the first put and the second put.
  server.answerNext({ status: 200 }, { status: 200 }, { status: 413, body: '{"error":"payload_too_large"}' })
  expect(await vault(['import', file, '--yes'], projectOf(server.url))).toMatchObject({
    status: 1,
    err: expect.stringMatching(/^vault: B: .*; 1 of 2 secrets imported/),
  })
})

test('diff prints keys without values, and exits with 1 with --exit-code', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const a = { status: 200, body: '{"ONLY_A":"canary","BOTH":"1","SAME":"1"}' }
  const b = { status: 200, body: '{"ONLY_B":"canary","BOTH":"2","SAME":"1"}' }
  const args = ['diff', '--env', 'staging', '--env', 'production']
  server.answerNext(a, b)
  expect(await vault(args, projectOf(server.url))).toMatchObject({ status: 0, out: '+ ONLY_B\n~ BOTH\n- ONLY_A\n' })
  server.answerNext(a, b)
  expect(await vault([...args, '--json', '--exit-code'], projectOf(server.url))).toMatchObject({
    status: 1,
    out: '{"added":["ONLY_B"],"changed":["BOTH"],"removed":["ONLY_A"]}\n',
  })
})

test('login saves a profile without the key, and whoami shows it', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const home = newFolder()
  const file = join(home, 'key.json')
  writeFileSync(file, privateJwk)
  const login = await vault(['login', '--env', 'staging'], { HOME: home }, '', [server.url, 'shop', file])
  expect(login).toMatchObject({ status: 0, asked: ['URL of the vault: ', 'Project: ', 'File of the private key: '] })
  const profiles = join(home, '.config/vault-client/profiles.json')
  expect(statSync(profiles).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(profiles, 'utf8'))).toEqual({
    default: { url: server.url, project: 'shop', keyFile: file, env: 'staging' },
  })
  expect(JSON.parse((await vault(['whoami', '--json'], { HOME: home })).out)).toEqual({
    ...{ url: server.url, project: 'shop', publicKey: publicKeyHex, env: 'staging', secrets: 0 },
    fingerprint: createHash('sha256').update(Buffer.from(publicKeyHex, 'hex')).digest('hex').slice(0, 32),
  })
  expect(await vault(['whoami', '--profile', 'other'], { HOME: home })).toMatchObject({
    status: 2,
    err: expect.stringContaining('profile other'),
  })
  expect(await vault(['logout'], { HOME: home })).toMatchObject({ status: 0 })
  expect(await vault(['whoami'], { HOME: home })).toMatchObject({ status: 2 })
})

test('login with a refused key saves no profile', async () => {
  await using server = await startFakeVault(generateKeyPair().publicKeyHex)
  const home = newFolder()
  writeFileSync(join(home, 'key.json'), privateJwk)
  const args = ['login', '--url', server.url, '--project', 'shop', '--key-file', join(home, 'key.json')]
  expect(await vault(args, { HOME: home })).toMatchObject({
    status: 1,
    err: expect.stringContaining('invalid_signature'),
  })
  expect(await vault(['whoami'], { HOME: home })).toMatchObject({ status: 2 })
})

test.each([
  ['no', 1],
  ['yes', 0],
])('removing an administrator asks for confirmation with their name: %s', async (typed, status) => {
  await using server = await startFakeVault(publicKeyHex)
  const ada = { id: '01a202a7-fc9c-76eb-a9e8-23a8a2f0f776', name: 'Ada', role: 'auditor' }
  server.answerNext({ status: 200, body: JSON.stringify([ada]) }, { status: 200, body: '{"ok":true}' })
  const env = { VAULT_URL: server.url, VAULT_ADMIN_TOKEN: 'token' }
  expect(await vault(['admin', 'administrators', 'rm', ada.id], env, '', [typed])).toMatchObject({
    status,
    asked: [expect.stringContaining('Ada')],
  })
})

test('removing an unknown administrator fails without a question', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.answerNext({ status: 200, body: '[]' })
  const env = { VAULT_URL: server.url, VAULT_ADMIN_TOKEN: 'token' }
  expect(await vault(['admin', 'administrators', 'rm', 'nobody'], env, '', ['yes'])).toMatchObject({
    ...{ status: 1, asked: [] },
    err: expect.stringContaining('nobody'),
  })
})

test('get writes a value byte for byte to a private file, or to standard output with --no-newline', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const value = '\ufeffno newline \u001b[2J\r\nß\n\n'
  server.secrets.set('A', value)
  const file = join(newFolder(), 'value')
  expect(await vault(['get', 'A', '--output', file], projectOf(server.url))).toMatchObject({ status: 0, out: '' })
  expect(readFileSync(file)).toEqual(Buffer.from(value))
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect((await vault(['get', 'A', '--no-newline'], projectOf(server.url))).out).toBe(value)
})

test('rm deletes a secret by its key after confirmation, or with --yes', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A/é', '1')
  const rm = ['rm', 'A/é', '--env', 'staging']
  expect(await vault(rm, projectOf(server.url))).toMatchObject({ status: 2, err: expect.stringContaining('--yes') })
  expect(await vault(rm, projectOf(server.url), '', ['no'])).toMatchObject({
    status: 1,
    asked: [expect.stringContaining('A/é in shop/staging')],
  })
  expect(server.secrets.size).toBe(1)
  expect(await vault([...rm, '--yes'], projectOf(server.url))).toMatchObject({ status: 0 })
  expect(server.seen.map(({ method, target }) => `${method} ${target}`)).toEqual([
    'DELETE /v1/secrets?key=A%2F%C3%A9&env=staging',
  ])
  expect(await vault([...rm, '--yes'], projectOf(server.url))).toMatchObject({
    ...{ status: 1, err: expect.stringContaining('no secret A/é') },
  })
})

test('import waits for Retry-After, and then continues', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(newFolder(), 'secrets.json')
  writeFileSync(file, '{"A":"1","B":"2"}')
  const limited = { status: 429, body: '{"error":"rate_limited"}', headers: { 'retry-after': '2' } }
  server.answerNext({ status: 200 }, { status: 200 }, limited, limited)
  const { status, err } = await vault(['import', file, '--yes'], projectOf(server.url))
  expect([status, err]).toEqual([0, expect.stringMatching(/^(.*1 of 2.* 2 s\n){2}$/)])
  expect(server.secrets.get('B')).toBe('2')
})

test('public keys can be hex, JWK or PEM, and a private key is never sent', async () => {
  const file = join(newFolder(), 'key.pem')
  const hex = (await vault(['keygen', '--format', 'pem', '--output', file])).out.trim()
  const openssl = execFileSync('openssl', ['pkey', '-in', file, '-pubout'], { encoding: 'utf8' })
  expect((await vault(['public-key', file, '--format', 'pem'])).out).toBe(openssl)
  expect((await vault(['public-key'], { VAULT_PRIVATE_KEY_FILE: file })).out).toBe(`${hex}\n`)
  expect((await vault(['public-key', '-'], {}, readFileSync(file, 'utf8'))).out).toBe(`${hex}\n`)
  const jwk = (await vault(['public-key', file, '--format', 'jwk'])).out
  expect(Buffer.from((JSON.parse(jwk) as { x: string }).x, 'base64url').toString('hex')).toBe(hex)
  const env = { VAULT_URL: 'http://127.0.0.1:1', VAULT_ADMIN_TOKEN: 'token' }
  const add = ['admin', 'projects', 'add', 'shop', '--public-key']
  for (const key of [readFileSync(file, 'utf8'), privateJwk])
    expect(await vault([...add, key], env)).toMatchObject({ status: 2, err: expect.stringContaining('a private key') })
})
