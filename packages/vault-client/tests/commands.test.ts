import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { runVaultCommand } from '../src/commands.ts'
import { formatSecrets } from '../src/format.ts'
import { startFakeVault } from './fake-vault.ts'

const { privateJwk, publicKeyHex } = generateKeyPair()

async function vault(
  args: readonly string[],
  env: Record<string, string> = {},
  stdin = '',
): Promise<{ status: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const status = await runVaultCommand({
    args,
    env: { PATH: process.env['PATH'], ...env },
    stdin: (async function* () {
      yield await Promise.resolve(stdin)
    })(),
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  })
  return { status, out, err }
}

function project(url: string): Record<string, string> {
  return { VAULT_URL: url, VAULT_PROJECT: 'shop', VAULT_PRIVATE_KEY: privateJwk }
}

test('keygen prints a private JWK and, apart from it, its public key', async () => {
  const { status, out, err } = await vault(['keygen'])
  expect(status).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ kty: 'OKP', crv: 'Ed25519' })
  expect(err).toMatch(/^public key: [0-9a-f]{64}\n$/)
})

test('put stores standard input less its final line break, get prints it', async () => {
  await using server = await startFakeVault(publicKeyHex)
  expect(await vault(['put', 'MOTTO'], project(server.url), 'two\nlines\n')).toMatchObject({ status: 0, out: '' })
  expect(server.secrets.get('MOTTO')).toBe('two\nlines')
  expect(await vault(['get', 'MOTTO'], project(server.url))).toMatchObject({ status: 0, out: 'two\nlines\n' })
  expect(await vault(['get'], project(server.url))).toMatchObject({
    status: 0,
    out: '{\n  "MOTTO": "two\\nlines"\n}\n',
  })
})

test('the private key is read from a file when one is named', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const file = join(mkdtempSync(join(tmpdir(), 'vault-client-')), 'key.json')
  writeFileSync(file, `${privateJwk}\n`, { mode: 0o600 })
  const env = { VAULT_URL: server.url, VAULT_PROJECT: 'shop', VAULT_PRIVATE_KEY_FILE: file }
  expect(await vault(['get'], env)).toMatchObject({ status: 0, out: '{}\n' })
})

test('rm of an unknown id exits 1 and says so', async () => {
  await using server = await startFakeVault(publicKeyHex)
  expect(await vault(['rm', 'nothing'], project(server.url))).toMatchObject({
    status: 1,
    err: expect.stringContaining('not_found'),
  })
})

test('run gives the command its secrets and not the private key, and exits as it does', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('COLOUR', 'green')
  const file = join(mkdtempSync(join(tmpdir(), 'vault-client-')), 'seen')
  const script = `printf '%s' "$COLOUR:\${VAULT_PRIVATE_KEY:-none}" > ${file}; exit 7`
  expect((await vault(['run', '--', 'sh', '-c', script], project(server.url))).status).toBe(7)
  expect(readFileSync(file, 'utf8')).toBe('green:none')
})

test.each([
  ['COLOUR', 'canary\0green'],
  ['PATH=/tmp;X', 'green'],
])('run refuses what no environment can hold, names the key %j and shows no value', async (key, value) => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set(key, value)
  const { status, out, err } = await vault(['run', '--', 'true'], project(server.url))
  expect([status, out]).toEqual([1, ''])
  expect(err).toBe(`vault: ${JSON.stringify(key)} cannot be a variable of an environment; use vault get\n`)
})

test('run exits 128 + n when a signal ended the command', async () => {
  await using server = await startFakeVault(publicKeyHex)
  expect((await vault(['run', '--', 'sh', '-c', 'kill -TERM $$'], project(server.url))).status).toBe(143)
})

test.each([
  [[], 'a command is missing'],
  [['launch'], 'there is no command launch'],
  [['get', 'A', 'B'], 'one key at most'],
  [['get', '--format', 'xml'], '--format is one of'],
  [['get', '--colour'], 'Unknown option'],
  [['put'], 'put takes one key'],
  [['run', 'ls'], 'run needs -- before the command'],
  [['get'], 'not set: VAULT_URL, VAULT_PROJECT, VAULT_PRIVATE_KEY or VAULT_PRIVATE_KEY_FILE'],
])('the call %j exits 2 and says why', async (args, message) => {
  const { status, err } = await vault(args)
  expect(status).toBe(2)
  expect(err).toContain(message)
})

test('the shell format reads back unchanged whatever a value holds', () => {
  const value = `it's $(date) \`id\` "quoted" \\ and\na second line; $HOME`
  const script = `${formatSecrets({ VALUE: value }, 'shell')}printf '%s' "$VALUE"`
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(value)
})

test.each([
  'postgres://shop:a"b$c@host/x#y',
  'a\\nb \\\\ \\d+ `id`',
  "it's",
  "it's on\ntwo lines",
  'two\nlines',
  '  spaces  ',
  '',
  '{"json": ["$HOME"]}',
])('the dotenv format of %j reads back unchanged in Node and in a shell', (value) => {
  const text = formatSecrets({ OTHER: "x'y", VALUE: value, ZULU: "'" }, 'dotenv')
  expect(parseEnv(text)).toEqual({ OTHER: "x'y", VALUE: value, ZULU: "'" })
  expect(execFileSync('sh', ['-c', `${text}printf '%s' "$VALUE"`], { encoding: 'utf8' })).toBe(value)
})

test.each([`it's "quoted" for $5, \\ and \`id\``, 'ends with \\'])(
  'the dotenv format of %j, which no quotes hold as it is, reads back unchanged in a shell',
  (value) => {
    const text = formatSecrets({ VALUE: value }, 'dotenv')
    expect(execFileSync('sh', ['-c', `${text}printf '%s' "$VALUE"`], { encoding: 'utf8' })).toBe(value)
  },
)

test('a key that is no variable name is refused where a shell would read it', () => {
  expect(() => formatSecrets({ 'x; rm -rf': '1' }, 'shell')).toThrow('is not a variable name')
  expect(() => formatSecrets({ 'a-b': '1' }, 'dotenv')).toThrow('is not a variable name')
})
