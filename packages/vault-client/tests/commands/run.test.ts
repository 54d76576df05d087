import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import fc from 'fast-check'
import { createRedactor, MIN_REDACTED } from '../../src/commands/redact.ts'
import { startFakeVault } from '../fake-vault.ts'
import { newFolder } from '../new-folder.ts'
import { keyPair, projectOf, vault } from './run-vault.ts'

const { publicKeyHex } = keyPair

test('the command receives no private key, path of a key or admin token', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', '1')
  const file = join(newFolder(), 'seen')
  const key = join(newFolder(), 'key.json')
  writeFileSync(key, keyPair.privateJwk)
  const env = { ...projectOf(server.url), VAULT_PRIVATE_KEY_FILE: key, VAULT_ADMIN_TOKEN: 'canary-token' }
  expect(await vault(['run', '--', 'sh', '-c', `env > ${file}`], env)).toMatchObject({ status: 0 })
  const seen = readFileSync(file, 'utf8')
  expect(seen).toContain('A=1\n')
  expect(seen).not.toMatch(/VAULT_PRIVATE_KEY|VAULT_ADMIN_TOKEN|canary/)
})

test('run refuses an environment without secrets unless --allow-empty is set', async () => {
  await using server = await startFakeVault(publicKeyHex)
  expect(await vault(['run', '--env', 'prodction', '--', 'true'], projectOf(server.url))).toMatchObject({
    status: 1,
    err: expect.stringContaining('prodction'),
  })
  expect(await vault(['run', '--allow-empty', '--', 'true'], projectOf(server.url))).toMatchObject({ status: 0 })
})

test('exits with 127 for a missing command, and with 126 for one that cannot be executed', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', '1')
  const file = join(newFolder(), 'file')
  writeFileSync(file, '', { mode: 0o600 })
  expect(await vault(['run', '--', './nothing-there'], projectOf(server.url))).toMatchObject({ status: 127 })
  expect(await vault(['run', '--', file], projectOf(server.url))).toMatchObject({ status: 126 })
})

test.each([
  ['', 127],
  ['/etc/passwd/nothing', 126],
  ['x'.repeat(300), 126],
])('the command %j exits with the status that a shell would return', async (command, status) => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', '1')
  expect((await vault(['run', '--', command], projectOf(server.url))).status).toBe(status)
})

test('reports secrets that are too large for the environment of a program', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', 'x'.repeat(1 << 18))
  expect(await vault(['run', '--', 'true'], projectOf(server.url))).toMatchObject({
    status: 126,
    err: expect.stringMatching(/E2BIG.*--only/),
  })
})

test('options after the command belong to it', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', '1')
  const script = 'process.exit(process.argv.includes("--redact") && process.argv.includes("--help") ? 3 : 4)'
  const args = ['run', 'node', '-e', script, '--', '--redact', '--help']
  expect((await vault(args, projectOf(server.url))).status).toBe(3)
})

test('--redact removes values from both output streams', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const secret = 'canary/"one"\nanother line'
  server.secrets.set('SECRET', secret).set('SHORT', 'ab')
  const script = `console.log(process.env.SECRET, encodeURIComponent(process.env.SECRET))
    console.error(JSON.stringify(process.env), btoa(process.env.SECRET)); process.stdout.write('cana'); process.exitCode = 5`
  const { status, out, err } = await vault(['run', '--redact', '--', 'node', '-e', script], projectOf(server.url))
  expect(status).toBe(5)
  expect(out).toBe('[redacted:SECRET] [redacted:SECRET]\ncana')
  expect(err).toContain('SHORT')
  expect(out + err).not.toMatch(/canary|another line|Y2FuYXJ5/)
})

test('output in chunks of any size contains no value, and is otherwise unchanged', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\n', '$'), maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { maxLength: 4 }),
      fc.array(fc.oneof(text, fc.nat({ max: 3 })), { maxLength: 12 }),
      fc.integer({ min: 1, max: 5 }),
      async (values, parts, size) => {
        const secrets = Object.fromEntries(values.map((value, i) => [String.fromCharCode(75 + i), value]))
        const output = parts.map((part) => (typeof part === 'string' ? part : (values[part] ?? ''))).join('')
        const bytes = Buffer.from(output)
        const redactor = createRedactor(secrets)
        const passed: Buffer[] = []
        redactor.on('data', (chunk: Buffer) => passed.push(chunk))
        for (let at = 0; at < bytes.length; at += size) redactor.write(bytes.subarray(at, at + size))
        redactor.end()
        await new Promise((resolve) => redactor.once('close', resolve))
        const shown = Buffer.concat(passed).toString()
        const kept = shown.replace(/\[redacted:[A-Z]\]/g, '\0')
        for (const value of values) if (value.length >= MIN_REDACTED) expect(kept).not.toContain(value)
        if (!values.some((value) => value.length >= MIN_REDACTED)) expect(shown).toBe(output)
      },
    ),
    { numRuns: 300 },
  )
})

test('the offline copy is used while the vault is unreachable, up to --max-age', async () => {
  const home = newFolder()
  const server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', 'canary')
  const env = { ...projectOf(server.url), HOME: home }
  const file = join(home, 'seen')
  const args = ['run', '--offline-fallback', '--', 'sh', '-c', `printf %s "$A" > ${file}`]
  expect(await vault(args, env)).toMatchObject({ status: 0, err: '' })
  const [copy = ''] = readdirSync(join(home, '.cache/vault-client'))
  expect(readFileSync(join(home, '.cache/vault-client', copy), 'latin1')).not.toMatch(/canary|"A"/)
  await server[Symbol.asyncDispose]()
  writeFileSync(file, '')
  expect(await vault(args, env)).toMatchObject({
    status: 0,
    err: expect.stringMatching(/offline copy.* \d+ s old/),
  })
  expect(readFileSync(file, 'utf8')).toBe('canary')
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  expect(await vault(['run', '--offline-fallback', '--max-age', '1s', ...args.slice(2)], env)).toMatchObject({
    status: 1,
    err: expect.stringContaining('--max-age'),
  })
})

test('with an offline copy, a request is retried once', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', 'before')
  const env = { ...projectOf(server.url), HOME: newFolder() }
  const file = join(env.HOME, 'seen')
  const args = ['run', '--offline-fallback', '--', 'sh', '-c', `printf %s "$A" > ${file}`]
  const unavailable = { status: 503, body: '{"error":"unavailable"}' }
  // Without a copy, there are more retries.
  server.answerNext(unavailable, unavailable)
  expect(await vault(args, env)).toMatchObject({ status: 0, err: '' })
  server.secrets.set('A', 'after')
  server.answerNext(unavailable, unavailable)
  expect(await vault(args, env)).toMatchObject({
    status: 0,
    err: expect.stringContaining('using the offline copy'),
  })
  expect(readFileSync(file, 'utf8')).toBe('before')
})

/** The environment of a command with an offline copy and a stopped vault. */
async function leftWithCopy(): Promise<ReturnType<typeof projectOf> & { HOME: string }> {
  const server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', 'canary')
  const env = { ...projectOf(server.url), HOME: newFolder() }
  await vault(['run', '--offline-fallback', '--', 'true'], env)
  await server[Symbol.asyncDispose]()
  return env
}

test.each([
  ['another key', { VAULT_PRIVATE_KEY: '1'.repeat(64) }, [], 'cannot be decrypted'],
  ['another environment', {}, ['--env', 'staging'], 'there is no offline copy'],
  ['another project', { VAULT_PROJECT: 'other' }, [], 'there is no offline copy'],
])('the offline copy cannot be read with %s', async (_what, other, options, told) => {
  const env = await leftWithCopy()
  expect(await vault(['run', ...options, '--offline-fallback', '--', 'true'], { ...env, ...other })).toMatchObject({
    status: 1,
    err: expect.stringContaining(told),
  })
})

test.each([
  ['with a changed byte', (copy: Buffer) => copy.fill((copy.at(-1) ?? 0) ^ 1, copy.length - 1)],
  ['that is truncated', (copy: Buffer) => copy.subarray(0, 20)],
  ['that is empty', () => Buffer.alloc(0)],
])('refuses an offline copy %s', async (_what, damage) => {
  const env = await leftWithCopy()
  const folder = join(env.HOME, '.cache/vault-client')
  const file = join(folder, readdirSync(folder)[0] ?? '')
  writeFileSync(file, damage(readFileSync(file)))
  expect(await vault(['run', '--offline-fallback', '--', 'true'], env)).toMatchObject({
    status: 1,
    err: expect.stringContaining('cannot be decrypted'),
  })
})

test('refuses an offline copy that is dated in the future', async () => {
  const home = newFolder()
  const server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', 'canary')
  const env = { ...projectOf(server.url), HOME: home }
  const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 120_000)
  await vault(['run', '--offline-fallback', '--', 'true'], env)
  clock.mockReturnValue(Date.now() - 3_600_000)
  await server[Symbol.asyncDispose]()
  const late = vault(['run', '--offline-fallback', '--', 'true'], env)
  expect(await late).toMatchObject({ status: 1, err: expect.stringContaining('future') })
  clock.mockRestore()
})

test('the offline copy is not used after a refusal by the vault', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', '1')
  const env = { ...projectOf(server.url), HOME: newFolder() }
  await vault(['run', '--offline-fallback', '--', 'true'], env)
  server.answerNext({ status: 401, body: '{"error":"invalid_signature"}' })
  expect(await vault(['run', '--offline-fallback', '--', 'true'], env)).toMatchObject({ status: 1 })
})

test('--watch restarts the command when secrets change, until it exits', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', 'first')
  const file = join(newFolder(), 'seen')
  const script = `echo "$A" >> ${file}; if [ "$A" = last ]; then exit 6; fi; exec sleep 60`
  const running = vault(['run', '--watch', '--interval', '1s', '--', 'sh', '-c', script], projectOf(server.url))
  while (server.seen.length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  server.secrets.set('A', 'last')
  const { status, err } = await running
  expect(status).toBe(6)
  expect(err).toContain('restarting')
  expect(readFileSync(file, 'utf8')).toBe('first\nlast\n')
})

test('--watch-signal sends the signal when secrets change', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', 'first')
  const script = `process.on('SIGHUP', () => process.exit(9)); setInterval(() => {}, 1000)`
  const args = ['run', '--watch-signal', 'hup', '--interval', '1s', '--', 'node', '-e', script]
  const running = vault(args, projectOf(server.url))
  while (server.seen.length < 3) await new Promise((resolve) => setTimeout(resolve, 20))
  server.secrets.set('A', 'changed')
  expect((await running).status).toBe(9)
})

/** Names from sudo's env_delete, glibc's list for setuid programs, and the manuals of interpreters. */
const CODE = [
  ...[
    'NODE_OPTIONS',
    'LD_PRELOAD',
    'LD_AUDIT',
    'DYLD_INSERT_LIBRARIES',
    'PATH',
    'BASH_ENV',
    'ENV',
    'IFS',
    'PS4',
    'PROMPT_COMMAND',
  ],
  ...[
    'SHELLOPTS',
    'BASH_FUNC_ls%%',
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'PYTHONHOME',
    'PERL5OPT',
    'PERL5LIB',
    'RUBYOPT',
    'RUBYLIB',
  ],
  ...[
    'JAVA_TOOL_OPTIONS',
    '_JAVA_OPTIONS',
    'JDK_JAVA_OPTIONS',
    'GIT_SSH_COMMAND',
    'GIT_CONFIG_COUNT',
    'EDITOR',
    'PAGER',
    'LESSOPEN',
  ],
  ...[
    'NODE_PATH',
    'npm_config_node_options',
    'NPM_CONFIG_SCRIPT_SHELL',
    'GCONV_PATH',
    'GLIBC_TUNABLES',
    'path',
    'ZDOTDIR',
    'HOME',
  ],
]

test.each(CODE)('a secret named %s is neither set nor exported as a variable, unless allowed', async (name) => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set(name, 'canary').set('A', '1')
  const env = projectOf(server.url)
  const refused = { status: 1, out: '', err: expect.stringContaining(name) }
  expect(await vault(['run', '--', 'true'], env)).toMatchObject(refused)
  for (const format of ['dotenv', 'docker', 'shell', 'fish', 'github-actions', 'k8s'])
    expect(await vault(['export', '--format', format], env)).toMatchObject(refused)
  expect(await vault(['get', '--format', 'shell'], env)).toMatchObject(refused)
  expect((await vault(['get', '--format', 'json'], env)).status).toBe(0)
  expect(await vault(['export', '--except', name], env)).toMatchObject({ status: 0, out: "A='1'\n" })
  expect(
    (await vault(['run', '--allow', name, '--', process.execPath, '--version'], { ...env, [name]: '' })).err,
  ).not.toContain('--allow')
})

test('the command is looked up in the PATH of the caller, and --preserve-env keeps variables', async () => {
  await using server = await startFakeVault(publicKeyHex)
  const folder = newFolder()
  for (const [name, text] of [
    ['own', 'of the caller'],
    ['other', 'of the vault'],
  ] as const) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'tool'), `#!/bin/sh\necho "${text}: $PATH, $LEVEL" > ${folder}/seen\n`, {
      mode: 0o755,
    })
  }
  server.secrets.set('PATH', join(folder, 'other')).set('LEVEL', 'secret')
  const env = { ...projectOf(server.url), PATH: `${join(folder, 'own')}:/bin`, LEVEL: 'own' }
  const seen = async (...options: string[]): Promise<string> => {
    expect(await vault(['run', ...options, '--', 'tool'], env)).toMatchObject({ status: 0, err: '' })
    return readFileSync(join(folder, 'seen'), 'utf8')
  }
  expect(await seen('--allow', 'PATH')).toBe(`of the caller: ${join(folder, 'other')}, secret\n`)
  expect(await seen('--preserve-env', 'PATH', '--preserve-env', 'LEVEL', '--preserve-env', 'NONE')).toBe(
    `of the caller: ${env.PATH}, own\n`,
  )
})

test('--only and --except select secrets, and an unknown key in --only is an error', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('K_A', '1').set('K_B', '2').set('K_C', '3')
  const file = join(newFolder(), 'seen')
  const seen = async (...options: string[]): Promise<string> => {
    await vault(['run', ...options, '--', 'sh', '-c', `env | grep ^K_ | sort > ${file}`], projectOf(server.url))
    return readFileSync(file, 'utf8')
  }
  expect(await seen('--only', 'K_A', '--only', 'K_B')).toBe('K_A=1\nK_B=2\n')
  expect(await seen('--except', 'K_A', '--except', 'NONE')).toBe('K_B=2\nK_C=3\n')
  expect(await vault(['run', '--only', 'K_D', '--', 'true'], projectOf(server.url))).toMatchObject({
    ...{ status: 1, err: expect.stringContaining('K_D') },
  })
})
