import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { commonEnv, connectionUrl, EnvError, flag, integer, parseEnv, port } from './env.ts'

function problems(schema: Parameters<typeof parseEnv>[0], env: Record<string, string>): readonly string[] {
  try {
    parseEnv(schema, env)
  } catch (error) {
    if (error instanceof EnvError) return error.problems
    throw error
  }
  return []
}

test('a configuration has its defaults and is frozen', () => {
  const config = parseEnv(z.object({ ...commonEnv, PORT: port(4200) }), {
    DATABASE_URL: 'postgres://vault_app@localhost/vault',
    REDIS_URL: 'redis://localhost',
  })
  expect(config).toEqual({
    HOST: '0.0.0.0',
    PORT: 4200,
    DATABASE_URL: 'postgres://vault_app@localhost/vault',
    DATABASE_POOL_SIZE: 10,
    REDIS_URL: 'redis://localhost',
    TRUSTED_PROXIES: [],
    LOG_LEVEL: 'info',
    REVISION: 'unknown',
  })
  expect(Object.isFrozen(config)).toBe(true)
})

test('all problems are listed, each with its variable', () => {
  const schema = z.object({ ...commonEnv, PORT: port(1), STRICT: flag(false) })
  expect(
    problems(schema, { PORT: '70000', REDIS_URL: 'http://localhost', STRICT: 'perhaps', LOG_LEVEL: 'loud' }),
  ).toEqual([
    'DATABASE_URL: is required and not set',
    expect.stringMatching(/^REDIS_URL: must be redis:/),
    'LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal, silent',
    'PORT: must be a whole number from 0 to 65535',
    'STRICT: must be true or false',
  ])
})

test.each([
  ['10.0.0.0/33', '10.0.0.0/33 is neither an address nor a CIDR range'],
  ['10.0.0.1,cafe', 'cafe is neither an address nor a CIDR range'],
  ['2001:db8::/129', '2001:db8::/129 is neither an address nor a CIDR range'],
  ['10.0.0.0/8,', 'must be a comma-separated list of addresses or CIDR ranges'],
  ['canary', 'must be a comma-separated list of addresses or CIDR ranges'],
])('trusted proxies that are not addresses or ranges (%s) are reported with the other problems', (ranges, problem) => {
  expect(problems(z.object({ ...commonEnv, PORT: port(1) }), { TRUSTED_PROXIES: ranges, PORT: 'x' })).toEqual([
    `TRUSTED_PROXIES: ${problem}`,
    'DATABASE_URL: is required and not set',
    'REDIS_URL: is required and not set',
    'PORT: must be a whole number from 0 to 65535',
  ])
})

test('a problem never repeats the value, which may be a secret', () => {
  const schema = z.object({
    DATABASE_URL: connectionUrl('postgres'),
    TOKEN: z.string().min(32, 'must have 32 characters'),
  })
  const found = problems(schema, { DATABASE_URL: 'mysql://u:canary@h/d', TOKEN: 'canary' }).join()
  expect(found).toContain('TOKEN')
  expect(found).not.toContain('canary')
})

test('a URL of Postgres that names a missing file for TLS is a problem', () => {
  const env = { DATABASE_URL: 'postgres://u:canary@h/d?sslmode=verify-full&sslrootcert=/no/canary' }
  expect(problems(z.object({ DATABASE_URL: commonEnv.DATABASE_URL }), env)).toEqual([
    expect.stringMatching(/^DATABASE_URL: (?!.*canary).*sslrootcert/),
  ])
})

test('an empty variable counts as not set', () => {
  expect(parseEnv(z.object({ PORT: port(4200) }), { PORT: '' })).toEqual({ PORT: 4200 })
})

test.each([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
])('the flag %s is %s', (text, value) => {
  expect(parseEnv(z.object({ FLAG: flag(!value) }), { FLAG: text })).toEqual({ FLAG: value })
})

test.each(['', ' ', '1.5', '1e3', '0x10', '-1', '11', 'ten'])('%j is not a whole number from 0 to 10', (text) => {
  const schema = z.object({ N: integer({ min: 0, max: 10, fallback: 3 }) })
  if (text === '') expect(parseEnv(schema, { N: text })).toEqual({ N: 3 })
  else expect(problems(schema, { N: text })).toEqual(['N: must be a whole number from 0 to 10'])
})

test('address ranges are split at commas, and anything else is refused', () => {
  const schema = z.object({ PROXIES: commonEnv.TRUSTED_PROXIES })
  expect(parseEnv(schema, { PROXIES: '10.0.0.0/8, ::1' })).toEqual({ PROXIES: ['10.0.0.0/8', '::1'] })
  expect(problems(schema, { PROXIES: 'nginx' })).toHaveLength(1)
})

const secrets = z.object({
  DATABASE_URL: commonEnv.DATABASE_URL,
  TOKEN: z.string().min(8, 'must have 8 characters').optional().meta({ secret: true }),
  NAME: z.string().optional(),
})

/** Calls `use` with a private file of this content. */
function withFile(content: string, use: (path: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'env-'))
  const path = join(folder, 'secret')
  writeFileSync(path, content, { mode: 0o600 })
  try {
    use(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test.each([
  ['postgres://u:canary@h/d', 'postgres://u:canary@h/d'],
  ['postgres://u:canary@h/d\n', 'postgres://u:canary@h/d'],
  ['postgres://u:canary@h/d\r\n', 'postgres://u:canary@h/d'],
  ['postgres://u:canary@h/d\n\n', 'postgres://u:canary@h/d\n'],
])('a secret can be in a file, which may end with a newline: %j', (content, value) => {
  withFile(content, (path) => {
    for (const name of ['', undefined])
      expect(parseEnv(secrets, { DATABASE_URL: name, DATABASE_URL_FILE: path })).toEqual({ DATABASE_URL: value })
  })
})

test('every problem of a file is reported with its variable and the other problems, and never with content or path', () => {
  withFile('canary', (path) => {
    const found = (env: Record<string, string>): readonly string[] => problems(secrets, env)
    expect(found({ DATABASE_URL_FILE: path, TOKEN_FILE: path })).toEqual([
      expect.stringMatching(/^DATABASE_URL: /),
      'TOKEN: must have 8 characters',
    ])
    expect(found({ DATABASE_URL: 'postgres://u:canary@h', DATABASE_URL_FILE: path, TOKEN: 'canary' })).toEqual([
      'DATABASE_URL, DATABASE_URL_FILE: set one of them, not both',
      'TOKEN: must have 8 characters',
    ])
    expect(found({ DATABASE_URL_FILE: 'postgres://u:canary@h' })).toEqual([
      'DATABASE_URL_FILE: the file cannot be read (ENOENT)',
    ])
    for (const empty of ['', '\n']) {
      writeFileSync(path, empty)
      expect(found({ DATABASE_URL_FILE: path })).toEqual(['DATABASE_URL_FILE: the file is empty'])
    }
  })
})

test('only secrets are read from files', () => {
  withFile('canary', (path) => {
    expect(parseEnv(secrets, { DATABASE_URL: 'postgres://h', NAME_FILE: path })).toEqual({
      DATABASE_URL: 'postgres://h',
    })
  })
})

test('a file of this user must be private, unlike one that a container mounts for another user', () => {
  withFile('canary-token', (path) => {
    const env = { DATABASE_URL: 'postgres://h', TOKEN_FILE: path }
    for (const mode of [0o640, 0o604, 0o660, 0o444]) {
      chmodSync(path, mode)
      expect(problems(secrets, env)).toEqual([expect.stringMatching(/^TOKEN_FILE: .*chmod 600/)])
    }
    const isRoot = process.getuid?.() === 0
    if (isRoot) chownSync(path, 65_534, 65_534)
    expect(parseEnv(secrets, { ...env, TOKEN_FILE: isRoot ? path : '/etc/passwd' })).toHaveProperty('TOKEN')
  })
})
