import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createTestDatabase, type TestDatabase, withClient } from '@vault-and-tracker/dev-env'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createMigrate } from '@vault-and-tracker/service-kit/postgres/migrate'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import { FULL_SCOPE } from '../src/access/project-caller.ts'
import { readConfig } from '../src/config.ts'
import { openKeyring } from '../src/context/keyring.ts'
import type { Schema } from '../src/database.ts'
import { MIGRATIONS, migrate } from '../src/db/migrations.ts'
import { createAuthenticRows } from '../src/integrity/rows.ts'
import { createChainKeys } from '../src/keyring/chain-keys.ts'
import { createDataKeys } from '../src/keyring/data-keys.ts'
import { checkKeyring } from '../src/keyring/key-check.ts'
import { createChainKeyStore, createDataKeyStore, createKekStore } from '../src/keyring/keyring.store.ts'
import { addKey } from '../src/projects/project-keys.ts'
import {
  type Answer,
  admin,
  createProject,
  fingerprintOf,
  type Key,
  keyOf,
  newKey,
  signedSend,
  statusAndError,
} from './support/client.ts'
import { audit, rows } from './support/rows.ts'
import { startVault, type TestVault, vaultEnv } from './support/vault.ts'

const DAY_MS = 86_400_000

let vault: TestVault
let replica: TestVault

beforeAll(async () => {
  vault = await startVault()
  replica = await vault.replica()
})
afterAll(async () => {
  await replica.stop()
  await vault.stop()
})

type Listed = { name: string; fingerprint: string; state: string; until: string | null; scope: object }
type Entry = { actor: string; keyName?: string; action: string; detail?: Record<string, unknown> }

const request = (project: string, key: Key, more: { at?: TestVault; method?: string; body?: unknown } = {}) => {
  const { at = vault, method = 'GET', body } = more
  return signedSend({ project, key, method, url: `${at.url}/v1/secrets`, body })
}
const status = async (project: string, key: Key, at?: TestVault) =>
  (await request(project, key, at === undefined ? {} : { at })).status
const put = (project: string, key: Key, env = 'production') =>
  request(project, key, { method: 'PUT', body: { key: 'A', value: 'v', env } })
const addTo = (project: string, body: object, at = vault) => admin(at.url, 'POST', `/projects/${project}/keys`, body)
const rotate = (project: string, body: object) => admin(vault.url, 'PUT', `/projects/${project}/rotate`, body)
const revoke = (project: string, key: Key, at = vault) =>
  admin(at.url, 'DELETE', `/projects/${project}/keys/${fingerprintOf(key)}`)
const keysOf = async (project: string, query = '') =>
  (await admin(vault.url, 'GET', `/projects/${project}/keys${query}`)).body as Listed[]
const listed = async (query: string) => (await admin(vault.url, 'GET', `/audit?${query}`)).body as Entry[]

/** Adds a key and returns it. */
async function added(project: string, name: string, more: object = {}, at = vault): Promise<Key> {
  const key = newKey()
  const answer = await addTo(project, { name, publicKey: key.publicKeyHex, ...more }, at)
  expect([answer.status, answer.body]).toEqual([201, { ok: true, fingerprint: fingerprintOf(key) }])
  return key
}

/** Requests with a valid signature of an expired or revoked key, at a replica. */
async function endedRequests(at: TestVault) {
  const metrics = await (await fetch(`${at.url}/metrics`)).text()
  const count = (state: string) =>
    Number(new RegExp(`^vault_ended_key_requests_total\\{state="${state}"\\} (\\d+)$`, 'm').exec(metrics)?.[1])
  return { expired: count('expired'), revoked: count('revoked') }
}

test('a key that was added at one replica is valid at another at once, and a revoked one invalid', async () => {
  const first = await createProject(vault.url, 'shared')
  expect(await status('shared', first, replica)).toBe(200)
  const ci = await added('shared', 'ci', { scope: { access: 'read' } })
  expect(await status('shared', ci, replica)).toBe(200)
  // Although this replica has cached the project with the key.
  expect((await revoke('shared', ci)).status).toBe(200)
  expect(statusAndError(await request('shared', ci, { at: replica }))).toEqual([401, 'invalid_signature'])
  expect(await status('shared', first, replica)).toBe(200)
  expect((await keysOf('shared')).map(({ name, state }) => [name, state])).toEqual([['default', 'active']])
})

test('a generated private key is returned once', async () => {
  await createProject(vault.url, 'generated')
  const { status: created, body, headers } = await addTo('generated', { name: 'ci' })
  const { fingerprint, privateKey } = body as { fingerprint: string; privateKey: string }
  const key = keyOf(privateKey)
  expect([created, headers.get('cache-control'), fingerprint]).toEqual([201, 'no-store', fingerprintOf(key)])
  expect(await status('generated', key)).toBe(200)
  expect(JSON.stringify([await keysOf('generated'), await listed('action=key.add')])).not.toContain(
    (JSON.parse(privateKey) as { d: string }).d,
  )
})

test('a key works within its scope only, which its rotation keeps', async () => {
  const first = await createProject(vault.url, 'scoped')
  await put('scoped', first)
  const scope = { access: 'read', envs: ['production'] }
  const bob = await added('scoped', 'bob', { scope })
  expect(await status('scoped', bob)).toBe(200)
  expect(statusAndError(await put('scoped', bob))).toEqual([403, 'forbidden'])
  const answer = await rotate('scoped', { name: 'bob', overlap: 0 })
  const next = keyOf((answer.body as { privateKey: string }).privateKey)
  expect(await status('scoped', next)).toBe(200)
  expect(statusAndError(await put('scoped', next))).toEqual([403, 'forbidden'])
  expect(await status('scoped', bob)).toBe(401)
  // Keys with other names did not notice.
  expect((await put('scoped', first)).status).toBe(200)
  await rotate('scoped', { name: 'bob', scope: { access: 'read-write' } })
  expect((await keysOf('scoped')).find(({ name, state }) => name === 'bob' && state === 'active')?.scope).toEqual({
    access: 'read-write',
    envs: null,
  })
})

test('a rotation without a name replaces the default key', async () => {
  const first = await createProject(vault.url, 'unnamed')
  const ci = await added('unnamed', 'ci')
  await rotate('unnamed', { overlap: 0 })
  expect([await status('unnamed', first), await status('unnamed', ci)]).toEqual([401, 200])
  const [project] = ((await admin(vault.url, 'GET', '/projects')).body as { id: string; publicKey: string }[]).filter(
    ({ id }) => id === 'unnamed',
  )
  // The project is listed with its default key, although that of CI is valid too.
  expect([first.publicKeyHex, ci.publicKeyHex]).not.toContain(project?.publicKey)
  expect((await keysOf('unnamed')).map(({ name }) => name)).toEqual(['default', 'ci'])
})

test('a key expires, and its rotation keeps the expiry unless it is given', async () => {
  await createProject(vault.url, 'temporary')
  const until = new Date(vault.now() + 5 * DAY_MS).toISOString()
  const bob = await added('temporary', 'bob', { expiresAt: until })
  expect(await keysOf('temporary')).toMatchObject([{ name: 'bob', state: 'active', until }, { name: 'default' }])
  const answer = await rotate('temporary', { name: 'bob' })
  const next = keyOf((answer.body as { privateKey: string }).privateKey)
  expect(await keysOf('temporary')).toMatchObject([{ state: 'active', until }, { state: 'replaced' }, {}])
  vault.advance(601_000)
  expect([await status('temporary', bob), await status('temporary', next)]).toEqual([401, 200])
  const before = await endedRequests(vault)
  vault.advance(5 * DAY_MS)
  expect(statusAndError(await request('temporary', next))).toEqual([401, 'invalid_signature'])
  expect(await endedRequests(vault)).toEqual({ ...before, expired: before.expired + 1 })
  expect(await keysOf('temporary')).toMatchObject([{ name: 'default' }])
  // An expired name is free again.
  const again = await added('temporary', 'bob')
  await rotate('temporary', { name: 'bob', publicKey: newKey().publicKeyHex, expiresAt: new Date(vault.now() + 1_000) })
  vault.advance(1_001)
  expect((await keysOf('temporary', '?ended=true')).map(({ name, state }) => [name, state])).toEqual([
    ['bob', 'expired'],
    ['bob', 'replaced'],
    ['bob', 'expired'],
    ['bob', 'expired'],
    ['default', 'active'],
  ])
  expect(await status('temporary', again)).toBe(200)
  vault.advance(31 * DAY_MS)
  expect((await keysOf('temporary', '?ended=true')).map(({ name }) => name)).toEqual(['default'])
  const known = await endedRequests(vault)
  expect(await status('temporary', again)).toBe(401)
  expect(await endedRequests(vault)).toEqual(known)
})

test('requests of a revoked key are answered like those of an unknown key, and counted and recorded apart', async () => {
  const first = await createProject(vault.url, 'left')
  const bob = await added('left', 'bob')
  await revoke('left', bob)
  const before = await endedRequests(replica)
  const unknown = await request('left', newKey(), { at: replica })
  const refused = await request('left', bob, { at: replica })
  const shape = ({ status: code, body, headers }: Answer) => [code, body, [...headers.keys()].toSorted()]
  expect(shape(refused)).toEqual(shape(unknown))
  // Neither a signature of another key, nor one of long ago counts.
  await request('left', { ...first, publicKeyHex: bob.publicKeyHex }, { at: replica })
  const url = `${replica.url}/v1/secrets`
  const old = Math.floor(Date.now() / 1000) - 3_600
  const late = await signedSend({ project: 'left', key: bob, method: 'GET', url, created: old })
  expect(statusAndError(late)).toEqual([401, 'invalid_signature'])
  expect(await endedRequests(replica)).toEqual({ ...before, revoked: before.revoked + 1 })
  expect(await (await fetch(`${replica.url}/metrics`)).text()).not.toMatch(/\bbob\b/)
  replica.context.background.start()
  await replica.context.background.stop()
  expect(await listed('action=refused&projectId=left')).toMatchObject([
    { actor: `key:${fingerprintOf(bob)}`, keyName: 'bob', detail: { invalid_signature: 1 } },
  ])
})

test.each([
  ['deleted', 'delete from project_keys'],
  ['changed', `update project_keys set not_after = '2099-01-01'`],
])('a rotation does not widen the access of a key whose row was %s', async (_how, statement) => {
  const project = `narrow-${_how}`
  await createProject(vault.url, project, { scope: { access: 'read', envs: ['production'] } })
  await vault.sql(`${statement} where project_uid = (select uid from projects where name = $1)`, [project])
  const path = `/projects/${project}/rotate`
  expect(statusAndError(await admin(replica.url, 'PUT', path))).toEqual([400, 'invalid_request'])
  const scope = { access: 'read', envs: ['production'] }
  expect((await admin(replica.url, 'PUT', path, { scope })).status).toBe(200)
  expect(await keysOf(project)).toMatchObject([{ name: 'default', scope }])
})

test('counts the request that finds its key revoked after its signature was verified', async () => {
  await createProject(vault.url, 'midway')
  const bob = await added('midway', 'bob')
  expect(await status('midway', bob, replica)).toBe(200)
  const before = await endedRequests(replica)
  await revoke('midway', bob)
  expect(await status('midway', bob, replica)).toBe(401)
  expect(await endedRequests(replica)).toEqual({ ...before, revoked: before.revoked + 1 })
})

describe('refuses', () => {
  let key: Key
  beforeAll(async () => {
    key = await createProject(vault.url, 'strict')
    await added('strict', 'ci')
  })

  test.each<[string, number, string, object]>([
    ['a name that is taken', 409, 'key_exists', { name: 'ci' }],
    ['the name of the first key', 409, 'key_exists', { name: 'default' }],
    ['no name', 400, 'invalid_request', {}],
    ['a malformed name', 400, 'invalid_request', { name: '-ci' }],
    ['a long name', 400, 'invalid_request', { name: 'a'.repeat(65) }],
    ['a malformed key', 400, 'invalid_public_key', { name: 'new', publicKey: '00' }],
    ['an expiry in the past', 400, 'invalid_request', { name: 'new', expiresAt: '2020-01-01T00:00:00Z' }],
    ['an expiry in a century', 400, 'invalid_request', { name: 'new', expiresAt: '2199-01-01T00:00:00Z' }],
    ['an expiry without a time', 400, 'invalid_request', { name: 'new', expiresAt: '2027-01-01' }],
    ['a malformed scope', 400, 'invalid_request', { name: 'new', scope: { access: 'all' } }],
  ])('%s', async (_name, expected, error, body) => {
    expect(statusAndError(await addTo('strict', body))).toEqual([expected, error])
  })

  test('a public key that the project has under another name', async () => {
    expect(statusAndError(await addTo('strict', { name: 'new', publicKey: key.publicKeyHex }))).toEqual([
      409,
      'key_exists',
    ])
  })

  test('an unknown project, and an unknown or revoked name in a rotation', async () => {
    expect(statusAndError(await addTo('nowhere', { name: 'ci' }))).toEqual([404, 'not_found'])
    expect(statusAndError(await rotate('strict', { name: 'nobody' }))).toEqual([404, 'not_found'])
    const bob = await added('strict', 'bob')
    await revoke('strict', bob)
    expect(statusAndError(await rotate('strict', { name: 'bob' }))).toEqual([404, 'not_found'])
    // The same person may return, even with the same key.
    expect((await addTo('strict', { name: 'bob', publicKey: bob.publicKeyHex })).status).toBe(201)
    expect(await status('strict', bob)).toBe(200)
  })

  test('a listing with a malformed filter', async () => {
    expect((await admin(vault.url, 'GET', '/projects/strict/keys?ended=1')).status).toBe(400)
    expect((await admin(vault.url, 'GET', '/audit?keyName=-')).status).toBe(400)
  })
})

test('one of two keys added simultaneously with the same name is refused', async () => {
  await createProject(vault.url, 'twice')
  const answers = await Promise.all([addTo('twice', { name: 'ci' }), addTo('twice', { name: 'ci' }, replica)])
  expect(answers.map(({ status: each }) => each).toSorted()).toEqual([201, 409])
  expect((await keysOf('twice')).map(({ name }) => name).toSorted()).toEqual(['ci', 'default'])
})

test('exactly as many of 60 keys added simultaneously at two replicas are valid as the limit allows', async () => {
  await createProject(vault.url, 'crowd')
  const keys = Array.from({ length: 60 }, () => newKey())
  const add = ({ publicKeyHex: publicKey }: Key, i: number) =>
    addTo('crowd', { name: publicKey.slice(0, 16), publicKey }, i % 2 === 0 ? vault : replica)
  const answers: Answer[] = []
  // Writes that have waited too long on a busy machine would be refused.
  for (let i = 0; i < 60; i += 12) answers.push(...(await Promise.all(keys.slice(i, i + 12).map(add))))
  expect(answers.filter(({ status: each }) => each === 201)).toHaveLength(49)
  for (const answer of answers.filter(({ status: each }) => each !== 201)) {
    expect(statusAndError(answer)).toEqual([409, 'too_many_keys'])
    expect((answer.body as { message: string }).message).toContain('50')
  }
  expect(await keysOf('crowd')).toHaveLength(50)
  const valid = await Promise.all(keys.map((key) => status('crowd', key, replica)))
  expect(valid).toEqual(answers.map(({ status: each }) => (each === 201 ? 200 : 401)))
  // A rotation needs no further name, a revocation frees one.
  const name = (await keysOf('crowd'))[0]?.name
  expect((await rotate('crowd', { name })).status).toBe(200)
  expect((await rotate('crowd', { overlap: 0 })).status).toBe(200)
  const used = keys[answers.findIndex(({ status: each }) => each === 201)]
  expect((await revoke('crowd', used as Key)).status).toBe(200)
  await added('crowd', 'late')
  expect((await addTo('crowd', { name: 'later' })).status).toBe(409)
})

test('writes all keys of a changed project in one statement', async () => {
  await createProject(vault.url, 'large')
  for (let i = 0; i < 9; i++) expect((await addTo('large', { name: `p${String(i)}` })).status).toBe(201)
  await vault.sql('create table key_writes (id serial)')
  await vault.sql(`create function note_key_write() returns trigger language plpgsql security definer
    as 'begin insert into key_writes default values; return null; end'`)
  await vault.sql(`create trigger key_writes after insert or update or delete on project_keys
    for each statement execute function note_key_write()`)
  const fingerprint = (await keysOf('large'))[0]?.fingerprint ?? ''
  expect((await admin(vault.url, 'DELETE', `/projects/large/keys/${fingerprint}`)).status).toBe(200)
  await vault.sql('drop trigger key_writes on project_keys')
  // An upsert is an insert and an update.
  expect(await vault.sql('select from key_writes')).toHaveLength(2)
  expect(await keysOf('large')).toHaveLength(9)
})

test('refuses a key whose row was renamed, and reports it', async () => {
  const first = await createProject(vault.url, 'renamed')
  const bob = await added('renamed', 'bob')
  const alice = await added('renamed', 'alice', { expiresAt: new Date(vault.now() + DAY_MS) })
  await vault.sql(`update project_keys set name = 'default' where name = 'bob' and project_uid = (
    select uid from projects where name = 'renamed')`)
  await vault.sql(`update project_keys set expires_at = null where name = 'alice'`)
  vault.advance(61_000)
  for (const key of [bob, alice])
    expect(statusAndError(await request('renamed', key))).toEqual([401, 'invalid_signature'])
  expect(await status('renamed', first)).toBe(200)
  const { stdout } = await rows(vault, 'verify')
  for (const key of [bob, alice]) expect(stdout).toContain(`the key ${fingerprintOf(key)} is not authentic`)
  expect(await (await fetch(`${vault.url}/metrics`)).text()).toMatch(
    /^vault_refused_rows_total\{table="project_keys"\} [1-9]/m,
  )
  // The next change removes such rows.
  await added('renamed', 'carol')
  expect((await rows(vault, 'verify')).stdout).not.toContain('project renamed')
})

test('the audit log names the key of every action, even if revoked since, and the chain covers the name', async () => {
  await createProject(vault.url, 'logged')
  const dana = await added('logged', 'dana')
  await put('logged', dana)
  await status('logged', dana)
  await rotate('logged', { name: 'dana', publicKey: newKey().publicKeyHex })
  await revoke('logged', dana)
  const actor = `key:${fingerprintOf(dana)}`
  const mine = await listed('action=all&projectId=logged&keyName=dana')
  expect(mine.map((entry) => [entry.action, entry.actor, entry.keyName])).toEqual([
    ['fetch', actor, 'dana'],
    ['put', actor, 'dana'],
  ])
  expect(await listed(`action=all&projectId=logged&actor=${encodeURIComponent(actor)}`)).toEqual(mine)
  expect(await listed('action=put&projectId=logged&keyName=default')).toEqual([])
  const details = async (action: string) => (await listed(`action=${action}&projectId=logged`))[0]?.detail
  const ofDana = { name: 'dana', fingerprint: fingerprintOf(dana) }
  expect(await details('key.add')).toMatchObject({ ...ofDana, publicKey: dana.publicKeyHex })
  expect(await details('rotate')).toMatchObject({ name: 'dana', overlapSeconds: 600 })
  expect(await details('key.revoke')).toMatchObject(ofDana)
  // A listing without an action has the members of the specification only.
  expect(Object.keys((await listed('projectId=logged'))[0] ?? {})).toHaveLength(6)
  await vault.seal()
  expect((await audit(vault, 'verify')).status).toBe(0)
  await vault.sql(
    `update audit set actor = replace(actor, '/dana', '/bob') where action = 'put' and project_id = 'logged'`,
  )
  const broken = await audit(vault, 'verify')
  expect([broken.status, broken.stdout]).toEqual([1, expect.stringContaining('was changed')])
  await vault.sql(
    `update audit set actor = replace(actor, '/bob', '/dana') where action = 'put' and project_id = 'logged'`,
  )
  expect((await audit(vault, 'verify')).status).toBe(0)
})

/** A database of the release without named keys, with a project that has this key. */
async function databaseBefore(key: Key): Promise<TestDatabase> {
  const names = Object.keys(MIGRATIONS)
  const earlier = Object.entries(MIGRATIONS).slice(0, names.indexOf('0009-named-keys'))
  const migrateOnly = createMigrate({ migrations: Object.fromEntries(earlier), grants: () => [] })
  const database = await createTestDatabase({
    service: 'vault-before-0009',
    migrate: async (target) => {
      await migrateOnly(target)
    },
  })
  const logger = createLogger({ name: 'vault', level: 'error' })
  const db = createKysely<Schema>(createPool({ url: database.ownerUrl, name: 'test', size: 1, logger }))
  try {
    const clock = systemClock
    const keyring = await openKeyring(readConfig(vaultEnv({ databaseUrl: database.appUrl, redisUrl: 'redis://x' })))
    await checkKeyring({ keyring, store: createKekStore(db), clock })
    const chainKey = await createChainKeys({ keyring, store: createChainKeyStore(db), clock }).first()
    const uid = newId()
    const { dekV, kekId, wrapped } = await createDataKeys({ keyring, store: createDataKeyStore(db), clock }).create(
      uid,
      1,
    )
    const createdAt = new Date()
    const publicKey = Buffer.from(key.publicKeyHex, 'hex')
    const { code, keys } = createAuthenticRows(chainKey, () => undefined).sealProject({
      ...{ uid, name: 'earlier', requireContentDigest: false, createdAt, generation: 1 },
      keys: addKey([], { id: newId(), name: 'default', publicKey, createdAt }, { scope: FULL_SCOPE, expiresAt: null }),
    })
    await withClient(database.ownerUrl, async (client) => {
      await client.query(
        `insert into projects (uid, name, created_at, generation, code) values ($1, 'earlier', $2, 1, $3)`,
        [uid, createdAt, code],
      )
      await client.query(
        `insert into project_keys (id, project_uid, public_key, created_at, code) values ($1, $2, $3, $4, $5)`,
        [keys[0]?.id, uid, publicKey, createdAt, keys[0]?.code],
      )
      await client.query(
        `insert into project_deks (project_uid, dek_v, kek_id, wrapped, created_at) values ($1, $2, $3, $4, $5)`,
        [...[uid, dekV, kekId, wrapped, createdAt]],
      )
    })
  } finally {
    await db.destroy()
  }
  return database
}

test('the keys of the previous release become default keys with their codes, and stay valid', async () => {
  const key = newKey()
  const database = await databaseBefore(key)
  try {
    const asOwner = (text: string) =>
      withClient(database.ownerUrl, async (client) => (await client.query<object>(text)).rows)
    const before = await asOwner('select id, code from project_keys')
    expect(await migrate({ url: database.ownerUrl, runtimeRole: new URL(database.appUrl).username })).toContain(
      '0009-named-keys',
    )
    expect(await asOwner('select id, code from project_keys')).toEqual(before)
    const upgraded = await startVault({}, { database })
    expect(await status('earlier', key, upgraded)).toBe(200)
    const { body } = await admin(upgraded.url, 'GET', '/projects/earlier/keys')
    expect(body).toMatchObject([{ name: 'default', state: 'active', until: null }])
    expect(JSON.parse((await rows(upgraded, 'verify')).stdout)).toEqual({ intact: true, problems: [] })
    await upgraded.stop()
    // The previous release adds a key without the new columns.
    await asOwner(`insert into project_keys (id, project_uid, public_key, created_at)
      select gen_random_uuid(), uid, sha256('x'), now() from projects`)
  } finally {
    await database.drop()
  }
})
