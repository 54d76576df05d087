import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, type Key, keyOf, newKey, send, signHeaders } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

/** The public URL; a proxy distributes requests to the replicas. */
const PUBLIC = 'https://vault.example.org'
const PROXY = { 'X-Forwarded-Host': 'vault.example.org', 'X-Forwarded-Proto': 'https' }

let replicas: [TestVault, TestVault]

beforeAll(async () => {
  const vault = await startVault({ TRUSTED_PROXIES: '127.0.0.1', PUBLIC_URL: `${PUBLIC},http://127.0.0.1:0` })
  replicas = [vault, await vault.replica()]
})
afterAll(async () => {
  for (const replica of replicas.toReversed()) await replica.stop()
})

type Request = { project: string; key: Key; method: string; body?: object; env?: string }

/** A signed request for any replica, to send once or several times. */
async function signed({
  project,
  key,
  method,
  body,
  env,
}: Request): Promise<(replica: TestVault) => Promise<Answered>> {
  const path = env === undefined ? '/v1/secrets' : `/v1/secrets?env=${env}`
  const headers = await signHeaders({ project, key, method, url: PUBLIC + path })
  const init = {
    method,
    headers: { ...headers, ...PROXY, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  }
  return async (replica) => {
    const answer = await send(replica.url + path, init)
    return [answer.status, answer.body]
  }
}

type Answered = [status: number, body: unknown]

const statusesOf = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort()

test('accepts a request that reaches two replicas only once', async () => {
  const key = await createProject(replicas[0].url, 'nonces')
  const rounds = 40
  for (let round = 0; round < rounds; round++) {
    const request = await signed({ project: 'nonces', key, method: 'GET' })
    const answers = await Promise.all([...replicas, ...replicas].map(request))
    expect(answers.filter(([status]) => status === 200)).toHaveLength(1)
    const others = answers.filter(([status]) => status !== 200)
    expect(others).toEqual(others.map(() => [401, { error: 'replayed_nonce' }]))
  }
  const [entries] = await replicas[0].sql(
    `select count(*)::int from audit where project_id = 'nonces' and action = 'fetch'`,
  )
  expect(entries).toEqual({ count: rounds })
})

test('creates a name only once at two replicas', async () => {
  for (let round = 0; round < 25; round++) {
    const name = `name-${String(round)}`
    const answers = await Promise.all(
      replicas.map(({ url }) => admin(url, 'POST', '/projects', { name, publicKey: newKey().publicKeyHex })),
    )
    expect(statusesOf(answers)).toEqual([201, 409])
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({ error: 'project_exists' })
  }
  const counts = await replicas[0].sql(
    `select (select count(*)::int from projects where name like 'name-%') as projects,
       (select count(*)::int from project_keys k join projects p on p.uid = k.project_uid where p.name like 'name-%') as keys,
       (select count(*)::int from project_deks d join projects p on p.uid = d.project_uid where name like 'name-%') as deks,
       (select count(*)::int from audit where action = 'project.create' and project_id like 'name-%') as entries`,
  )
  expect(counts).toEqual([{ projects: 25, keys: 25, deks: 25, entries: 25 }])
})

test('rotates at two replicas at once', async () => {
  const original = await createProject(replicas[0].url, 'rotated')
  const answers = await Promise.all(replicas.map(({ url }) => admin(url, 'PUT', '/projects/rotated/rotate')))
  expect(statusesOf(answers)).toEqual([200, 200])
  const rotated = answers.map(({ body }) => keyOf((body as { privateKey: string }).privateKey))
  for (const key of [original, ...rotated]) {
    for (const replica of replicas) {
      const request = await signed({ project: 'rotated', key, method: 'GET' })
      expect(await request(replica)).toEqual([200, {}])
    }
  }
  const keys = await replicas[0].sql<{ hex: string; current: boolean }>(
    `select encode(public_key, 'hex') as hex, not_after is null as current from project_keys
     where project_uid = (select uid from projects where name = 'rotated')`,
  )
  expect(keys.map(({ hex }) => hex).sort()).toEqual([original, ...rotated].map((key) => key.publicKeyHex).sort())
  const current = keys.filter((key) => key.current).map(({ hex }) => hex)
  expect(current).toHaveLength(1)
  expect(rotated.map(({ publicKeyHex }) => publicKeyHex)).toContain(current[0])
  const entries = await replicas[0].sql(`select 1 from audit where project_id = 'rotated' and action = 'rotate'`)
  expect(entries).toHaveLength(2)
})

test('ends the old key at all replicas immediately', async () => {
  const old = await createProject(replicas[0].url, 'ended')
  const warm = await signed({ project: 'ended', key: old, method: 'GET' })
  expect(await warm(replicas[1])).toEqual([200, {}])
  await admin(replicas[0].url, 'PUT', '/projects/ended/rotate', { overlap: 0 })
  for (const method of ['GET', 'PUT']) {
    const body = method === 'PUT' ? { body: { key: 'A', value: 'a', env: 'production' } } : {}
    const request = await signed({ project: 'ended', key: old, method, ...body })
    expect(await request(replicas[1])).toEqual([401, { error: 'invalid_signature' }])
  }
  expect(await replicas[0].sql(`select 1 from audit where project_id = 'ended' and action = 'put'`)).toEqual([])
})

test('leaves no secret of a project that another replica deletes', async () => {
  for (let round = 0; round < 10; round++) {
    const project = `deleted-${String(round)}`
    const key = await createProject(replicas[0].url, project)
    const requests = await Promise.all(
      Array.from({ length: 12 }, (_, i) => {
        const body = { key: `KEY_${String(i % 3)}`, value: 'v', env: 'production' }
        return signed({ project, key, method: 'PUT', body })
      }),
    )
    const deletion = admin(replicas[1].url, 'DELETE', `/projects/${project}`)
    const answers = await Promise.all(requests.map((request) => request(replicas[0])))
    expect((await deletion).status).toBe(200)
    for (const answer of answers)
      expect([
        [200, { ok: true }],
        [401, { error: 'unknown_project' }],
      ]).toContainEqual(answer)
    const [entries] = await replicas[0].sql<{ count: number }>(
      `select count(*)::int from audit where project_id = $1 and action = 'put'`,
      [project],
    )
    expect(entries?.count).toBe(answers.filter(([status]) => status === 200).length)
  }
  const left = await replicas[0].sql(
    `select (select count(*)::int from projects where name like 'deleted-%') as projects,
       (select count(*)::int from secrets where project_uid not in (select uid from projects)) as secrets,
       (select count(*)::int from secret_versions where secret_id not in (select id from secrets)) as versions,
       (select count(*)::int from project_deks where project_uid not in (select uid from projects)) as deks`,
  )
  expect(left).toEqual([{ projects: 0, secrets: 0, versions: 0, deks: 0 }])
})

test('stores both values that two replicas write at once', async () => {
  const key = await createProject(replicas[0].url, 'overwritten')
  const values = Array.from({ length: 20 }, (_, i) => `value ${String(i)}`)
  const requests = await Promise.all(
    values.map((value) =>
      signed({ project: 'overwritten', key, method: 'PUT', body: { key: 'K', value, env: 'production' } }),
    ),
  )
  const answers = await Promise.all(requests.map((request, i) => request(replicas[i % 2 === 0 ? 0 : 1])))
  expect(answers).toEqual(values.map(() => [200, { ok: true }]))
  const read = await signed({ project: 'overwritten', key, method: 'GET' })
  const [status, body] = await read(replicas[0])
  expect(status).toBe(200)
  expect(values).toContain((body as { K: string }).K)
  const versions = await replicas[0].sql<{ version: number }>(
    `select v.version from secret_versions v join secrets s on s.id = v.secret_id
     where s.project_uid = (select uid from projects where name = 'overwritten') order by v.version`,
  )
  expect(versions.map(({ version }) => version)).toEqual(values.map((_, i) => i + 1))
})

test('separates the fetches of a shared statement', async () => {
  const projects = await Promise.all(
    Array.from({ length: 6 }, async (_, i) => {
      const project = `together-${String(i)}`
      return { project, key: await createProject(replicas[0].url, project) }
    }),
  )
  const secrets = projects.flatMap(({ project, key }, i) =>
    ['production', 'staging'].map((env) => ({
      project,
      key,
      env,
      value: `${project} ${env}`,
      name: `OWN_${String(i)}`,
    })),
  )
  for (const { project, key, env, value, name } of secrets) {
    const put = await signed({ project, key, method: 'PUT', body: { key: name, value, env } })
    expect(await put(replicas[0])).toEqual([200, { ok: true }])
  }
  // Cached by the first replica, but deleted from the database.
  const gone = await createProject(replicas[0].url, 'together-gone')
  await (await signed({ project: 'together-gone', key: gone, method: 'GET' }))(replicas[0])
  await admin(replicas[1].url, 'DELETE', '/projects/together-gone')

  const requests = Array.from({ length: 20 }, () => secrets).flat()
  const fetches = await Promise.all(
    requests.map(({ project, key, env }) => signed({ project, key, method: 'GET', env })),
  )
  const stale = await signed({ project: 'together-gone', key: gone, method: 'GET' })
  const [refused, ...answers] = await Promise.all([stale(replicas[0]), ...fetches.map((fetch) => fetch(replicas[0]))])
  expect(refused).toEqual([401, { error: 'unknown_project' }])
  expect(answers).toEqual(requests.map(({ name, value }) => [200, { [name]: value }]))
  const entries = await replicas[0].sql(
    `select project_id as project, env, count(*)::int from audit
     where action = 'fetch' and project_id in (select name from projects where name like 'together-%')
     group by 1, 2 order by 1, 2`,
  )
  expect(entries).toEqual(secrets.map(({ project, env }) => ({ project, env, count: 20 })))
})
