import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import { createStateStore } from '../src/changes/state.store.ts'
import {
  type Answer,
  admin as adminNow,
  createProject,
  type Key,
  send,
  signedSend,
  statusAndError,
} from './support/client.ts'
import { audit, rows } from './support/rows.ts'
import { connectSql } from './support/sql.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault
let replica: TestVault
let shop: string
let db: string
let key: Key

beforeAll(async () => {
  vault = await startVault({ MAX_ENVIRONMENT_BYTES: '300000' })
  replica = await vault.replica()
})
afterAll(async () => {
  await replica.stop()
  await vault.stop()
})

let worlds = 0
beforeEach(async () => {
  worlds += 1
  shop = `shop-${String(worlds)}`
  db = `db-${String(worlds)}`
  key = await createProject(vault.url, shop)
  await createProject(vault.url, db)
})

let last: Promise<unknown> = Promise.resolve()
/** Sends a request after the previous ones, so that a list of them is in order. */
function admin(...request: Parameters<typeof adminNow>): Promise<Answer> {
  const sent = last.then(() => adminNow(...request))
  last = sent.catch(() => undefined)
  return sent
}

type Place = { project?: string; env?: string; references?: unknown }
const put = (name: string, value: unknown, { project = shop, env = 'production', ...more }: Place = {}) =>
  admin(vault.url, 'PUT', `/projects/${project}/secrets`, { env, key: name, value, ...more })
const refer = (name: string, value: string, place: Place = {}) => put(name, value, { ...place, references: true })
const ok = async (...answers: Promise<Answer>[]) => {
  for (const answer of answers) expect((await answer).body).toMatchObject({ ok: true })
}
const fetched = (env = 'production', at = vault, project = shop, by = key) =>
  signedSend({ project, key: by, method: 'GET', url: `${at.url}/v1/secrets?env=${env}` })
const read = async (env = 'production', at = vault) => (await fetched(env, at)).body
const allow = (rule: object = {}, project = db) =>
  admin(vault.url, 'POST', `/projects/${project}/reference-rules`, { project: shop, ...rule })
const rulesOf = async (project = db) =>
  (await admin(replica.url, 'GET', `/projects/${project}/reference-rules`)).body as { id: string }[]
const idOf = ({ body }: Answer) => (body as { id: string }).id
const messageOf = ({ body }: Answer) => (body as { message: string }).message
const entriesOf = async (project: string, action: string) =>
  (await admin(vault.url, 'GET', `/audit?projectId=${project}&action=${action}`)).body as object[]

const UNRESOLVED = [409, 'unresolved_reference']

test('a value refers to keys of the environment that is read', async () => {
  await ok(put('HOST', 'a.example'), refer('URL', 'https://${HOST}/$${HOST}'), put('PLAIN', '${HOST}'))
  const expected = { HOST: 'a.example', URL: 'https://a.example/${HOST}', PLAIN: '${HOST}' }
  expect([await read(), await read('production', replica)]).toEqual([expected, expected])
  await ok(put('HOST', 'b.example'))
  expect(await read()).toMatchObject({ URL: 'https://b.example/${HOST}' })
})

test('an inherited value refers to keys of the environment that inherits it', async () => {
  await ok(put('HOST', 'common', { env: 'common' }), refer('URL', 'at ${HOST}', { env: 'common' }), put('HOST', 'own'))
  await ok(admin(vault.url, 'PUT', `/projects/${shop}/environments/production`, { parent: 'common' }))
  expect(await read()).toEqual({ HOST: 'own', URL: 'at own' })
  expect(await read('common')).toEqual({ HOST: 'common', URL: 'at common' })
})

test('only values with references are listed as such, and signed requests store them too', async () => {
  await ok(put('A', '${B}'), put('B', 'b'))
  const body = { key: 'C', env: 'production', value: '${B}', references: true }
  await ok(signedSend({ project: shop, key, method: 'PUT', url: `${vault.url}/v1/secrets`, body }))
  expect(await read()).toEqual({ A: '${B}', B: 'b', C: 'b' })
  const { body: listed } = await admin(vault.url, 'GET', `/projects/${shop}/secrets`)
  expect((listed as { key: string; references?: true }[]).map((each) => [each.key, each.references])).toEqual([
    ['A', undefined],
    ['B', undefined],
    ['C', true],
  ])
  expect(await entriesOf(shop, 'put')).toMatchObject([{ detail: { key: 'C', references: true } }, {}, {}])
  await ok(put('C', '${B}'))
  expect(await read()).toMatchObject({ C: '${B}' })
})

test('a missing or circular reference is refused at write, and names the key', async () => {
  const missing = await refer('URL', '${NONE}')
  expect(statusAndError(missing)).toEqual(UNRESOLVED)
  expect(messageOf(missing)).toMatch(/"URL".*NONE/)
  await ok(put('A', 'a'), refer('B', '${A}'), refer('C', '${B}'))
  for (const circular of [await refer('A', '${C}'), await refer('A', '${A}'), await refer('NEW', '${NEW}')])
    expect(statusAndError(circular)).toEqual(UNRESOLVED)
  expect(await read()).toEqual({ A: 'a', B: 'a', C: 'a' })
})

describe('a write that would break a reference is refused, and names key and environment:', () => {
  const idIn = async (env: string, name: string): Promise<string> => {
    const { body } = await admin(vault.url, 'GET', `/projects/${shop}/secrets?env=${env}`)
    return (body as { id: string; key: string }[]).find((each) => each.key === name)?.id ?? ''
  }
  const setParent = (env: string, parent: string | null) =>
    admin(vault.url, 'PUT', `/projects/${shop}/environments/${env}`, { parent })
  const copy = (from: string, to: string, keys?: string[], overwrite = false) =>
    admin(vault.url, 'POST', `/projects/${shop}/secrets/copy`, { from, to, overwrite, ...(keys && { keys }) })
  const signed = (method: string, query: string, by = key, body?: object) =>
    signedSend({ project: shop, key: by, method, url: `${vault.url}/v1/secrets${query}`, body })
  const inherited = { env: 'common' }

  test.each<[name: string, prepare: () => Promise<void>, write: () => Promise<Answer>, key: string]>([
    [
      'a copy without its target',
      () => ok(put('HOST', 'h', { env: 'staging' }), refer('URL', '${HOST}', { env: 'staging' }), put('X', 'x')),
      () => copy('staging', 'production', ['URL']),
      'URL',
    ],
    [
      'a copy over a target',
      () =>
        ok(
          put('A', 'a'),
          refer('B', '${A}'),
          put('C', 'c', { env: 'staging' }),
          refer('A', '${C}', { env: 'staging' }),
        ),
      () => copy('staging', 'production', ['A'], true),
      'A',
    ],
    [
      'a restored version',
      async () => {
        await ok(put('HOST', 'h'), refer('URL', '${HOST}'), put('URL', 'plain'))
        await ok(signed('DELETE', '?env=production&key=HOST'))
      },
      async () => admin(vault.url, 'POST', `/secrets/${await idIn('production', 'URL')}/versions/1/restore`),
      'URL',
    ],
    [
      'a deletion by the project',
      () => ok(put('HOST', 'h'), refer('URL', '${HOST}')),
      () => signed('DELETE', '?env=production&key=HOST'),
      'URL',
    ],
    [
      'a deletion by an administrator in another environment',
      () => ok(put('HOST', 'h', { env: 'staging' }), refer('URL', `\${${shop}.staging.HOST}`)),
      async () => admin(vault.url, 'DELETE', `/secrets/${await idIn('staging', 'HOST')}`),
      'URL',
    ],
    [
      'a deletion in what another environment inherits',
      () =>
        ok(
          ...[put('HOST', 'h', inherited), put('X', 'x', { env: 'test' }), setParent('test', 'common')],
          refer('URL', `\${${shop}.test.HOST}`),
        ),
      () => signed('DELETE', '?env=common&key=HOST'),
      'URL',
    ],
    [
      'a circular write in a parent',
      () =>
        ok(
          ...[put('A', 'a', inherited), put('B', 'b', inherited), setParent('production', 'common')],
          refer('B', '${A}'),
        ),
      () => signed('PUT', '', key, { env: 'common', key: 'A', value: '${B}', references: true }),
      '[AB]',
    ],
    [
      'another parent',
      () =>
        ok(
          ...[put('HOST', 'h', inherited), put('X', 'x', { env: 'empty' }), setParent('production', 'common')],
          refer('URL', '${HOST}'),
        ),
      () => setParent('production', 'empty'),
      'URL',
    ],
    [
      'no parent',
      () => ok(put('HOST', 'h', inherited), setParent('production', 'common'), refer('URL', '${HOST}')),
      () => setParent('production', null),
      'URL',
    ],
    [
      'a plain value that makes another one too large',
      () => ok(put('HOST', 'h'), refer('URL', '${HOST}'.repeat(100))),
      () => put('HOST', 'x'.repeat(60_000)),
      'URL',
    ],
  ])('%s', async (_name, prepare, write, broken) => {
    await prepare()
    const before = await fetched()
    expect(before.status).toBe(200)
    const answer = await write()
    expect(statusAndError(answer)).toEqual(UNRESOLVED)
    expect(messageOf(answer)).toMatch(new RegExp(`"production".*"${broken}"`))
    expect([(await fetched()).body, (await fetched('production', replica)).body]).toEqual([before.body, before.body])
  })

  test('simultaneous writes that become circular together, one of them', async () => {
    await ok(put('A', 'a'), put('B', 'b'))
    const at = (name: string, value: string, url: string) =>
      adminNow(url, 'PUT', `/projects/${shop}/secrets`, { env: 'production', key: name, value, references: true })
    const written = await Promise.all([at('A', '${B}', vault.url), at('B', '${A}', replica.url)])
    expect(written.map(({ status }) => status).toSorted()).toEqual([200, 409])
    await ok(put('D', 'd'))
    const removed = adminNow(vault.url, 'DELETE', `/secrets/${await idIn('production', 'D')}`)
    const statuses = (await Promise.all([removed, at('E', '${D}', replica.url)])).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 409])
    expect((await fetched()).status).toBe(200)
  })

  test('but accepts one in an environment that was already broken, unless its own value is', async () => {
    await ok(put('URL', 'u', { project: db, env: 'main' }), allow(), refer('A', `\${${db}.main.URL}`))
    await ok(refer('B', `\${${db}.main.URL}`), put('C', 'c', inherited), setParent('production', 'common'))
    await ok(admin(vault.url, 'DELETE', `/projects/${db}/reference-rules/${(await rulesOf())[0]?.id ?? ''}`))
    expect(statusAndError(await fetched())).toEqual(UNRESOLVED)
    expect(statusAndError(await refer('A', '${NONE}'))).toEqual(UNRESOLVED)
    await ok(put('C', 'd', inherited), put('D', 'd'), put('A', 'a'))
    expect(statusAndError(await fetched())).toEqual(UNRESOLVED)
    await ok(signed('DELETE', '?env=production&key=B'))
    expect(await read()).toEqual({ A: 'a', C: 'd', D: 'd' })
  })

  test('without names of environments to which the key has no access', async () => {
    const project = `${shop}-scoped`
    const scoped = await createProject(vault.url, project, { scope: { access: 'read-write', envs: ['common'] } })
    await ok(put('HOST', 'h', { project, ...inherited }))
    await ok(admin(vault.url, 'PUT', `/projects/${project}/environments/production`, { parent: 'common' }))
    await ok(refer('URL', '${HOST}', { project }))
    const remove = { project, key: scoped, method: 'DELETE', url: `${vault.url}/v1/secrets?env=common&key=HOST` }
    const answer = await signedSend(remove)
    expect(statusAndError(answer)).toEqual(UNRESOLVED)
    expect(messageOf(answer)).not.toMatch(/production|URL/)
  })
})

test('refuses malformed references, flags, and references of a generated value', async () => {
  const bodies = [
    ...['${}', 'a ${B', '${a.b.c.d}', '${A\u0000}', '${../x.production.A}', '${A}'.repeat(101), 2 ** 53, ['${A}']].map(
      (value) => ({ value, references: true }),
    ),
    ...['true', 1, null].map((references) => ({ value: 'v', references })),
    { generate: {}, references: true },
  ]
  for (const body of bodies) {
    const given = { env: 'production', key: 'URL', ...body }
    const answer = await admin(vault.url, 'PUT', `/projects/${shop}/secrets`, given)
    expect([body, statusAndError(answer)]).toEqual([body, [400, 'invalid_request']])
  }
  expect(await read()).toEqual({})
})

test('a key named like an inherited member is an ordinary key', async () => {
  expect(statusAndError(await refer('A', '${__proto__}'))).toEqual(UNRESOLVED)
  expect(statusAndError(await refer('A', '${constructor}'))).toEqual(UNRESOLVED)
  await ok(put('__proto__', 'p'), refer('A', '${__proto__}'))
  expect(await read()).toEqual(JSON.parse('{"__proto__":"p","A":"p"}'))
})

test('huge expansions are refused', async () => {
  await ok(put('K0', 'x'.repeat(700)), refer('K1', '${K0}'.repeat(90)))
  expect(statusAndError(await refer('K2', '${K1}'.repeat(2)))).toEqual(UNRESOLVED)
  // Each value is small enough, all together are not.
  for (let i = 2; i < 5; i++) await ok(refer(`K${String(i)}`, '${K1}'))
  expect(statusAndError(await refer('K5', '${K1}'))).toEqual(UNRESOLVED)
  expect((await fetched()).status).toBe(200)
})

describe('references to other environments of the project', () => {
  test('resolve there', async () => {
    await ok(put('HOST', 'staging', { env: 'staging' }), refer('URL', 'to ${HOST}', { env: 'staging' }))
    await ok(refer('STAGING', `\${${shop}.staging.URL}`), put('HOST', 'production'))
    expect(await read()).toEqual({ STAGING: 'to staging', HOST: 'production' })
  })

  test('need a key for both environments', async () => {
    await ok(put('A', 'a'))
    const scoped = await createProject(vault.url, `${shop}-scoped`, { scope: { access: 'read-write', envs: ['test'] } })
    const project = `${shop}-scoped`
    await ok(put('A', 'a', { project }), put('A', 'a', { project, env: 'test' }))
    const write = (value: string) =>
      signedSend({
        ...{ project, key: scoped, method: 'PUT', url: `${vault.url}/v1/secrets` },
        body: { key: 'B', env: 'test', value, references: true },
      })
    expect(statusAndError(await write(`\${${project}.production.A}`))).toEqual([403, 'forbidden'])
    await ok(write('${A}'), write(`\${${project}.test.A}`))
    await ok(refer('C', `\${${project}.production.A}`, { project, env: 'test' }))
    expect((await fetched('test', vault, project, scoped)).body).toEqual({ A: 'a', B: 'a', C: 'a' })
  })

  test('need a key that may read the other environment', async () => {
    const project = `${shop}-written`
    const writer = await createProject(vault.url, project, { scope: { access: 'write', envs: null } })
    await ok(put('A', 'a', { project }), put('A', 'a', { project, env: 'test' }))
    const write = (value: string) =>
      signedSend({
        ...{ project, key: writer, method: 'PUT', url: `${vault.url}/v1/secrets` },
        body: { key: 'B', env: 'test', value, references: true },
      })
    expect(statusAndError(await write(`\${${project}.production.A}`))).toEqual([403, 'forbidden'])
    await ok(write('${A}'), write(`\${${project}.test.A}`))
  })

  test('are to at most 16', async () => {
    for (let i = 0; i < 17; i++) await ok(put('A', String(i), { env: `env-${String(i)}` }))
    const all = (count: number) => Array.from({ length: count }, (_, i) => `\${${shop}.env-${String(i)}.A}`).join(',')
    expect(statusAndError(await refer('ALL', all(17)))).toEqual(UNRESOLVED)
    await ok(refer('ALL', all(16)))
    expect(await read()).toEqual({ ALL: '0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15' })
    expect(statusAndError(await refer('MORE', `\${${shop}.env-16.A}`))).toEqual(UNRESOLVED)
  })
})

describe('references to another project', () => {
  const url = () => `\${${db}.main.URL}`

  beforeEach(async () => {
    await ok(put('HOST', 'db.example', { project: db, env: 'main' }), put('OTHER', 'o', { project: db, env: 'main' }))
    await ok(refer('URL', 'pg://${HOST}', { project: db, env: 'main' }))
  })

  test('need a rule of that project, at write and at every fetch', async () => {
    expect(statusAndError(await refer('A', url()))).toEqual(UNRESOLVED)
    const id = idOf(await allow({ keys: ['URL'], envs: ['main'], readerEnvs: ['production'] }))
    await ok(refer('A', url()))
    expect([await read(), await read('production', replica)]).toEqual([
      { A: 'pg://db.example' },
      { A: 'pg://db.example' },
    ])
    for (const refused of [await refer('B', `\${${db}.main.OTHER}`), await refer('A', url(), { env: 'test' })])
      expect(statusAndError(refused)).toEqual(UNRESOLVED)
    await ok(admin(replica.url, 'DELETE', `/projects/${db}/reference-rules/${id}`))
    for (const at of [vault, replica]) {
      const answer = await fetched('production', at)
      expect(statusAndError(answer)).toEqual(UNRESOLVED)
      expect(messageOf(answer)).toContain('"A"')
    }
  })

  test('do not reveal whether a project, an environment or a key exists without a rule', async () => {
    const messages = await Promise.all(
      [`${db}.main.URL`, `${db}.main.NONE`, `${db}.none.URL`, 'none.main.URL'].map(async (text) =>
        messageOf(await refer('A', `\${${text}}`)).replace(text, 'X'),
      ),
    )
    expect(new Set(messages).size).toBe(1)
    await ok(allow())
    const third = `${db}-third`
    const thirdKey = await createProject(vault.url, third)
    await ok(put('DEEP', 'd', { project: third, env: 'main' }))
    await ok(admin(vault.url, 'POST', `/projects/${third}/reference-rules`, { project: db }))
    await ok(refer('BROKEN', `\${${third}.main.DEEP}`, { project: db, env: 'main' }))
    await ok(refer('A', `\${${db}.main.BROKEN}`))
    // A project decides about its own secrets, whoever else refers to them.
    const deep = `${vault.url}/v1/secrets?env=main&key=DEEP`
    await ok(signedSend({ project: third, key: thirdKey, method: 'DELETE', url: deep }))
    const answer = await fetched()
    expect(statusAndError(answer)).toEqual(UNRESOLVED)
    expect(messageOf(answer)).toMatch(/^(?!.*(third|DEEP)).*"A".*BROKEN/)
  })

  test('leave an entry in the log of that project for each fetch', async () => {
    await ok(allow(), refer('A', url()))
    expect(await entriesOf(db, 'reference')).toEqual([])
    await Promise.all(Array.from({ length: 5 }, () => read()))
    const entry = { action: 'reference', env: 'main', actor: `project:${shop}`, detail: { readerEnv: 'production' } }
    expect(await entriesOf(db, 'reference')).toEqual(Array(5).fill(expect.objectContaining(entry)))
    const { body } = await admin(vault.url, 'GET', `/audit?projectId=${db}`)
    expect(body).toEqual([])
    const { body: own } = await admin(vault.url, 'GET', `/audit?projectId=${shop}`)
    expect(own).toHaveLength(5)
  })

  test('end with that project', async () => {
    await ok(allow(), refer('A', url()))
    await ok(admin(vault.url, 'DELETE', `/projects/${db}`))
    expect(statusAndError(await fetched())).toEqual(UNRESOLVED)
    await createProject(vault.url, db)
    await ok(put('URL', 'new', { project: db, env: 'main' }))
    expect(statusAndError(await fetched())).toEqual(UNRESOLVED)
    await ok(allow())
    expect(await read()).toEqual({ A: 'new' })
    await ok(admin(vault.url, 'DELETE', `/projects/${shop}`))
    key = await createProject(vault.url, shop)
    expect(await rulesOf()).toEqual([])
    expect(statusAndError(await refer('A', url()))).toEqual(UNRESOLVED)
  })

  test('cannot be circular', async () => {
    await ok(allow(), put('BACK', 'b'))
    await ok(admin(vault.url, 'POST', `/projects/${shop}/reference-rules`, { project: db }))
    await ok(refer('URL', `\${${shop}.production.BACK}`, { project: db, env: 'main' }))
    const circular = await refer('BACK', url())
    expect(statusAndError(circular)).toEqual(UNRESOLVED)
    expect(messageOf(circular)).toContain('"BACK"')
    expect(await read()).toEqual({ BACK: 'b' })
  })

  test('read what their environment inherits', async () => {
    await ok(allow(), admin(vault.url, 'PUT', `/projects/${db}/environments/child`, { parent: 'main' }))
    await ok(put('HOST', 'child.example', { project: db, env: 'child' }), refer('A', `\${${db}.child.URL}`))
    expect(await read()).toEqual({ A: 'pg://child.example' })
  })
})

describe('reference rules', () => {
  test('are listed at every replica, recorded and removed', async () => {
    const rule = { readerEnvs: ['production'], envs: ['main'], keys: ['URL', '__proto__'] }
    const id = idOf(await allow(rule))
    const other = idOf(await allow())
    expect(await rulesOf()).toEqual([
      { id, project: shop, ...rule, createdAt: expect.any(String) },
      { id: other, project: shop, readerEnvs: null, envs: null, keys: null, createdAt: expect.any(String) },
    ])
    await ok(admin(vault.url, 'DELETE', `/projects/${db}/reference-rules/${id}`))
    expect(await rulesOf()).toHaveLength(1)
    const removed = await admin(vault.url, 'DELETE', `/projects/${db}/reference-rules/${id}`)
    expect(statusAndError(removed)).toEqual([404, 'not_found'])
    expect(await entriesOf(db, 'reference-rule.create')).toMatchObject([
      { detail: { rule: other, reader: shop, envs: null } },
      { detail: { rule: id, reader: shop, readerEnvs: 'production', envs: 'main', keys: 'URL,__proto__' } },
    ])
    expect(await entriesOf(db, 'reference-rule.delete')).toMatchObject([{ detail: { rule: id, reader: shop } }])
  })

  test('are refused for the project itself, an unknown one, and malformed names', async () => {
    const refused: readonly (readonly [object, number])[] = [
      [{ project: 'none' }, 404],
      [{ project: db }, 400],
      [{ project: '../x' }, 400],
      [{ project: 'a\u0000' }, 400],
      [{ keys: [] }, 400],
      [{ envs: ['../x'] }, 400],
      [{ keys: ['\u0000'] }, 400],
      [{ keys: [2 ** 53] }, 400],
      [{ readerEnvs: 'production' }, 400],
      [{ keys: Array(101).fill('A') }, 400],
      [{ everything: true }, 400],
    ]
    for (const [rule, status] of refused) expect([rule, (await allow(rule)).status]).toEqual([rule, status])
    expect(await rulesOf()).toEqual([])
  })

  test('are at most 50 per project, even if two administrators add one at the same time', async () => {
    for (let i = 0; i < 49; i++) await ok(allow())
    const at = (url: string) => adminNow(url, 'POST', `/projects/${db}/reference-rules`, { project: shop })
    const last = await Promise.all([at(vault.url), at(replica.url), at(vault.url)])
    expect(last.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
    expect(statusAndError(await allow())).toEqual([409, 'too_many_reference_rules'])
  })

  test('are managed by administrators of the project that is read', async () => {
    const id = idOf(await allow())
    const as = async (body: object, method: string, at: string) => {
      const { token } = (await admin(vault.url, 'POST', '/administrators', body)).body as { token: string }
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
      const init = method === 'POST' ? { body: JSON.stringify({ project: shop }) } : {}
      return (await send(`${vault.url}/v1/admin/projects/${at}`, { method, headers, ...init })).status
    }
    const [rules, rule] = [`${db}/reference-rules`, `${db}/reference-rules/${id}`]
    const reader = { name: 'x', role: 'administrator', projects: [shop] }
    for (const role of ['editor', 'auditor']) {
      expect(await as({ name: 'x', role }, 'GET', rules)).toBe(200)
      expect(await as({ name: 'x', role }, 'POST', rules)).toBe(403)
      expect(await as({ name: 'x', role }, 'DELETE', rule)).toBe(403)
    }
    expect(await as(reader, 'GET', rules)).toBe(403)
    expect(await as(reader, 'POST', rules)).toBe(403)
    expect(await as(reader, 'DELETE', `${shop}/reference-rules/${id}`)).toBe(404)
    expect(await as({ ...reader, projects: [db] }, 'POST', rules)).toBe(201)
    expect(await rulesOf()).toHaveLength(2)
  })
})

test('copies and restored versions stay values with references', async () => {
  await ok(put('HOST', 'one'), refer('URL', 'to ${HOST}'), put('HOST', 'two', { env: 'staging' }))
  const copy = { from: 'production', to: 'staging', keys: ['URL'] }
  await ok(admin(vault.url, 'POST', `/projects/${shop}/secrets/copy`, copy))
  expect(await read('staging')).toEqual({ HOST: 'two', URL: 'to two' })
  await ok(put('URL', 'plain'))
  const listed = (await admin(vault.url, 'GET', `/projects/${shop}/secrets?env=production`)).body
  const id = (listed as { id: string; key: string }[]).find((each) => each.key === 'URL')?.id ?? ''
  await ok(admin(vault.url, 'POST', `/secrets/${id}/versions/1/restore`))
  expect(await read()).toEqual({ HOST: 'one', URL: 'to one' })
  const { body } = await admin(vault.url, 'GET', `/projects/${shop}/secrets`)
  expect((body as { key: string; references?: true }[]).filter((each) => each.references)).toHaveLength(2)
})

describe('waiting clients', () => {
  type Changes = { version: string; changed: string[]; values?: object }
  const changes = async (at: TestVault, query: string): Promise<Changes> => {
    const url = `${at.url}/v1/secrets/changes?env=production&${query}`
    return (await signedSend({ project: shop, key, method: 'GET', url })).body as Changes
  }

  test('wake when something their environment refers to changes, at every replica', async () => {
    await ok(put('HOST', 'db', { project: db, env: 'root' }))
    await ok(admin(vault.url, 'PUT', `/projects/${db}/environments/main`, { parent: 'root' }))
    await ok(refer('URL', 'pg://${HOST}', { project: db, env: 'main' }), allow())
    await ok(refer('A', `\${${db}.main.URL}`), put('B', 'b'), put('S', 's', { env: 'staging' }))
    await ok(refer('S', `\${${shop}.staging.S}`))
    const steps: [() => Promise<Answer>, object][] = [
      [() => put('HOST', 'new', { project: db, env: 'root' }), { A: 'pg://new', B: 'b', S: 's' }],
      [() => put('S', 't', { env: 'staging' }), { A: 'pg://new', B: 'b', S: 't' }],
      [() => put('HOST', 'newer', { project: db, env: 'main' }), { A: 'pg://newer', B: 'b', S: 't' }],
    ]
    let { version } = await changes(vault, 'wait=0')
    expect((await changes(vault, 'wait=0&values=true')).version).toBe(version)
    for (const [change, values] of steps) {
      expect(await changes(replica, `wait=0&since=${version}`)).toEqual({ version, changed: [] })
      const waiting = [vault, replica].map((at) => changes(at, `since=${version}&values=true`))
      for (const at of [vault, replica])
        await eventually(() => Promise.resolve(at.context.useCases.changes.countWaiting() === 1))
      await ok(change())
      const [one, other] = await Promise.all(waiting)
      expect(one).toMatchObject({ values, changed: ['A', 'S'] })
      expect(other).toEqual(one)
      expect(one?.version).not.toBe(version)
      version = one?.version ?? ''
    }
  })
})

test('what environments read is listed once, with the keys of their own values only', async () => {
  await ok(put('A', 'a', { env: 'one' }), put('A', 'a', { env: 'two' }), put('B', 'b', { env: 'common' }))
  const both = `\${${shop}.one.A} \${${shop}.two.A}`
  await ok(refer('BOTH', both), refer('TOO', both), refer('COMMON', '${B}', { env: 'common' }))
  await ok(refer('OTHER', `\${${shop}.two.A}`, { env: 'one' }))
  await ok(admin(vault.url, 'PUT', `/projects/${shop}/environments/production`, { parent: 'common' }))
  const [project] = await vault.sql<{ uid: string }>('select uid from projects where name = $1', [shop])
  const logger = createLogger({ name: 'test', level: 'silent' })
  const pool = createPool({ url: vault.database.appUrl, name: 'test', size: 1, logger })
  const [read] = await createStateStore(pool).readReferences([{ projectUid: project?.uid ?? '', env: 'production' }])
  await pool.end()
  expect(read?.places.map(({ env }) => env).toSorted()).toEqual(['common', 'one', 'production', 'two'])
  expect(read?.keys.map(({ env, key }) => `${env}/${key}`).toSorted()).toEqual([
    ...['common/COMMON', 'production/BOTH', 'production/TOO'],
  ])
})

describe('the run-time role of the database', () => {
  const runtime = () => connectSql(vault.database.appUrl)
  const blobOf = `select v.secret_id, v.version, v.blob from secret_versions v join secrets s on s.id = v.secret_id
    join projects p on p.uid = s.project_uid where v.version = s.version and p.name = $1 and s.key = $2`

  test('cannot make a value with references of a plain one, nor the other way round', async () => {
    await ok(put('SECRET', 's'), put('PLAIN', '${SECRET}'), refer('REFERS', '${SECRET}'))
    const sql = await runtime()
    for (const [name, format] of [
      ['PLAIN', 2],
      ['REFERS', 1],
      ['REFERS', 3],
    ] as const) {
      const [stored] = await vault.sql<{ secret_id: string; version: number; blob: Buffer }>(blobOf, [shop, name])
      const set = (bytes: string) =>
        sql(`update secret_versions set blob = ${bytes} where secret_id = '${String(stored?.secret_id)}'`)
      await set(`set_byte(blob, 0, ${String(format)})`)
      expect(statusAndError(await fetched())).toEqual([500, 'decryption_failed'])
      await set(`'\\x${String(stored?.blob.toString('hex'))}'`)
    }
    await sql.end()
    expect(await read()).toEqual({ SECRET: 's', PLAIN: '${SECRET}', REFERS: 's' })
  })

  test('cannot write, change or put back a rule', async () => {
    await ok(put('URL', 'u', { project: db, env: 'main' }), put('X', 'x', { project: db, env: 'main' }))
    const id = idOf(await allow({ keys: ['URL'] }))
    await ok(refer('A', `\${${db}.main.URL}`))
    const sql = await runtime()
    const row = (
      await vault.sql<{ row: object }>('select to_jsonb(r) as row from reference_rules r where id = $1', [id])
    )[0]
    await expect(sql(`update reference_rules set keys = null`)).rejects.toThrow('permission denied')
    const insert = (changed: object) =>
      `insert into reference_rules select * from jsonb_populate_record(null::reference_rules, '${JSON.stringify({ ...row?.row, ...changed })}')`
    await sql(insert({ id: crypto.randomUUID(), keys: null }))
    expect(statusAndError(await refer('B', `\${${db}.main.X}`))).toEqual(UNRESOLVED)
    expect(await rulesOf()).toHaveLength(1)
    await ok(admin(vault.url, 'DELETE', `/projects/${db}/reference-rules/${id}`))
    await expect(sql(insert({}))).rejects.toThrow('only grows')
    await vault.sql(`set session_replication_role = replica; ${insert({})}`)
    expect(statusAndError(await fetched())).toEqual(UNRESOLVED)
    const { stdout } = await rows(vault, 'verify')
    expect((JSON.parse(stdout) as { problems: string[] }).problems).toEqual(
      expect.arrayContaining([`reference rule ${id}: it was removed but is stored`]),
    )
    await sql.end()
    await vault.sql('delete from reference_rules')
  })

  test('cannot put a project in the place of another one', async () => {
    await ok(put('URL', 'u', { project: db, env: 'main' }), allow(), refer('A', `\${${db}.main.URL}`))
    const rename = (from: string, to: string) =>
      vault.sql(`set session_replication_role = replica; update projects set name = '${to}' where name = '${from}'`)
    await rename(db, `${db}-moved`)
    expect(statusAndError(await fetched())).toEqual(UNRESOLVED)
    await createProject(vault.url, `${db}-evil`)
    await rename(`${db}-evil`, db)
    expect(statusAndError(await fetched())).toEqual(UNRESOLVED)
    await vault.sql(`delete from projects where name in ('${db}', '${db}-moved')`)
  })

  test('can add hints, which wake clients, and removes none', async () => {
    await ok(put('A', 'a'), refer('B', '${A}'))
    const sql = await runtime()
    await expect(sql('delete from secret_references')).rejects.toThrow('permission denied')
    await expect(sql("update secret_references set env = ''")).rejects.toThrow('permission denied')
    await sql(`insert into secret_references select secret_id, version, project_uid, source, '${db}', 'none'
      from secret_references r join projects p on p.uid = r.project_uid where p.name = '${shop}'`)
    await sql.end()
    expect(await read()).toEqual({ A: 'a', B: 'a' })
  })
})

test('no value of a reference is in the log or the database, and everything verifies', async () => {
  await ok(put('HOST', 'super-secret-host'), refer('URL', 'to ${HOST}'))
  await read()
  await refer('TOO', '${HOST} ${NONE}')
  expect(vault.logged()).not.toContain('super-secret')
  expect(JSON.stringify(await vault.sql('select to_jsonb(a) as e from audit a'))).not.toContain('super-secret')
  await vault.seal()
  expect(await audit(vault, 'verify')).toMatchObject({ status: 0 })
})
