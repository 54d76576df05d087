import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { ERRORS } from '../src/errors.ts'
import { admin, createProject, type Key, send, signedSend } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

const FAILED = [500, { error: 'decryption_failed', message: ERRORS.decryption_failed.meaning }]
/** Longer than data keys are cached. */
const KEPT_MS = 300_000

let vault: TestVault
const keys = new Map<string, Key>()

/** Every secret has two versions with values of the same length, which only the binding distinguishes. */
const SECRETS = ['production', 'staging'].flatMap((env) => ['ALPHA', 'BRAVO'].map((key) => ({ env, key })))
const valueOf = (project: string, env: string, key: string, version: number) =>
  `${project} ${env.padEnd(10)} ${key} ${String(version)}`

beforeAll(async () => {
  vault = await startVault()
  for (const project of ['one', 'two']) {
    const key = await createProject(vault.url, project)
    keys.set(project, key)
    for (const secret of SECRETS) {
      for (const version of [1, 2]) {
        const body = { ...secret, value: valueOf(project, secret.env, secret.key, version) }
        const url = `${vault.url}/v1/secrets`
        expect((await signedSend({ project, key, method: 'PUT', url, body })).status).toBe(200)
      }
    }
  }
})
afterAll(() => vault.stop())

async function fetchAll(project: string, env = 'production'): Promise<[number, unknown]> {
  const key = keys.get(project)
  if (key === undefined) throw new Error(`no project ${project}`)
  const created = Math.floor(Date.now() / 1000)
  const url = `${vault.url}/v1/secrets?env=${env}`
  const { status, body } = await signedSend({ project, key, method: 'GET', url, created })
  return [status, body]
}

const intact = (project: string, env = 'production') => [
  200,
  { ALPHA: valueOf(project, env, 'ALPHA', 2), BRAVO: valueOf(project, env, 'BRAVO', 2) },
]

type Place = { project: string; env: string; key: string; version: number }
type Stored = { id: string; blob: Buffer }

async function stored(place: Place): Promise<Stored> {
  const [row] = await vault.sql<Stored>(
    `select v.secret_id as id, v.blob from secret_versions v join secrets s on s.id = v.secret_id
     join projects p on p.uid = s.project_uid where p.name = $1 and s.env = $2 and s.key = $3 and v.version = $4`,
    [place.project, place.env, place.key, place.version],
  )
  if (row === undefined) throw new Error('no such version')
  return row
}

async function overwrite(place: Place, blob: Buffer): Promise<void> {
  const { id } = await stored(place)
  await vault.sql('update secret_versions set blob = $1 where secret_id = $2 and version = $3', [
    blob,
    id,
    place.version,
  ])
}

async function failures(): Promise<number> {
  const metrics = await (await fetch(`${vault.url}/metrics`)).text()
  return Number(/^vault_decryption_failures_total (\d+)$/m.exec(metrics)?.[1])
}

const HERE = { project: 'one', env: 'production', key: 'ALPHA', version: 2 }

test.each([
  ['keys', { ...HERE, key: 'BRAVO' }],
  ['environments', { ...HERE, env: 'staging' }],
  ['projects', { ...HERE, project: 'two' }],
  ['versions', { ...HERE, version: 1 }],
])('does not decrypt ciphertexts swapped between %s', async (_what, there) => {
  const [a, b] = [await stored(HERE), await stored(there)]
  expect(a.blob.length).toBe(b.blob.length)
  const before = await failures()
  await overwrite(HERE, b.blob)
  await overwrite(there, a.blob)
  expect(await fetchAll(HERE.project, HERE.env)).toEqual(FAILED)
  if (there.version === 2) expect(await fetchAll(there.project, there.env)).toEqual(FAILED)
  else expect((await admin(vault.url, 'POST', `/secrets/${b.id}/versions/1/restore`)).status).toBe(500)
  expect(await failures()).toBeGreaterThanOrEqual(before + 2)
  await overwrite(HERE, a.blob)
  await overwrite(there, b.blob)
  expect(await fetchAll(HERE.project, HERE.env)).toEqual(intact(HERE.project, HERE.env))
  expect(await fetchAll(there.project, there.env)).toEqual(intact(there.project, there.env))
})

test('logs the place but not the value that does not decrypt', async () => {
  const own = await vault.replica({ LOG_LEVEL: 'error' })
  const { blob } = await stored(HERE)
  await overwrite(HERE, blob.subarray(1))
  const key = keys.get('one')
  if (key === undefined) throw new Error('no key')
  await signedSend({ project: 'one', key, method: 'GET', url: `${own.url}/v1/secrets` })
  await overwrite(HERE, blob)
  await own.stop()
  const logged = own.logged()
  expect(JSON.parse(logged.split('\n')[0] ?? '')).toMatchObject({ ...HERE, msg: 'a stored value does not decrypt' })
  expect(logged).not.toContain(valueOf('one', 'production', 'ALPHA', 2))
})

test('does not decrypt swapped rows', async () => {
  const [a, b] = [await stored(HERE), await stored({ ...HERE, key: 'BRAVO' })]
  const rename = (id: string, key: string) => vault.sql('update secrets set key = $1 where id = $2', [key, id])
  const swap = async (first: string, second: string) => {
    await rename(a.id, 'elsewhere')
    await rename(b.id, second)
    await rename(a.id, first)
  }
  await swap('BRAVO', 'ALPHA')
  expect(await fetchAll('one')).toEqual(FAILED)
  await swap('ALPHA', 'BRAVO')
  expect(await fetchAll('one')).toEqual(intact('one'))
})

test('fails a fetch with a missing version', async () => {
  await vault.sql(`update secrets set version = 7 where id = $1`, [(await stored(HERE)).id])
  expect(await fetchAll('one')).toEqual(FAILED)
  await vault.sql(`update secrets set version = 2 where id = $1`, [(await stored(HERE)).id])
  expect(await fetchAll('one')).toEqual(intact('one'))
})

test('does not decrypt an old version as the current one', async () => {
  const [old, current] = [await stored({ ...HERE, version: 1 }), await stored(HERE)]
  await overwrite(HERE, old.blob)
  expect(await fetchAll('one')).toEqual(FAILED)
  await overwrite(HERE, current.blob)
  expect(await fetchAll('one')).toEqual(intact('one'))
})

test('does not decrypt a ciphertext with any flipped bit', async () => {
  const { blob } = await stored(HERE)
  for (let i = 0; i < blob.length; i++) {
    const flipped = Buffer.from(blob)
    flipped.writeUInt8(flipped.readUInt8(i) ^ (1 << (i % 8)), i)
    await overwrite(HERE, flipped)
    expect(await fetchAll('one')).toEqual(FAILED)
  }
  await overwrite(HERE, blob)
  expect(await fetchAll('one')).toEqual(intact('one'))
})

test('does not decrypt a ciphertext of another length or with a truncated tag', async () => {
  const { blob } = await stored(HERE)
  const cut = Array.from({ length: blob.length }, (_, length) => blob.subarray(0, length))
  for (const wrong of [...cut, Buffer.concat([blob, Buffer.alloc(1)]), Buffer.concat([blob, blob.subarray(-16)])]) {
    await overwrite(HERE, wrong)
    expect(await fetchAll('one')).toEqual(FAILED)
  }
  await overwrite(HERE, blob)
  expect(await fetchAll('one')).toEqual(intact('one'))
})

async function wrappedKey(project: string): Promise<Buffer> {
  const [row] = await vault.sql<{ wrapped: Buffer }>(
    'select wrapped from project_deks join projects on uid = project_uid where name = $1',
    [project],
  )
  return row?.wrapped ?? Buffer.alloc(0)
}

async function overwriteKey(project: string, wrapped: Buffer): Promise<void> {
  await vault.sql(
    'update project_deks set wrapped = $1 where project_uid = (select uid from projects where name = $2)',
    [wrapped, project],
  )
  vault.advance(KEPT_MS + 1)
}

test('does not unwrap swapped data keys', async () => {
  const [one, two] = [await wrappedKey('one'), await wrappedKey('two')]
  await overwriteKey('one', two)
  await overwriteKey('two', one)
  expect([await fetchAll('one'), await fetchAll('two')]).toEqual([FAILED, FAILED])
  await overwriteKey('one', one)
  await overwriteKey('two', two)
  expect([await fetchAll('one'), await fetchAll('two')]).toEqual([intact('one'), intact('two')])
})

test('does not unwrap a data key with any flipped bit or a truncated one', async () => {
  const wrapped = await wrappedKey('one')
  const flipped = Array.from(wrapped, (byte, i) => {
    const copy = Buffer.from(wrapped)
    copy.writeUInt8(byte ^ (1 << (i % 8)), i)
    return copy
  })
  const cut = [1, 4, 8, 12, 16, wrapped.length].map((bytes) => wrapped.subarray(0, -bytes))
  for (const wrong of [...flipped, ...cut]) {
    await overwriteKey('one', wrong)
    expect(await fetchAll('one')).toEqual(FAILED)
  }
  await overwriteKey('one', wrapped)
  expect(await fetchAll('one')).toEqual(intact('one'))
})

test('does not read restored rows of a deleted project in a new one of its name', async () => {
  const key = await createProject(vault.url, 'phoenix')
  keys.set('phoenix', key)
  const created = Math.floor(Date.now() / 1000)
  const body = { key: 'ALPHA', value: 'of the first one', env: 'production' }
  const url = `${vault.url}/v1/secrets`
  await signedSend({ project: 'phoenix', key, method: 'PUT', url, body, created })
  const place = { project: 'phoenix', env: 'production', key: 'ALPHA', version: 1 }
  const { blob } = await stored(place)
  await admin(vault.url, 'DELETE', '/projects/phoenix')
  keys.set('phoenix', await createProject(vault.url, 'phoenix'))
  await vault.sql(
    `with put as (insert into secrets (id, project_uid, env, key, version, updated_at)
       select gen_random_uuid(), uid, 'production', 'ALPHA', 1, now() from projects where name = 'phoenix' returning id)
     insert into secret_versions (secret_id, version, dek_v, blob, created_at) select id, 1, 1, $1, now() from put`,
    [blob],
  )
  expect(await fetchAll('phoenix')).toEqual(FAILED)
  expect((await send(`${vault.url}/health`)).status).toBe(200)
})

async function createShop(): Promise<void> {
  keys.set('shop', await createProject(vault.url, 'shop'))
}

async function put(name: string, value: string): Promise<void> {
  const key = keys.get('shop')
  if (key === undefined) throw new Error('no project shop')
  const body = { key: name, value, env: 'production' }
  await signedSend({ project: 'shop', key, method: 'PUT', url: `${vault.url}/v1/secrets`, body })
}

test('stores equal values with different ciphertexts', async () => {
  await createShop()
  for (const name of ['A', 'B', 'A']) await put(name, 'the very same')
  const rows = await vault.sql<{ blob: Buffer }>(
    `select v.blob from secret_versions v join secrets s on s.id = v.secret_id join projects p on p.uid = s.project_uid
     where p.name = 'shop'`,
  )
  expect(rows.map(({ blob }) => blob.length)).toEqual(rows.map(() => 6 + 12 + 'the very same'.length + 16))
  expect(new Set(rows.map(({ blob }) => blob.subarray(6, 18).toString('hex'))).size).toBe(3)
  expect(new Set(rows.map(({ blob }) => blob.subarray(18, 31).toString('hex'))).size).toBe(3)
})

test('does not restore a damaged version', async () => {
  await put('R', 'old')
  await put('R', 'new')
  const listed = (await admin(vault.url, 'GET', '/projects/shop/secrets')).body as { id: string; key: string }[]
  const id = String(listed.find((secret) => secret.key === 'R')?.id)
  await vault.sql(
    "update secret_versions set blob = overlay(blob placing '\\x00ff' from 20) where secret_id = $1 and version = 1",
    [id],
  )
  const restored = await admin(vault.url, 'POST', `/secrets/${id}/versions/1/restore`)
  expect([restored.status, restored.body]).toEqual(FAILED)
  expect(await fetchAll('shop')).toEqual([200, expect.objectContaining({ R: 'new' })])
  expect((await admin(vault.url, 'GET', `/secrets/${id}/versions`)).body).toHaveLength(2)
})

test('fails a fetch without its data key as a decryption failure', async () => {
  await vault.sql("delete from project_deks d using projects p where p.uid = d.project_uid and p.name = 'shop'")
  vault.advance(KEPT_MS + 1_000)
  expect(await fetchAll('shop')).toEqual(FAILED)
})
