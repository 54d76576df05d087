import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { EnvError } from '@vault-and-tracker/service-kit/config/env'
import { type Config, readConfig } from './config.ts'

const good = {
  DATABASE_URL: 'postgres://vault_app:pg-password@db/vault',
  REDIS_URL: 'redis://redis',
  ADMIN_TOKEN: randomBytes(32).toString('hex'),
  VAULT_KEYRING: `k1:${randomBytes(32).toString('base64')},k2:${randomBytes(32).toString('base64')}`,
  VAULT_KEYRING_ACTIVE: 'k1',
}

const transit = { TRANSIT_URL: 'https://bao:8200/', TRANSIT_KEY: 'vault', TRANSIT_TOKEN: 's.secret-token' }
const signIn = {
  PUBLIC_URL: 'https://vault.example.org',
  OIDC_ISSUER: 'https://id.example.org',
  OIDC_CLIENT_ID: 'vault',
  OIDC_CLIENT_SECRET: 'client-secret',
  OIDC_ROLES: 'admins=administrator',
}

function problems(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof EnvError) return error.problems
    throw error
  }
}

test('defaults are those of the documentation', () => {
  const config = readConfig(good)
  expect(config).toMatchObject({
    PORT: 4200,
    HOST: '0.0.0.0',
    PUBLIC_URL: [],
    DATABASE_POOL_SIZE: 10,
    FETCH_RATE_LIMIT: 300,
    SIGNATURE_FAILURE_LIMIT: 100,
    ADMIN_FAILURE_LIMIT: 10,
    WRITE_RATE_LIMIT: 600,
    MAX_SECRETS: 2_000,
    MAX_ENVIRONMENT_BYTES: 4_194_304,
    MAX_ENVIRONMENTS: 100,
    MAX_VERSIONS: 100,
    LOG_LEVEL: 'info',
  })
  expect(JSON.stringify(config)).not.toContain(good.VAULT_KEYRING)
})

test('an empty environment is refused with everything that is missing, at once', () => {
  expect(problems({}).map((problem) => problem.split(':')[0])).toEqual([
    'DATABASE_URL',
    'REDIS_URL',
    'ADMIN_TOKEN',
    'VAULT_KEYRING',
  ])
})

test.each([
  ['short', '0123456789abcdef-0123456789abcd'],
  ['one letter', 'a'.repeat(64)],
  ['two letters', 'ab'.repeat(32)],
  ['digits in a row', '12345678901234567890123456789012'],
  ['the alphabet', 'abcdefghijklmnopqrstuvwxyzabcdefgh'],
  ['a part again and again', 'k3J!x9Qz'.repeat(5)],
  ['a placeholder', 'please-changeme-0123456789-abcdefgh'],
  ['with a space', `${'0123456789abcdef'.repeat(2)} x`],
])('an admin token that is %s is refused, without being repeated', (_name, token) => {
  for (const name of ['ADMIN_TOKEN', 'ADMIN_TOKEN_PREVIOUS']) {
    const [problem = '', ...others] = problems({ ...good, [name]: token })
    expect([problem.split(':')[0], others]).toEqual([name, []])
    expect(problem).not.toContain(token)
  }
})

test('problems of variables, proxies and keyring are reported together', () => {
  const env = { ...good, PORT: 'x', FETCH_RATE_LIMIT: '-1', VAULT_KEYRING: 'a:b', VAULT_KEYRING_ACTIVE: 'c' }
  expect(problems(env).map((problem) => problem.split(':')[0])).toEqual([
    'PORT',
    'FETCH_RATE_LIMIT',
    'VAULT_KEYRING',
    'VAULT_KEYRING',
  ])
  expect(problems({ ...good, TRUSTED_PROXIES: '10.0.0.0/99' })).toEqual([expect.stringContaining('TRUSTED_PROXIES')])
})

test('each secret can be in a private file instead', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vault-config-'))
  const complete = { ...good, ADMIN_TOKEN_PREVIOUS: randomBytes(32).toString('hex'), ...transit, ...signIn }
  const secrets = ['DATABASE_URL', 'REDIS_URL', 'ADMIN_TOKEN', 'ADMIN_TOKEN_PREVIOUS', 'VAULT_KEYRING', 'TRANSIT_TOKEN']
  secrets.push('OIDC_CLIENT_SECRET')
  const env = Object.fromEntries(
    Object.entries(complete).map(([name, value]) => {
      if (!secrets.includes(name)) return [name, value]
      writeFileSync(join(folder, name), `${value}\n`, { mode: 0o600 })
      return [`${name}_FILE`, join(folder, name)]
    }),
  )
  try {
    expect(Object.keys(env).filter((name) => name.endsWith('_FILE'))).toHaveLength(secrets.length)
    expect(comparable(readConfig(env))).toEqual(comparable(readConfig(complete)))
    for (const name of secrets) {
      chmodSync(join(folder, name), 0o640)
      expect(problems(env)).toEqual([expect.stringContaining(`${name}_FILE`)])
      chmodSync(join(folder, name), 0o400)
      expect(problems({ ...env, [name]: 'canary' })).toEqual([`${name}, ${name}_FILE: set one of them, not both`])
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

/** A configuration with its keyring and token as values. */
function comparable({ keyring, transit: service, ...config }: Config): object {
  return { ...config, proxies: undefined, keys: [...keyring.keys.values()], token: service?.readToken() }
}

test.each([
  ['a host without a scheme', 'vault.example'],
  ['another scheme', 'ftp://vault.example'],
  ['a path', 'https://vault.example/vault'],
  ['a query', 'https://vault.example?a'],
  ['a user', 'https://user@vault.example'],
  ['an empty part', 'https://vault.example,'],
])('a public URL with %s is refused, without being repeated', (_name, url) => {
  expect(problems({ ...good, PUBLIC_URL: url })).toEqual([
    'PUBLIC_URL: must be a comma-separated list of https:// or http:// URLs without a path',
  ])
})

const withoutKeyring = { ...good, VAULT_KEYRING: '', VAULT_KEYRING_ACTIVE: '' }

test('a key service can supplement or replace a keyring, and its token is not stored in the configuration', () => {
  for (const env of [good, withoutKeyring]) {
    const config = readConfig({ ...env, ...transit })
    expect(config.transit).toMatchObject({ url: 'https://bao:8200', key: 'vault', mount: 'transit', wraps: true })
    expect(config.transit?.readToken()).toBe('s.secret-token')
    expect(JSON.stringify(config)).not.toContain('s.secret-token')
  }
  expect(readConfig({ ...withoutKeyring, ...transit }).keyring.activeId).toBe('')
})

test.each([
  ['without TLS to another machine', { TRANSIT_URL: 'http://bao:8200' }, 'TRANSIT_URL'],
  ['with a path', { TRANSIT_URL: 'https://bao:8200/v1' }, 'TRANSIT_URL'],
  ['with a password in its address', { TRANSIT_URL: 'https://u:p@bao' }, 'TRANSIT_URL'],
  ['without a key', { TRANSIT_KEY: '' }, 'TRANSIT_KEY'],
  ['with a key that is a path', { TRANSIT_KEY: '../sys' }, 'TRANSIT_KEY'],
  ['with a mount that leaves the API', { TRANSIT_MOUNT: 'transit/../sys' }, 'TRANSIT_MOUNT'],
  ['without a token', { TRANSIT_TOKEN: '' }, 'TRANSIT_TOKEN'],
  ['with two tokens', { TRANSIT_TOKEN_FILE: '/token' }, 'TRANSIT_TOKEN, TRANSIT_TOKEN_FILE'],
  ['with a token of two lines', { TRANSIT_TOKEN: 'a\nb' }, 'TRANSIT_TOKEN'],
])('a service of keys %s is refused', (_name, change, variable) => {
  const [problem = '', ...others] = problems({ ...withoutKeyring, ...transit, ...change })
  expect([problem.split(':')[0], others]).toEqual([variable, []])
  expect(problem).not.toContain('s.secret-token')
})
