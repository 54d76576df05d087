import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  type PrivateServer,
  removeTemporaryFolder,
  startRedis,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import { createProject, type Key, send, signedSend, statusAndError } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let folder: string
let redis: PrivateServer
let client: Redis
let vault: TestVault
let key: Key

beforeAll(async () => {
  folder = temporaryFolder('readiness')
  redis = await startRedis({ dataDir: `${folder}/redis`, durable: false })
  client = new Redis(redis.url)
  vault = await startVault({}, { redisUrl: redis.url })
  key = await createProject(vault.url, 'shop')
})
afterAll(async () => {
  client.disconnect()
  await vault.stop()
  await redis.stop()
  removeTemporaryFolder(folder)
})

async function ready(): Promise<[number, unknown]> {
  const { status, body } = await send(`${vault.url}/ready`)
  return [status, (body as { checks: unknown }).checks]
}

const fetchOnce = () => signedSend({ project: 'shop', key, method: 'GET', url: `${vault.url}/v1/secrets` })
const put = () =>
  signedSend({
    ...{ project: 'shop', key, method: 'PUT', url: `${vault.url}/v1/secrets` },
    body: { key: 'A', value: '1', env: 'production' },
  })
const failed = (part: string) => [503, { postgres: 'ok', redis: 'ok', keyring: 'ok', audit: 'ok', [part]: 'failed' }]

const REDIS_FAULTS: readonly (readonly [string, () => Promise<unknown>, () => Promise<unknown>])[] = [
  ['is full', () => client.config('SET', 'maxmemory', '1'), () => client.config('SET', 'maxmemory', '0')],
  [
    'lacks its replicas',
    () => client.config('SET', 'min-replicas-to-write', '1'),
    () => client.config('SET', 'min-replicas-to-write', '0'),
  ],
  ['is read-only', () => client.replicaof('127.0.0.1', 1), () => client.replicaof('NO', 'ONE')],
]

test.each(REDIS_FAULTS)('while Redis %s, the vault is not ready and reports the check', async (_fault, begin, end) => {
  await begin()
  const during = await ready()
  const answer = await fetchOnce()
  await end()
  expect(during).toEqual(failed('redis'))
  expect(statusAndError(answer)).toEqual([503, 'unavailable'])
  await eventually(async () => (await ready())[0] === 200)
})

test('is unavailable while Redis is busy with a script', async () => {
  await client.config('SET', 'lua-time-limit', '1')
  const other = new Redis(redis.url)
  const script = other.eval('while true do end', 0).catch(() => 'killed')
  const statuses = new Set<string>()
  await eventually(async () => {
    statuses.add(JSON.stringify(statusAndError(await fetchOnce())))
    return statuses.size > 0 && (await client.ping().catch((error: unknown) => String(error))).includes('BUSY')
  })
  const busy = await fetchOnce()
  await client.script('KILL')
  expect(await script).toBe('killed')
  other.disconnect()
  expect(statusAndError(busy)).toEqual([503, 'unavailable'])
  await eventually(async () => (await ready())[0] === 200)
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
  expect(statusAndError(await put())).toEqual([500, 'decryption_failed'])
  const metrics = await (await fetch(`${vault.url}/metrics`)).text()
  expect(metrics).toMatch(/vault_decryption_failures_total [1-9]/)
})
