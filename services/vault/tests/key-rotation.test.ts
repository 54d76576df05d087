import { once } from 'node:events'
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import pg from 'pg'
import { type Schema } from '../src/database.ts'
import { createDataKeys } from '../src/keyring/data-keys.ts'
import { createKeyRotationStore } from '../src/keyring/key-rotation.store.ts'
import { createKeyRotation } from '../src/keyring/key-rotation.ts'
import { activateInKeyringFile, addToKeyringFile } from '../src/keyring/keyring.file.ts'
import { createDataKeyStore } from '../src/keyring/keyring.store.ts'
import { parseKeyringFile } from '../src/keyring/local-keys.ts'
import { admin, createProject, type Key, signedSend } from './support/client.ts'
import { createKeyringFixture, type KeyringFixture, runKeyring } from './support/keyring.ts'
import { KEYS, type TestVault } from './support/vault.ts'
import { runProgram, startProgram } from './support/vault-process.ts'

let fixture: KeyringFixture

beforeEach(async () => {
  fixture = await createKeyringFixture()
})
afterEach(() => fixture.remove())

test('creates a private file with the first key as the active one', async () => {
  const { file, keys } = fixture
  rmSync(file)
  expect((await keys('add', 'k1')).status).toBe(0)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const text = readFileSync(file, 'utf8')
  expect(JSON.parse(text)).toEqual({ active: 'k1', keys: { k1: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/) } })
  const again = await keys('add', 'k1')
  expect([again.status, JSON.parse(again.stdout)]).toEqual([0, { id: 'k1', added: false }])
  expect(readFileSync(file, 'utf8')).toBe(text)
  // The database has the key now; another one with its id could not unwrap the same data keys.
  rmSync(file)
  expect(await keys('add', 'k1')).toMatchObject({ status: 1, stderr: expect.stringContaining('choose a new id') })
})

test('keeps both keys that two commands add at once', () => {
  const { file } = fixture
  writeFileSync(`${file}.lock`, '')
  expect(() => addToKeyringFile(file, 'k2')).toThrow('another command is changing the keyring')
  rmSync(`${file}.lock`)
  expect(addToKeyringFile(file, 'k2')).toBe(true)
  expect(Object.keys((JSON.parse(readFileSync(file, 'utf8')) as { keys: object }).keys)).toEqual(['k1', 'k2'])
})

test('refuses incorrect arguments, an unknown key, and a keyring that is not in a file or that others can read', async () => {
  const { file, keys } = fixture
  const outcomes = await Promise.all([
    keys(),
    keys('status', 'a', 'b'),
    keys('add'),
    keys('add', 'k2', '--remove'),
    keys('renew', '--older-than', 'x'),
    keys('status', '--nonsense'),
  ])
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('Usage') })

  const unknown = { status: 1, stdout: '', stderr: 'keyring: key k2 is not in the keyring; add it first\n' }
  expect(await keys('activate', 'k2')).toEqual(unknown)

  const env = {
    DATABASE_URL: fixture.database.appUrl,
    VAULT_KEYRING: `2026-11:${KEYS['2026-11']}`,
    VAULT_KEYRING_ACTIVE: '2026-11',
  }
  const add = await runKeyring(['add', 'k2'], env)
  expect(add).toMatchObject({ status: 1, stderr: expect.stringContaining('VAULT_KEYRING_FILE') })

  chmodSync(file, 0o640)
  const shared = { status: 1, stderr: expect.stringMatching(/VAULT_KEYRING_FILE.*chmod 600/) }
  expect(await keys('status')).toMatchObject(shared)
})

test('the program runs the command', async () => {
  const usage = await runKeyring(['--help'], {})
  expect(usage).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('retire') })
  const status = await runProgram('commands/keyring.command', ['status'], fixture.env)
  expect([status.status, status.stderr]).toEqual([0, ''])
  expect(JSON.parse(status.stdout)).toMatchObject({ activeId: 'k1', keks: [{ id: 'k1', wraps: 0 }], valuesBehind: 0 })
})

describe('rotation', () => {
  async function fill(vault: TestVault, projects: number): Promise<Map<string, Key>> {
    const made = new Map<string, Key>()
    for (let i = 0; i < projects; i++) {
      const name = `p${String(i)}`
      const key = await createProject(vault.url, name)
      made.set(name, key)
      for (const value of ['old', `value-${name}`]) await put(vault, name, key, value)
    }
    return made
  }

  function put(vault: TestVault, project: string, key: Key, value: string) {
    const body = { key: 'A', value, env: 'production' }
    return signedSend({ project, key, method: 'PUT', url: `${vault.url}/v1/secrets`, body })
  }

  async function readAll(vault: TestVault, projects: Map<string, Key>): Promise<void> {
    for (const [project, key] of projects) {
      const answer = await signedSend({ project, key, method: 'GET', url: `${vault.url}/v1/secrets` })
      expect([answer.status, answer.body]).toEqual([200, { A: `value-${project}` }])
    }
  }

  test('replaces a key-encryption key while the vault is running', async () => {
    const first = await fixture.startVault()
    const projects = await fill(first, 5)
    await first.seal()

    expect((await fixture.keys('add', 'k2')).status).toBe(0)
    // The replica without the new key continues.
    await readAll(first, projects)
    await first.stop()
    const second = await fixture.startVault()
    expect((await fixture.keys('activate', 'k2')).status).toBe(0)
    expect((await fixture.keys('activate', 'k2')).status).toBe(0)
    expect(await fixture.keys('retire', 'k1')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('still wraps data keys'),
    })

    const both = await Promise.all([fixture.keys('rewrap'), fixture.keys('rewrap')])
    expect(both.map(({ status }) => status)).toEqual([0, 0])
    const total = both.reduce((sum, { stdout }) => sum + (JSON.parse(stdout) as { rewrapped: number }).rewrapped, 0)
    expect(total).toBe(6)
    expect(JSON.parse((await fixture.keys('rewrap')).stdout)).toEqual({ rewrapped: 0 })
    await readAll(second, projects)
    expect((await admin(second.url, 'GET', '/audit?action=key.rewrap')).body).toHaveLength(5)

    expect(await fixture.keys('retire', 'k2')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is active'),
    })
    expect((await fixture.keys('retire', 'k1', '--remove')).status).toBe(0)
    expect(Object.keys((JSON.parse(readFileSync(fixture.file, 'utf8')) as { keys: object }).keys)).toEqual(['k2'])
    // A replica with the retired key as the active one must not wrap with it.
    const { publicKeyHex } = [...projects.values()][0] ?? { publicKeyHex: '' }
    expect((await admin(second.url, 'POST', '/projects', { name: 'late', publicKey: publicKeyHex })).status).toBe(500)
    await second.stop()

    const third = await fixture.startVault()
    await readAll(third, projects)
    const status = JSON.parse((await fixture.keys('status')).stdout) as { activeId: string; keks: object[] }
    expect(status).toMatchObject({
      activeId: 'k2',
      keks: [
        { id: 'k1', retired: true, wraps: 0 },
        { id: 'k2', retired: false, wraps: 6 },
      ],
    })
    expect(await fixture.keys('activate', 'k1')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('retired'),
    })
    expect(await fixture.keys('add', 'k1')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('choose a new id'),
    })
    await third.stop()
  })

  test('does not wrap with a key that was retired in the meantime', async () => {
    const vault = await fixture.startVault()
    const projects = await fill(vault, 2)
    await vault.seal()
    await vault.stop()
    addToKeyringFile(fixture.file, 'k2')
    const before = parseKeyringFile(readFileSync(fixture.file, 'utf8'))
    activateInKeyringFile(fixture.file, 'k2')
    for (const step of [['rewrap'], ['retire', 'k1']]) expect((await fixture.keys(...step)).status).toBe(0)

    const logger = createLogger({ name: 'test', level: 'silent' })
    const db = createKysely<Schema>(createPool({ url: fixture.database.appUrl, name: 'test', size: 2, logger }))
    const clock = systemClock
    const dataKeys = createDataKeys({ keyring: before, store: createDataKeyStore(db), clock })
    const late = createKeyRotation({ keyring: before, store: createKeyRotationStore(db), dataKeys, clock })
    await expect(late.rewrap()).rejects.toThrow('key k1 is retired')
    await expect(late.renew(0)).rejects.toThrow('key k1 is retired')
    await db.destroy()
    expect(await fixture.count("select count(*) from project_deks where kek_id = 'k1'")).toBe(0)
    expect(await fixture.count("select count(*) from audit_keys where kek_id = 'k1'")).toBe(0)

    expect((await fixture.keys('retire', 'k1', '--remove')).status).toBe(0)
    const again = await fixture.startVault()
    await readAll(again, projects)
    await again.stop()
  })

  /** Stores projects with data keys. Nothing reads their other columns. */
  async function addDataKeys(count: number): Promise<void> {
    const logger = createLogger({ name: 'test', level: 'silent' })
    const db = createKysely<Schema>(createPool({ url: fixture.database.appUrl, name: 'test', size: 2, logger }))
    const keyring = parseKeyringFile(readFileSync(fixture.file, 'utf8'))
    const dataKeys = createDataKeys({ keyring, store: createDataKeyStore(db), clock: systemClock })
    const uids = Array.from({ length: count }, newId)
    const wrapped = await Promise.all(uids.map(async (uid) => (await dataKeys.create(uid, 1)).wrapped))
    await fixture.sql(
      `with added as (
         insert into projects (uid, name, created_at, generation, code)
         select uid, 'p' || n, now(), 1, '' from unnest($1::uuid[]) with ordinality as u (uid, n) returning uid
       )
       insert into project_deks (project_uid, dek_v, kek_id, wrapped, created_at)
       select uid, 1, 'k1', wrapped, now() from unnest($1::uuid[], $2::bytea[]) as d (uid, wrapped) join added using (uid)`,
      [uids, wrapped],
    )
    await db.destroy()
  }

  test('completes a killed rewrap', async () => {
    const vault = await fixture.startVault()
    const key = await createProject(vault.url, 'last')
    await put(vault, 'last', key, 'value-last')
    await addDataKeys(699)
    await vault.stop()
    addToKeyringFile(fixture.file, 'k2')
    activateInKeyringFile(fixture.file, 'k2')

    const left = () => fixture.count("select count(*) from project_deks where kek_id = 'k1'")
    // The command is killed while its first batch waits for its audit entries, so that the batch is rolled back.
    const blocker = new pg.Client({ connectionString: fixture.database.ownerUrl })
    await blocker.connect()
    await blocker.query('begin')
    await blocker.query('lock table audit in exclusive mode')
    const killed = startProgram('commands/keyring.command', ['rewrap'], fixture.env)
    await eventually(async () => (await fixture.count('select count(*) from pg_locks where not granted')) > 0)
    killed.kill('SIGKILL')
    await once(killed, 'close')
    await blocker.query('rollback')
    await blocker.end()
    expect(await left()).toBe(700)

    const interrupted = startProgram('commands/keyring.command', ['rewrap'], fixture.env)
    // Checked often, to kill it before it has finished.
    await eventually(async () => (await left()) < 700, undefined, 20)
    interrupted.kill('SIGKILL')
    await once(interrupted, 'close')
    expect(await fixture.keys('rewrap')).toMatchObject({ status: 0, stderr: '' })
    expect(await left()).toBe(0)
    const again = await fixture.startVault()
    await readAll(again, new Map([['last', key]]))
    expect(await fixture.count("select count(*) from audit where action = 'key.rewrap'")).toBe(700)
    await again.stop()
  })

  test('reencrypts values while projects are deleted', async () => {
    const vault = await fixture.startVault()
    const projects = await fill(vault, 8)
    const [renewed] = await Promise.all([
      Promise.all([fixture.keys('renew', '--older-than', '0'), fixture.keys('renew', '--older-than', '0')]),
      (async () => {
        await sleep(500)
        for (const name of ['p0', 'p1', 'p2', 'p3']) {
          expect((await admin(vault.url, 'DELETE', `/projects/${name}`)).status).toBe(200)
          projects.delete(name)
          await sleep(50)
        }
      })(),
    ])
    expect(renewed.map(({ status, stderr }) => [status, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ])
    await readAll(vault, projects)
    await vault.stop()
  })

  test('renews data keys while the vault is running, and deletes unused ones', async () => {
    const vault = await fixture.startVault()
    const projects = await fill(vault, 4)
    expect(JSON.parse((await fixture.keys('renew')).stdout)).toEqual({ renewed: 0, moved: 0, dropped: 0 })

    const working = { on: true, failures: 0 }
    const load = (async () => {
      const [[project, key] = ['', undefined]] = projects
      while (working.on && key !== undefined) {
        const answer = await put(vault, project, key, `value-${project}`)
        if (answer.status !== 200) working.failures++
        await readAll(vault, new Map([[project, key]]))
      }
    })()
    const both = await Promise.all([
      fixture.keys('renew', '--older-than', '0'),
      fixture.keys('renew', '--older-than', '0'),
    ])
    working.on = false
    await load
    expect([both.map(({ status }) => status), working.failures]).toEqual([[0, 0], 0])

    // The next run moves what was written with an old key meanwhile.
    expect((await fixture.keys('renew')).status).toBe(0)
    await readAll(vault, projects)
    const behind = `select count(*) from secret_versions v join secrets s on s.id = v.secret_id
    where v.dek_v < (select max(dek_v) from project_deks d where d.project_uid = s.project_uid)`
    expect(await fixture.count(behind)).toBe(0)
    expect(await fixture.count('select count(*) from project_deks where dek_v = 1')).toBe(4)
    await fixture.sql("update project_deks set created_at = created_at - interval '11 minutes'")
    expect(JSON.parse((await fixture.keys('renew')).stdout)).toMatchObject({ renewed: 0, moved: 0 })
    expect(await fixture.count('select count(*) from project_deks')).toBe(4)
    await readAll(vault, projects)
    const [secret] = (await admin(vault.url, 'GET', '/projects/p1/secrets')).body as { id: string }[]
    expect((await admin(vault.url, 'POST', `/secrets/${String(secret?.id)}/versions/1/restore`)).status).toBe(200)
    await vault.stop()
  })

  test('reencrypts values with the versions of deleted secrets of an earlier release', async () => {
    const vault = await fixture.startVault()
    const key = await createProject(vault.url, 'shop')
    const fetched = () => signedSend({ project: 'shop', key, method: 'GET', url: `${vault.url}/v1/secrets` })
    const swap = ({ blob, dek_v: dekV }: { blob: Buffer; dek_v: number }) =>
      fixture.sql('update secret_versions set blob = $1, dek_v = $2', [blob, dekV])
    type Row = { blob: Buffer; dek_v: number }
    await put(vault, 'shop', key, 'old')
    const [old] = await fixture.sql<Row>('select blob, dek_v from secret_versions')
    const [dataKey] = await fixture.sql<{ row: string }>('select to_jsonb(d)::text as row from project_deks d')
    const [secret] = (await admin(vault.url, 'GET', '/projects/shop/secrets')).body as { id: string }[]
    await admin(vault.url, 'DELETE', `/secrets/${String(secret?.id)}`)
    // Such a release did not remember versions, so both values are version 1.
    await fixture.sql('delete from removed_secrets')
    await put(vault, 'shop', key, 'new')
    const [current] = await fixture.sql<Row>('select blob, dek_v from secret_versions')
    if (old === undefined || current === undefined) throw new Error('no value')
    await swap(old)
    expect((await fetched()).body).toEqual({ A: 'old' })
    await swap(current)

    expect(JSON.parse((await fixture.keys('renew', '--older-than', '0')).stdout)).toMatchObject({
      renewed: 1,
      moved: 1,
    })
    await fixture.sql("update project_deks set created_at = created_at - interval '11 minutes'")
    expect(JSON.parse((await fixture.keys('renew')).stdout)).toMatchObject({ renewed: 0, dropped: 1 })
    vault.advance(360_000)
    expect((await fetched()).body).toEqual({ A: 'new' })
    await expect(
      fixture.sql('insert into project_deks select * from jsonb_populate_record(null::project_deks, $1::jsonb)', [
        dataKey?.row,
      ]),
    ).rejects.toThrow('only grows')
    await swap(old)
    expect((await fetched()).status).toBe(500)
    await vault.stop()
  })

  test('reports a damaged value, and completes the renewal once it is deleted', async () => {
    const vault = await fixture.startVault()
    const projects = await fill(vault, 2)
    await fixture.sql(
      'update secret_versions set blob = blob || $1 where version = 1 and secret_id in (select s.id from secrets s join projects p on p.uid = s.project_uid where p.name = $2)',
      [Buffer.alloc(1), 'p1'],
    )
    expect(await fixture.keys('renew', '--older-than', '0')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('version 1 of "A" in production of project p1 does not decrypt'),
    })
    await fixture.sql('delete from secret_versions where version = 1')
    expect((await fixture.keys('renew')).status).toBe(0)
    await readAll(vault, projects)
    await vault.stop()
  })

  test('renews a data key that was used too often', async () => {
    const vault = await fixture.startVault()
    const projects = await fill(vault, 2)
    await fixture.sql(
      'update project_deks set encryptions = 1073741824 where project_uid = (select uid from projects where name = $1)',
      ['p0'],
    )
    expect(JSON.parse((await fixture.keys('renew')).stdout)).toEqual({ renewed: 1, moved: 2, dropped: 0 })
    await readAll(vault, projects)
    await vault.stop()
  })
})
