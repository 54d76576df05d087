import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually, TRIALS } from '@vault-and-tracker/dev-env'
import { type Answer, admin, createProject, type Key, send, signedSend, statusAndError } from './support/client.ts'
import { rows } from './support/rows.ts'
import { connectSql } from './support/sql.ts'
import { startVault, type TestVault } from './support/vault.ts'

const LIMITS = { MAX_SECRETS: '6', MAX_ENVIRONMENTS: '8', MAX_ENVIRONMENT_BYTES: '100000' }

let vault: TestVault
let replica: TestVault
let project: string
let key: Key

beforeAll(async () => {
  vault = await startVault(LIMITS)
  replica = await vault.replica()
})
afterAll(async () => {
  await replica.stop()
  await vault.stop()
})

let projects = 0
beforeEach(async () => {
  project = `shop-${String((projects += 1))}`
  key = await createProject(vault.url, project)
})

const put = (env: string, name: string, value = `${env}/${name}`, at = vault): Promise<Answer> =>
  admin(at.url, 'PUT', `/projects/${project}/secrets`, { env, key: name, value })
const setParent = (env: string, parent: unknown, at = vault): Promise<Answer> =>
  admin(at.url, 'PUT', `/projects/${project}/environments/${env}`, { parent })
const list = async (): Promise<unknown> => (await admin(replica.url, 'GET', `/projects/${project}/environments`)).body
const fetched = (env: string, at = vault): Promise<Answer> =>
  signedSend({ project, key, method: 'GET', url: `${at.url}/v1/secrets?env=${env}` })
const read = async (env: string, at = vault): Promise<unknown> => (await fetched(env, at)).body

/** Stores a secret named like its environment in each, and makes each the parent of the next. */
async function chain(...envs: readonly string[]): Promise<void> {
  for (const [i, env] of envs.entries()) {
    expect((await put(env, env)).status).toBe(200)
    if (i > 0) expect((await setParent(env, envs[i - 1])).status).toBe(200)
  }
}

test('a fetch returns the union, and the child wins', async () => {
  await put('common', 'A')
  await put('common', 'B')
  await put('production', 'B')
  await put('production', 'C')
  expect(await read('production')).toEqual({ B: 'production/B', C: 'production/C' })
  expect((await setParent('production', 'common')).status).toBe(200)
  const union = { A: 'common/A', B: 'production/B', C: 'production/C' }
  expect([await read('production'), await read('production', replica)]).toEqual([union, union])
  expect(await read('common')).toEqual({ A: 'common/A', B: 'common/B' })
  expect(await list()).toEqual([
    { env: 'common', parent: null, secrets: 2 },
    { env: 'production', parent: 'common', secrets: 2 },
  ])
  await signedSend({ project, key, method: 'DELETE', url: `${vault.url}/v1/secrets?env=production&key=B` })
  expect(await read('production')).toEqual({ A: 'common/A', B: 'common/B', C: 'production/C' })
  expect((await setParent('production', null)).status).toBe(200)
  expect(await read('production', replica)).toEqual({ C: 'production/C' })
})

test('an environment without secrets of its own inherits them, even for a key limited to it', async () => {
  await put('common', '__proto__')
  await setParent('staging', 'common')
  const scoped = await createProject(vault.url, `${project}-scoped`, {
    scope: { access: 'read', envs: ['production'] },
  })
  expect(await read('staging')).toEqual(JSON.parse('{"__proto__":"common/__proto__"}'))
  project = `${project}-scoped`
  key = scoped
  await put('common', 'A')
  await setParent('production', 'common')
  expect(await read('production')).toEqual({ A: 'common/A' })
  expect(statusAndError(await fetched('common'))).toEqual([403, 'forbidden'])
})

test('a fetch is one audit entry, of the environment it named', async () => {
  await chain('a', 'b')
  await read('b')
  const { body } = await admin(vault.url, 'GET', `/audit?projectId=${project}`)
  expect(body).toMatchObject([{ action: 'fetch', env: 'b' }])
})

test('has at most four ancestors', async () => {
  await chain('a', 'b', 'c', 'd', 'e')
  expect(await read('e')).toEqual({ a: 'a/a', b: 'b/b', c: 'c/c', d: 'd/d', e: 'e/e' })
  expect(statusAndError(await setParent('f', 'e'))).toEqual([409, 'invalid_parent'])
  await put('root', 'R')
  expect(statusAndError(await setParent('a', 'root'))).toEqual([409, 'invalid_parent'])
  await setParent('e', null)
  expect((await setParent('a', 'root')).status).toBe(200)
  expect(await read('d')).toMatchObject({ R: 'root/R', d: 'd/d' })
})

test('refuses a cycle', async () => {
  await chain('a', 'b', 'c')
  for (const [env, parent] of [
    ['a', 'a'],
    ['a', 'b'],
    ['a', 'c'],
    ['new', 'new'],
  ] as const)
    expect(statusAndError(await setParent(env, parent))).toEqual([409, 'invalid_parent'])
  expect(await read('c')).toEqual({ a: 'a/a', b: 'b/b', c: 'c/c' })
})

test('simultaneous changes at two replicas make no cycle and no deeper chain', async () => {
  const statuses = async (...changes: Promise<Answer>[]) =>
    (await Promise.all(changes)).map(({ status }) => status).toSorted()
  for (let round = 0; round < 5 * TRIALS; round++) {
    project = `race-${String(round)}`
    await createProject(vault.url, project)
    await put('a', 'A')
    await put('b', 'B')
    expect(await statuses(setParent('a', 'b'), setParent('b', 'a', replica))).toEqual([200, 409])
  }
  await chain('c', 'd', 'e')
  await chain('f', 'g', 'h')
  expect(await statuses(setParent('f', 'e'), setParent('c', 'h', replica))).toEqual([409, 409])
  await setParent('h', null)
  expect(await statuses(setParent('f', 'd'), setParent('c', 'g', replica))).toEqual([200, 409])
})

test('refuses a parent that does not exist, or is malformed', async () => {
  await put('a', 'A')
  expect(statusAndError(await setParent('b', 'x'))).toEqual([404, 'not_found'])
  for (const parent of ['../a', 'a\u0000', '', 2 ** 53, ['a'], undefined, '__proto__'])
    expect([parent, statusAndError(await setParent('b', parent))]).toEqual([parent, [400, 'invalid_request']])
  expect(await list()).toEqual([{ env: 'a', parent: null, secrets: 1 }])
})

test('refuses projects, names and environments of others', async () => {
  await put('a', 'A')
  const other = project
  project = `${project}-other`
  await createProject(vault.url, project)
  expect(statusAndError(await setParent('b', 'a'))).toEqual([404, 'not_found'])
  expect(await list()).toEqual([])
  project = other
  for (const path of [`/projects/missing/environments/b`, `/projects/${project}/environments/b%00`])
    expect(statusAndError(await admin(vault.url, 'PUT', path, { parent: 'a' }))).toEqual([404, 'not_found'])
  expect(statusAndError(await admin(vault.url, 'GET', '/projects/missing/environments'))).toEqual([404, 'not_found'])
})

test('only administrators of the project set parents', async () => {
  await put('a', 'A')
  const as = async (body: object, method: string, at: string) => {
    const { token } = (await admin(vault.url, 'POST', '/administrators', body)).body as { token: string }
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const init = method === 'GET' ? {} : { body: JSON.stringify({ parent: 'a' }) }
    return (await send(`${vault.url}/v1/admin/projects/${project}/environments${at}`, { method, headers, ...init }))
      .status
  }
  for (const role of ['editor', 'auditor']) {
    expect(await as({ name: 'x', role }, 'GET', '')).toBe(200)
    expect(await as({ name: 'x', role }, 'PUT', '/b')).toBe(403)
  }
  await createProject(vault.url, `${project}-own`)
  const elsewhere = { name: 'x', role: 'administrator', projects: [`${project}-own`] }
  expect(await as(elsewhere, 'PUT', '/b')).toBe(403)
  expect(await as({ ...elsewhere, projects: [project] }, 'PUT', '/b')).toBe(200)
})

test('the audit log names the parent, and its default listing has no such entry', async () => {
  await put('a', 'A')
  await setParent('b', 'a')
  await setParent('b', 'a')
  const of = async (query: string) => (await admin(vault.url, 'GET', `/audit?projectId=${project}${query}`)).body
  expect(await of('&action=inherit')).toMatchObject([{ env: 'b', actor: 'administrator', detail: { parent: 'a' } }])
  expect(await of('')).toEqual([])
})

describe('waiting clients', () => {
  type Changes = { version: string; changed: string[]; values?: object }
  const changes = async (at: TestVault, query: string): Promise<Changes> => {
    const url = `${at.url}/v1/secrets/changes?env=production&${query}`
    return (await signedSend({ project, key, method: 'GET', url })).body as Changes
  }
  /** The answer of a client that waits at each replica while something is changed. */
  async function afterChange(work: () => Promise<unknown>): Promise<Changes> {
    const { version } = await changes(vault, 'wait=0')
    expect(await changes(replica, `wait=0&since=${version}`)).toEqual({ version, changed: [] })
    const waiting = [vault, replica].map((at) => changes(at, `since=${version}&values=true`))
    for (const at of [vault, replica])
      await eventually(() => Promise.resolve(at.context.useCases.changes.countWaiting() === 1))
    await work()
    const [one, other] = await Promise.all(waiting)
    expect(one?.version).not.toBe(version)
    expect(other).toEqual(one)
    return one ?? { version: '', changed: [] }
  }

  test('wake when an ancestor or the parent changes', async () => {
    await chain('root', 'common', 'production')
    expect(await afterChange(() => put('root', 'R'))).toMatchObject({ changed: ['R'], values: { R: 'root/R' } })
    expect((await afterChange(() => put('common', 'R', 'x'))).changed).toEqual(['R'])
    expect((await afterChange(() => setParent('common', null))).changed).toEqual(['root'])
    expect((await afterChange(() => setParent('production', null))).changed.toSorted()).toEqual(['R', 'common'])
    const own = await afterChange(() => setParent('production', 'common'))
    expect(own.values).toEqual({ R: 'x', common: 'common/common', production: 'production/production' })
  })

  test('do not wake for an overridden value of another environment', async () => {
    await chain('common', 'production')
    const { version } = await changes(vault, 'wait=0')
    await put('elsewhere', 'A')
    expect(await changes(vault, `wait=1&since=${version}`)).toEqual({ version, changed: [] })
  })
})

describe('limits', () => {
  test('an environment and its ancestors have at most the maximum number of secrets', async () => {
    for (const name of ['A', 'B', 'C']) await put('common', name)
    for (const name of ['D', 'E', 'F']) await put('production', name)
    expect((await setParent('production', 'common')).status).toBe(200)
    for (const env of ['common', 'production'])
      expect(statusAndError(await put(env, 'G'))).toEqual([413, 'payload_too_large'])
    await put('other', 'H')
    await setParent('production', null)
    await put('common', 'G')
    expect(statusAndError(await setParent('production', 'common'))).toEqual([413, 'payload_too_large'])
    expect(await list()).toMatchObject([{ env: 'common' }, { env: 'other' }, { env: 'production', parent: null }])
  })

  test('an environment and its ancestors have at most the maximum number of bytes', async () => {
    await put('common', 'A', 'x'.repeat(60_000))
    await setParent('production', 'common')
    expect(statusAndError(await put('production', 'A', 'x'.repeat(60_000)))).toEqual([413, 'payload_too_large'])
    await put('production', 'B', 'x'.repeat(30_000))
    expect(statusAndError(await put('common', 'C', 'x'.repeat(30_000)))).toEqual([413, 'payload_too_large'])
    const copy = { from: 'production', to: 'common' }
    const copied = await admin(vault.url, 'POST', `/projects/${project}/secrets/copy`, copy)
    expect(statusAndError(copied)).toEqual([413, 'payload_too_large'])
    expect(Object.keys((await read('production')) as object).toSorted()).toEqual(['A', 'B'])
  })

  test('environments that only inherit count too', async () => {
    await put('common', 'A')
    for (let i = 0; i < 7; i++) expect((await setParent(`env-${String(i)}`, 'common')).status).toBe(200)
    expect(statusAndError(await setParent('env-7', 'common'))).toEqual([413, 'payload_too_large'])
    expect(statusAndError(await put('env-8', 'A'))).toEqual([413, 'payload_too_large'])
  })
})

test('the run-time role of the database cannot change, remove or roll back a parent', async () => {
  await chain('common', 'production')
  await put('other', 'O')
  const runtime = await connectSql(vault.database.appUrl)
  const change = (set: string, env: string) =>
    runtime(`update environments e set ${set} from projects p
      where p.uid = e.project_uid and p.name = '${project}' and e.env = '${env}'`)
  const stored = async (env: string) =>
    (
      await vault.sql<{ revision: number; parent: string | null; code: Buffer }>(
        `select e.* from environments e join projects p on p.uid = e.project_uid where p.name = $1 and e.env = $2`,
        [project, env],
      )
    )[0]
  const untouched = { common: 'common/common', production: 'production/production' }
  expect(await read('production')).toEqual(untouched)

  await expect(change('parent = null', 'production')).rejects.toThrow('only grows')
  const before = await stored('production')
  for (const parent of ['null', "'other'", "'missing'", "'production'"]) {
    await change(`parent = ${parent}, revision = revision + 1`, 'production')
    expect(statusAndError(await fetched('production'))).toEqual([500, 'decryption_failed'])
    expect(statusAndError(await put('production', 'X'))).toEqual([500, 'decryption_failed'])
    const { stdout } = await rows(vault, 'verify')
    expect(JSON.parse(stdout)).toMatchObject({ problems: [expect.stringContaining('production')] })
  }
  await expect(runtime('delete from environments')).rejects.toThrow('permission denied')
  await vault.sql('delete from high_water_marks where subject = $1', ['env:production'])
  await change(`parent = 'common', revision = ${String(before?.revision)}`, 'production')
  expect(await read('production')).toEqual(untouched)

  // An older state of an ancestor.
  const older = await stored('common')
  const older_code = `'\\x${String(older?.code.toString('hex'))}'`
  await put('common', 'common', 'new')
  await expect(change(`revision = ${String(older?.revision)}, code = ${older_code}`, 'common')).rejects.toThrow(
    'only grows',
  )
  await vault.sql(`set session_replication_role = replica;
    update environments set revision = ${String(older?.revision)}, code = ${older_code} where env = 'common'
      and project_uid = (select uid from projects where name = '${project}')`)
  expect(statusAndError(await fetched('production'))).toEqual([500, 'decryption_failed'])
  await runtime.end()
})

test('a missing ancestor fails the fetch', async () => {
  await chain('common', 'production')
  await vault.sql(`delete from environments where env = 'common'
    and project_uid = (select uid from projects where name = '${project}')`)
  expect(statusAndError(await fetched('production'))).toEqual([500, 'decryption_failed'])
})

test('rows that were authenticated again keep their parents', async () => {
  await chain('common', 'production')
  expect((await rows(vault, 'authenticate', '--project', project)).status).toBe(0)
  expect(await read('production')).toEqual({ common: 'common/common', production: 'production/production' })
})
