import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type TestDatabase, temporaryFolder, testRedis } from '@vault-and-tracker/dev-env'
import { activateInKeyringFile, addToKeyringFile } from '../src/keyring/keyring.file.ts'
import { admin, createProject, type Key, newKey, signedSend, statusAndError } from './support/client.ts'
import { runKeyring } from './support/keyring.ts'
import { startTransitServer, type TransitServer } from './support/transit-server.ts'
import { createVaultDatabase, startVault, type TestVault } from './support/vault.ts'

const TOKEN = 's.token-of-the-vault'
const NO_KEYRING = { VAULT_KEYRING: '', VAULT_KEYRING_ACTIVE: '' }
const UNAVAILABLE = [503, 'unavailable']

let service: TransitServer
let database: TestDatabase
let folder: string
let tokenFile: string
let redisUrl: string
const running: TestVault[] = []

beforeEach(async () => {
  service = await startTransitServer('vault')
  database = await createVaultDatabase()
  redisUrl = (await testRedis()).url
  folder = temporaryFolder('transit')
  tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 })
})
afterEach(async () => {
  for (const vault of running.splice(0)) await vault.stop()
  await service.stop()
  await database.drop()
})

const transit = () => ({ TRANSIT_URL: service.url, TRANSIT_KEY: 'vault', TRANSIT_TOKEN_FILE: tokenFile })

async function start(env: Record<string, string>): Promise<TestVault> {
  const vault = await startVault({ ...NO_KEYRING, ...env }, { database, redisUrl })
  running.push(vault)
  return vault
}

const keys = (env: Record<string, string>, ...args: string[]) =>
  runKeyring(args, { DATABASE_URL: database.appUrl, ...env })

const request = (vault: TestVault, project: string, key: Key, method: string, body?: unknown) =>
  signedSend({ project, key, method, url: `${vault.url}/v1/secrets`, body })

const put = (vault: TestVault, project: string, key: Key, name = 'A') =>
  request(vault, project, key, 'PUT', { key: name, value: `value of ${name}`, env: 'production' })

const read = (vault: TestVault, project: string, key: Key) => request(vault, project, key, 'GET')

async function kekIds(vault: TestVault): Promise<string[]> {
  const rows = await vault.sql<{ kek_id: string }>(
    'select kek_id from project_deks union select kek_id from audit_keys order by 1',
  )
  return rows.map(({ kek_id: id }) => id)
}

const ready = async (vault: TestVault) => (await fetch(`${vault.url}/ready`)).status

test('works with all key-encryption keys in a service', async () => {
  const first = await start(transit())
  const key = await createProject(first.url, 'shop')
  expect((await put(first, 'shop', key)).status).toBe(200)
  expect((await read(first, 'shop', key)).body).toEqual({ A: 'value of A' })
  expect(await kekIds(first)).toEqual(['transit.vault.v1'])
  expect(await ready(first)).toBe(200)
  const second = await start(transit())
  expect((await read(second, 'shop', key)).body).toEqual({ A: 'value of A' })
  expect(first.logged()).not.toContain(TOKEN)
})

test('moves data keys from the file to the service and back', async () => {
  const file = join(folder, 'keyring.json')
  addToKeyringFile(file, 'k1')
  const local = { VAULT_KEYRING_FILE: file }
  const before = await start(local)
  const key = await createProject(before.url, 'shop')
  await put(before, 'shop', key)
  expect(await keys({ ...local, ...transit() }, 'rewrap')).toMatchObject({ status: 0, stderr: '' })
  expect(await kekIds(before)).toEqual(['transit.vault.v1'])
  expect((await keys({ ...local, ...transit() }, 'retire', 'k1')).status).toBe(0)
  const alone = await start(transit())
  expect((await read(alone, 'shop', key)).body).toEqual({ A: 'value of A' })
  expect((await admin(alone.url, 'GET', '/audit?action=key.rewrap')).body).toMatchObject([
    { detail: { from: 'k1', to: 'transit.vault.v1' } },
  ])
  const back = { VAULT_KEYRING_FILE: file, ...transit(), TRANSIT_WRAPS: 'false' }
  addToKeyringFile(file, 'k2')
  activateInKeyringFile(file, 'k2')
  expect(await keys(back, 'rewrap')).toMatchObject({ status: 0, stderr: '' })
  expect(await kekIds(alone)).toEqual(['k2'])
  const afterwards = await start(local)
  expect((await read(afterwards, 'shop', key)).body).toEqual({ A: 'value of A' })
})

test('rewraps to a new version of the key in the service', async () => {
  const old = await start(transit())
  const key = await createProject(old.url, 'shop')
  await put(old, 'shop', key)
  service.rotate()
  const replica = await start(transit())
  const blog = await createProject(replica.url, 'blog')
  await put(replica, 'blog', blog)
  expect(await kekIds(replica)).toEqual(['transit.vault.v1', 'transit.vault.v2'])
  // It does not know the second version.
  expect((await read(old, 'blog', blog)).body).toEqual({ A: 'value of A' })
  expect(await ready(old)).toBe(200)
  service.requests.length = 0
  expect(JSON.parse((await keys(transit(), 'rewrap')).stdout)).toEqual({ rewrapped: 2 })
  expect(service.requests).toEqual(['GET keys', 'POST rewrap', 'POST rewrap'])
  expect((await keys(transit(), 'retire', 'transit.vault.v1')).status).toBe(0)
  service.minDecryptionVersion = 2
  const fresh = await start(transit())
  expect((await read(fresh, 'shop', key)).body).toEqual({ A: 'value of A' })
})

test('serves cached data keys while the service is unavailable, and recovers', async () => {
  const vault = await start(transit())
  const shop = await createProject(vault.url, 'shop')
  const blog = await createProject(vault.url, 'blog')
  await put(vault, 'shop', shop)
  expect((await read(vault, 'shop', shop)).status).toBe(200)
  await put(vault, 'blog', blog)
  service.mode = 'drops'
  expect((await read(vault, 'shop', shop)).body).toEqual({ A: 'value of A' })
  expect(await ready(vault)).toBe(503)
  const register = await admin(vault.url, 'POST', '/projects', { name: 'new', publicKey: newKey().publicKeyHex })
  expect(statusAndError(register)).toEqual(UNAVAILABLE)
  vault.advance(301_000)
  expect(statusAndError(await read(vault, 'shop', shop))).toEqual(UNAVAILABLE)
  expect(statusAndError(await put(vault, 'shop', shop, 'B'))).toEqual(UNAVAILABLE)
  service.mode = 'answers'
  expect((await put(vault, 'shop', shop, 'B')).status).toBe(200)
  expect((await read(vault, 'shop', shop)).body).toEqual({ A: 'value of A', B: 'value of B' })
  expect(await ready(vault)).toBe(200)
})

test('times out on a service that hangs, without occupying connections to Postgres', async () => {
  const vault = await start({ ...transit(), DATABASE_POOL_SIZE: '2' })
  const shop = await createProject(vault.url, 'shop')
  await put(vault, 'shop', shop)
  vault.advance(301_000)
  service.mode = 'hangs'
  const puts = Promise.all(Array.from({ length: 20 }, (_, i) => put(vault, 'shop', shop, `K${String(i)}`)))
  expect((await admin(vault.url, 'GET', '/projects')).status).toBe(200)
  expect((await puts).map(statusAndError)).toEqual(Array.from({ length: 20 }, () => UNAVAILABLE))
})

test('calls the service again after an answer of 429, 500, 502 or 503', async () => {
  const vault = await start(transit())
  for (const status of [429, 500, 502, 503]) {
    service.mode = { status, times: 2 }
    const project = `after-${String(status)}`
    const key = await createProject(vault.url, project)
    expect((await put(vault, project, key)).status).toBe(200)
  }
})

test('uses a token that was renewed in its file', async () => {
  const vault = await start(transit())
  service.tokens.clear()
  service.tokens.add('s.renewed')
  expect(await ready(vault)).toBe(503)
  writeFileSync(tokenFile, 's.renewed')
  expect(await ready(vault)).toBe(200)
})

test('does not unwrap a changed or moved data key', async () => {
  const vault = await start(transit())
  const shop = await createProject(vault.url, 'shop')
  const blog = await createProject(vault.url, 'blog')
  for (const [project, key] of [
    ['shop', shop],
    ['blog', blog],
  ] as const)
    await put(vault, project, key)
  const ofBlog = `project_uid = (select uid from projects where name = 'blog')`
  await vault.sql(`update project_deks set wrapped = (select d.wrapped from project_deks d join projects p on p.uid = d.project_uid
    where p.name = 'shop') where ${ofBlog}`)
  const other = await start(transit())
  expect(statusAndError(await read(other, 'blog', blog))).toEqual([500, 'decryption_failed'])
  expect(statusAndError(await put(other, 'blog', blog, 'B'))).toEqual([500, 'decryption_failed'])
  expect((await read(other, 'shop', shop)).status).toBe(200)
  await vault.sql(`update project_deks set wrapped = set_byte(wrapped, 60, get_byte(wrapped, 60) # 1) where ${ofBlog}`)
  expect((await read(await start(transit()), 'blog', blog)).status).toBe(500)
})

test('does not use a wrong data key from the service', async () => {
  const vault = await start(transit())
  const shop = await createProject(vault.url, 'shop')
  await put(vault, 'shop', shop)
  const empty = await createProject(vault.url, 'empty')
  const lied = await start(transit())
  service.mode = 'lies'
  for (const [project, key] of [
    ['shop', shop],
    ['empty', empty],
  ] as const)
    expect(statusAndError(await put(lied, project, key, 'B'))).toEqual([500, 'decryption_failed'])
  expect(statusAndError(await read(lied, 'shop', shop))).toEqual([500, 'decryption_failed'])
  await expect(start(transit())).rejects.toThrow()
  service.mode = 'answers'
  const honest = await start(transit())
  expect((await put(honest, 'shop', shop, 'B')).status).toBe(200)
  expect((await read(honest, 'shop', shop)).body).toEqual({ A: 'value of A', B: 'value of B' })
})

test('adds a check value to a data key of an earlier release', async () => {
  const vault = await start(transit())
  const shop = await createProject(vault.url, 'shop')
  await put(vault, 'shop', shop)
  // Format, algorithm, and the id with its length; then the 16 bytes of the check value.
  await vault.sql(`update project_deks set wrapped =
    overlay(substring(wrapped from 1 for 3 + length(kek_id)) placing '\\x02' from 2) || substring(wrapped from 20 + length(kek_id))`)
  const lied = await start(transit())
  service.mode = 'lies'
  expect(statusAndError(await put(lied, 'shop', shop, 'B'))).toEqual([500, 'decryption_failed'])
  service.mode = 'answers'
  const honest = await start(transit())
  expect((await put(honest, 'shop', shop, 'B')).status).toBe(200)
  const [stored] = await honest.sql('select get_byte(wrapped, 1) as algorithm from project_deks')
  expect(stored).toEqual({ algorithm: 3 })
  expect((await read(await start(transit()), 'shop', shop)).body).toEqual({ A: 'value of A', B: 'value of B' })
})

test('refuses to start with a different or unusable key', async () => {
  await start(transit())
  service.rotate()
  service.replace()
  await expect(start(transit())).rejects.toThrow('key transit.vault.v1 differs')
  service.replace({ derived: true })
  await expect(start(transit())).rejects.toThrow('derived')
  service.replace({ type: 'rsa-4096' })
  await expect(start(transit())).rejects.toThrow('must be of type aes256-gcm96')
  await expect(start({ ...transit(), TRANSIT_KEY: 'unknown' })).rejects.toThrow('key service is unavailable')
  service.tokens.clear()
  await expect(start(transit())).rejects.toThrow('key service is unavailable')
})
