import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { ignoredSettings, readSettings, type Settings } from './settings.ts'

const root = join(import.meta.dirname, '../../../..')
const dataDir = mkdtempSync(join(tmpdir(), 'settings-test-'))
afterAll(() => rmSync(dataDir, { recursive: true }))

const read = (env: NodeJS.ProcessEnv): Promise<Settings> => readSettings(env, { root, fromSource: true, dataDir })

async function problemsOf(env: NodeJS.ProcessEnv): Promise<string> {
  const error: unknown = await read(env).then(
    () => undefined,
    (cause: unknown) => cause,
  )
  if (!(error instanceof Error) || error.name !== 'Fault') throw new Error('the settings were accepted')
  return error.message
}

test('all wrong settings are reported at once, and no value of a URL is repeated', async () => {
  const env = { VAULT_PORT: 'x', TRACKER_PORT: '70000', DATABASE_URL: 'mysql://root:secret@h/d', REDIS_URL: 'h:6379' }
  const message = await problemsOf(env)
  for (const name of Object.keys(env)) expect(message).toContain(name)
  expect(message).not.toContain('secret')
})

test('an empty variable is one that is not set', async () => {
  const empty = { VAULT_PORT: '', TRACKER_PORT: '', DATABASE_URL: '', REDIS_URL: '', TRACKER_MODE: '', TRACKER_MOD: '' }
  expect(await read(empty)).toEqual({
    vaultPort: 4200,
    trackerPort: 6969,
    databaseUrl: undefined,
    redisUrl: undefined,
    variables: { vault: {}, tracker: {} },
  })
})

test('each service gets its own settings and the common ones, except those that dev-env sets', async () => {
  const { variables, databaseUrl } = await read({
    TRACKER_MODE: 'open',
    FETCH_RATE_LIMIT: '7',
    LOG_LEVEL: 'debug',
    DATABASE_POOL_SIZE: '3',
    DATABASE_URL: 'postgres://admin@127.0.0.1/mine',
    REDIS_URL: 'redis://127.0.0.1',
    HOST: 'my-machine',
    PORT: '3000',
    HOME: '/home/me',
  })
  expect(variables).toEqual({
    vault: { FETCH_RATE_LIMIT: '7', LOG_LEVEL: 'debug', DATABASE_POOL_SIZE: '3' },
    tracker: { TRACKER_MODE: 'open', LOG_LEVEL: 'debug', DATABASE_POOL_SIZE: '3' },
  })
  expect(databaseUrl).toBe('postgres://admin@127.0.0.1/mine')
})

test('the public URL of the vault has its own name, as with Compose', async () => {
  const { variables } = await read({
    PUBLIC_URL: 'https://tracker.example',
    VAULT_PUBLIC_URL: 'https://vault.example',
  })
  expect(variables).toEqual({
    vault: { PUBLIC_URL: 'https://vault.example' },
    tracker: { PUBLIC_URL: 'https://tracker.example' },
  })
})

test('values that a service would refuse are reported for both services before anything starts', async () => {
  const message = await problemsOf({ TRACKER_MODE: 'opne', ANNOUNCE_LIMIT: 'many', FETCH_RATE_LIMIT: '-1' })
  expect(message).toMatch(/^vault: [^]*FETCH_RATE_LIMIT[^]*^tracker: [^]*TRACKER_MODE[^]*ANNOUNCE_LIMIT/m)
})

test("the user's secrets replace the generated ones, including those in files", async () => {
  const message = await problemsOf({ VAULT_KEYRING: 'mine:not-a-key', VAULT_KEYRING_ACTIVE: 'mine' })
  expect(message).toMatch(/^vault: [^]*mine/)
  for (const name of ['VAULT_KEYRING', 'ADMIN_TOKEN']) {
    const file = join(dataDir, name)
    writeFileSync(file, 'canary', { mode: 0o600 })
    expect(await problemsOf({ [`${name}_FILE`]: file })).toMatch(new RegExp(`^vault: [^]*${name}: `))
  }
})

test('a misspelt setting is reported with the right name', async () => {
  expect(await problemsOf({ TRACKER_MOD: 'open' })).toMatch(/^TRACKER_MOD .* TRACKER_MODE\?$/)
  const message = await problemsOf({ TRAKCER_MODE: 'open', ANOUNCE_INTERVALL: '60', tracker_port: '1', VALT_PORT: '2' })
  expect(message.split('\n').map((line) => line.split(' ')[0])).toEqual([
    'TRAKCER_MODE',
    'ANOUNCE_INTERVALL',
    'tracker_port',
    'VALT_PORT',
  ])
})

test('unknown variables are accepted', async () => {
  const others = ['PATH', 'POST', 'HOSTS', 'LOGLEVEL', 'DATABASE_URI', 'REDIS_URI', 'VAULT_ADDR', 'VAULT_TOKEN']
  const more = ['VAULT_URL', 'TRACKER_HOST', 'MODE', 'TEST_DATABASE_URL', 'npm_config_port', 'DATADIR', 'ADMIN']
  const { variables } = await read(Object.fromEntries([...others, ...more].map((name) => [name, 'x'])))
  expect(variables).toEqual({ vault: {}, tracker: {} })
})

test('a port or host for both services at once is named, with what to set instead', () => {
  expect(ignoredSettings({ PORT: '8080', HOST: '0.0.0.0', VAULT_PORT: '1' })).toEqual([
    expect.stringMatching(/^HOST /),
    expect.stringMatching(/^PORT .*VAULT_PORT and TRACKER_PORT/),
  ])
  expect(ignoredSettings({ PORT: '' })).toEqual([])
})
