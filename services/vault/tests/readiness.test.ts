import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  eventually,
  type PgBouncer,
  removeTemporaryFolder,
  startPgBouncer,
  type TestDatabase,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { messageOf } from '@vault-and-tracker/service-kit/core/errors'
import { startHint } from '@vault-and-tracker/service-kit/lifecycle/start-hint'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { readConfig } from '../src/config.ts'
import { createContext } from '../src/context.ts'
import { admin, createProject, type Key, send, signedSend, statusAndError } from './support/client.ts'
import { createVaultDatabase, KEYS, startVault, type TestVault, vaultEnv } from './support/vault.ts'
import { spawnVaultProcess } from './support/vault-process.ts'

const nobody = `test_hints_${randomBytes(4).toString('hex')}`

let vault: TestVault
let key: Key

beforeAll(async () => {
  vault = await startVault()
  key = await createProject(vault.url, 'shop')
  await vault.sql(`create role ${nobody} login password 'secret'`)
  await vault.sql(`grant connect on database ${vault.database.name} to ${nobody}`)
})
afterAll(async () => {
  await vault.sql(`drop owned by ${nobody}`)
  await vault.sql(`drop role ${nobody}`)
  await vault.stop()
})

type Stores = { readonly databaseUrl: string; readonly redisUrl: string }

const stores = (changed: Partial<Stores> = {}): Stores => {
  return { databaseUrl: vault.database.appUrl, redisUrl: vault.redisUrl, ...changed }
}

/** The error with which the service does not start. */
async function startFailure(changed: Partial<Stores>, env: Record<string, string> = {}): Promise<unknown> {
  const config = readConfig(vaultEnv(stores(changed), env))
  const logger = createLogger({ name: 'vault', level: 'silent' })
  const context = await createContext({ config, logger, clock: systemClock }).catch((error: unknown) => ({ error }))
  if ('error' in context) return context.error
  await context.close()
  throw new Error('the vault has started')
}

const changed = (url: string, parts: Partial<URL>): string => Object.assign(new URL(url), parts).href
const databaseUrl = (parts: Partial<URL>) => ({ databaseUrl: changed(vault.database.appUrl, parts) })

test.each<[string, () => Partial<Stores>, RegExp]>([
  ['no Postgres', () => databaseUrl({ port: '9' }), /^Postgres .* DATABASE_URL\.$/],
  ['a wrong password', () => databaseUrl({ password: 'wrong' }), /^Postgres .* password.* DATABASE_URL\.$/],
  [
    'no such database',
    () => databaseUrl({ pathname: '/no_such_database' }),
    /^This database does not exist: create it, or correct DATABASE_URL\.$/,
  ],
  [
    'a role without rights',
    () => databaseUrl({ username: nobody, password: 'secret' }),
    /migrate.*RUNTIME_ROLE.*DATABASE_URL/,
  ],
  [
    'a database that was not migrated',
    () => ({ databaseUrl: changed(vault.database.adminUrl, { pathname: '/postgres' }) }),
    /^The tables of this release are missing.*migrate/,
  ],
  ['no Redis', () => ({ redisUrl: changed(vault.redisUrl, { port: '9' }) }), /^Redis .* REDIS_URL\.$/],
])('%s: the start fails with a remedy', async (_what, change, hint) => {
  expect(startHint(await startFailure(change()))).toMatch(hint)
})

test('the process logs the remedy instead of a stack, and exits with 1', async () => {
  const folder = temporaryFolder('readiness')
  const started = await spawnVaultProcess({ folder, ...stores(databaseUrl({ port: '9' })) })
  expect(await started.process.exited).toEqual({ code: 1, signal: null })
  const lines = started
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string })
  const [failure] = lines.filter(({ msg }) => msg === 'could not start')
  expect(failure).toMatchObject({ hint: expect.stringMatching(/^Postgres .* DATABASE_URL\.$/) })
  expect(failure).toHaveProperty('reason', expect.any(String))
  expect(failure).not.toHaveProperty('err')
  removeTemporaryFolder(folder)
})

const keyring = (id: string, material: string) => ({ VAULT_KEYRING: `${id}:${material}`, VAULT_KEYRING_ACTIVE: id })

test('refuses to start with a missing or changed key-encryption key', async () => {
  const { '2026-11': old } = KEYS
  const known = await vault.sql<{ kek_id: string; fingerprint: string }>('select * from keks order by kek_id')
  const fingerprint = known.find(({ kek_id: id }) => id === '2026-11')?.fingerprint ?? 'none'

  const removed = messageOf(await startFailure({}, keyring('2027-01', randomBytes(32).toString('base64'))))
  expect(removed).toContain(`key 2026-11 (fingerprint ${fingerprint}) is in use`)

  const folder = temporaryFolder('readiness-keyring')
  const env = keyring('2026-11', randomBytes(32).toString('base64'))
  const changed = await spawnVaultProcess({ folder, ...stores({}), env })
  expect((await changed.process.exited).code).toBe(1)
  expect(changed.log()).toMatch(
    new RegExp(`key 2026-11 differs: .*fingerprint ${fingerprint}, the keyring has (?!${fingerprint})[0-9a-f]{16}`),
  )
  for (const material of [old, env.VAULT_KEYRING.split(':')[1]])
    expect(`${removed}${changed.log()}`).not.toContain(material)
  removeTemporaryFolder(folder)
  expect(await vault.sql('select * from keks order by kek_id')).toEqual(known)

  const again = await vault.replica(keyring('2026-11', old))
  expect((await signedSend({ project: 'shop', key, method: 'GET', url: `${again.url}/v1/secrets` })).status).toBe(200)
  await again.stop()
})

async function ready(): Promise<[number, unknown]> {
  const { status, body } = await send(`${vault.url}/ready`)
  return [status, (body as { checks: unknown }).checks]
}

const failed = (part: string) => [503, { postgres: 'ok', redis: 'ok', keyring: 'ok', audit: 'ok', [part]: 'failed' }]

test('is not ready at a replica whose keyring lost a used key', async () => {
  await createProject(vault.url, 'ready')
  await vault.sql(`insert into keks (kek_id, fingerprint, first_seen) values ('2031-05', '0123456789abcdef', now())`)
  await vault.sql(
    `update project_deks set kek_id = '2031-05' where project_uid = (select uid from projects where name = 'ready')`,
  )
  expect(await ready()).toEqual(failed('keyring'))
  // The line may be written after the response.
  const reason = 'key 2031-05 (fingerprint 0123456789abcdef) is in use'
  await eventually(() => vault.logged().includes(reason))
  await admin(vault.url, 'DELETE', '/projects/ready')
  await vault.sql(`delete from keks where kek_id = '2031-05'`)
  expect((await ready())[0]).toBe(200)
})

test('is not ready if the run-time role lacks a right', async () => {
  const [role] = await vault.sql<{ name: string }>(
    `select grantee as name from information_schema.column_privileges
     where table_name = 'audit' and column_name = 'ip' and privilege_type = 'INSERT' and grantee like '%app%' limit 1`,
  )
  const name = String(role?.name)
  const columns = 'id, project_uid, project_id, action, env, requested_at, ip, detail'
  await vault.sql(`revoke insert (${columns}) on audit from ${name}`)
  const during = await ready()
  await vault.sql(`grant insert (${columns}) on audit to ${name}`)
  expect(during).toEqual(failed('postgres'))
  expect((await ready())[0]).toBe(200)
})

test('counts a damaged data key as a decryption failure of a write', async () => {
  await vault.sql(`update project_deks set wrapped = set_byte(wrapped, 20, get_byte(wrapped, 20) # 1)`)
  vault.advance(301_000)
  const body = { key: 'A', value: '1', env: 'production' }
  const written = await signedSend({ project: 'shop', key, method: 'PUT', url: `${vault.url}/v1/secrets`, body })
  expect(statusAndError(written)).toEqual([500, 'decryption_failed'])
  const metrics = await (await fetch(`${vault.url}/metrics`)).text()
  expect(metrics).toMatch(/vault_decryption_failures_total [1-9]/)
})

describe('through PgBouncer', () => {
  let database: TestDatabase
  let pooler: PgBouncer

  beforeAll(async () => {
    database = await createVaultDatabase()
    pooler = await startPgBouncer(database.appUrl)
  })
  afterAll(async () => {
    await pooler.stop()
    await database.drop()
  })

  test('a start through PgBouncer without the parameter fails with the remedy', async () => {
    const start = startVault({}, { database: { ...database, appUrl: pooler.url } })
    expect(startHint(await start.catch((error: unknown) => error))).toMatch(/pgbouncer=true.*DATABASE_URL/)
  })

  test('stores and fetches secrets through PgBouncer in transaction mode', async () => {
    const appUrl = `${pooler.url}?pgbouncer=true`
    const vault = await startVault({}, { database: { ...database, appUrl } })
    const other = await vault.replica()
    const key = await createProject(vault.url, 'shop')
    const signed = (method: string, base: string, path: string, body?: object) =>
      signedSend({ project: 'shop', key, method, url: `${base}/v1/secrets${path}`, ...(body && { body }) })
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const { url } = i % 2 === 0 ? vault : other
        const env = `env-${String(i % 3)}`
        const put = await signed('PUT', url, '', { key: `KEY_${String(i)}`, value: String(i), env })
        const fetched = await signed('GET', url, `?env=${env}`)
        return [put.status, fetched.status, (fetched.body as Record<string, string>)[`KEY_${String(i)}`] === String(i)]
      }),
    )
    expect(new Set(outcomes.map(String))).toEqual(new Set(['200,200,true']))
    expect(await vault.seal()).toBeGreaterThan(12)
    expect((await fetch(`${vault.url}/ready`)).status).toBe(200)
    await other.stop()
    await vault.stop()
  })
})
