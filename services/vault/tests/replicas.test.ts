import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { TRIALS } from '@vault-and-tracker/dev-env'
import {
  type Answer,
  admin,
  createProject,
  type Key,
  keyOf,
  newKey,
  send,
  signedSend,
  signHeaders,
} from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let one: TestVault
let two: TestVault
/** Both replicas have one public name, so either can receive a signed request. */
const PROXY = { TRUSTED_PROXIES: '127.0.0.0/8', PUBLIC_URL: 'http://vault.example,http://127.0.0.1:0' }
const PUBLIC = 'http://vault.example'

beforeAll(async () => {
  one = await startVault(PROXY)
  two = await one.replica()
})
afterAll(async () => {
  await two.stop()
  await one.stop()
})

/** A request signed for the common name, sent to one replica. */
async function through(vault: TestVault, project: string, key: Key, method = 'GET', body?: unknown): Promise<Answer> {
  const headers = await signHeaders({ project, key, method, url: `${PUBLIC}/v1/secrets` })
  return forward(vault, headers, method, body)
}

function forward(vault: TestVault, headers: Record<string, string>, method = 'GET', body?: unknown): Promise<Answer> {
  return send(`${vault.url}/v1/secrets`, {
    method,
    headers: { ...headers, 'X-Forwarded-Host': 'vault.example', 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

const code = ({ status, body }: Answer) => (status === 200 ? 200 : (body as { error: string }).error)

test('a deletion takes effect at all replicas, as does a new project of the name', async () => {
  const key = await createProject(one.url, 'phoenix')
  await through(two, 'phoenix', key, 'PUT', { key: 'A', value: 'old', env: 'production' })
  expect((await through(two, 'phoenix', key)).body).toEqual({ A: 'old' })
  await admin(one.url, 'DELETE', '/projects/phoenix')
  expect(code(await through(two, 'phoenix', key))).toBe('unknown_project')
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  // With the same key, only the uid distinguishes the projects.
  await admin(one.url, 'POST', '/projects', { name: 'phoenix', publicKey: key.publicKeyHex })
  const again = await through(two, 'phoenix', key)
  expect([again.status, again.body]).toEqual([200, {}])
})

test('recognises a project that was deleted and created again with the same key', async () => {
  const key = await createProject(one.url, 'twin')
  await through(two, 'twin', key, 'PUT', { key: 'A', value: 'old', env: 'production' })
  await admin(one.url, 'DELETE', '/projects/twin')
  await admin(one.url, 'POST', '/projects', { name: 'twin', publicKey: key.publicKeyHex })
  const put = await through(two, 'twin', key, 'PUT', { key: 'B', value: 'new', env: 'production' })
  expect(put.status).toBe(200)
  expect((await through(two, 'twin', key)).body).toEqual({ B: 'new' })
})

test('requires digests at all replicas immediately', async () => {
  const key = await createProject(one.url, 'demanding')
  const secret = { key: 'A', value: '1', env: 'production' }
  expect((await through(two, 'demanding', key, 'PUT', secret)).status).toBe(200)
  await admin(one.url, 'PATCH', '/projects/demanding', { requireContentDigest: true })
  expect(code(await through(two, 'demanding', key, 'PUT', secret))).toBe('invalid_signature')
})

test('drops the requirement of digests at all replicas immediately', async () => {
  const key = await createProject(one.url, 'relenting', { requireContentDigest: true })
  const secret = { key: 'A', value: '1', env: 'production' }
  expect(code(await through(two, 'relenting', key, 'PUT', secret))).toBe('invalid_signature')
  await admin(one.url, 'PATCH', '/projects/relenting', { requireContentDigest: false })
  expect(code(await through(two, 'relenting', key, 'PUT', secret))).toBe(200)
})

test('counts a caller who is refused after a confirmation', async () => {
  const strict = await one.replica({ SIGNATURE_FAILURE_LIMIT: '1' })
  const key = await createProject(one.url, 'hidden')
  const put = () => through(strict, 'hidden', key, 'PUT', { key: 'A', value: '1', env: 'production' })
  expect((await put()).status).toBe(200)
  await admin(one.url, 'DELETE', '/projects/hidden')
  await admin(one.url, 'POST', '/projects', { name: 'hidden', publicKey: key.publicKeyHex })
  // Without a policy for updates, the service can read but not lock the new project, as if it had been deleted again.
  await one.sql('alter table projects enable row level security')
  await one.sql('create policy readable on projects for select using (true)')
  try {
    expect(code(await put())).toBe('invalid_signature')
    expect(code(await put())).toBe('rate_limited')
  } finally {
    await one.sql('drop policy readable on projects')
    await one.sql('alter table projects disable row level security')
    await strict.stop()
  }
})

test('fetches all or nothing while the project is deleted', async () => {
  for (let round = 0; round < 3 * TRIALS; round++) {
    const name = `read-${String(round)}`
    const key = await createProject(one.url, name)
    for (const secret of ['A', 'B'])
      await through(one, name, key, 'PUT', { key: secret, value: 'v', env: 'production' })
    const cold = await one.replica()
    const reads = Array.from({ length: 10 }, (_, i) => through(i % 2 === 0 ? cold : two, name, key))
    const [, ...answers] = await Promise.all([admin(one.url, 'DELETE', `/projects/${name}`), ...reads])
    for (const answer of answers) {
      if (answer.status === 200) expect(answer.body).toEqual({ A: 'v', B: 'v' })
      else expect(code(answer)).toBe('unknown_project')
    }
    await cold.stop()
  }
})

test('refuses a signature for the name of another replica', async () => {
  const key = await createProject(one.url, 'direct')
  const headers = await signHeaders({ project: 'direct', key, method: 'GET', url: `${two.url}/v1/secrets` })
  expect((await send(`${one.url}/v1/secrets`, { headers })).status).toBe(401)
  expect((await signedSend({ project: 'direct', key, method: 'GET', url: `${one.url}/v1/secrets` })).status).toBe(200)
})

describe('at once', () => {
  let replicas: readonly [TestVault, TestVault]

  beforeAll(() => {
    replicas = [one, two]
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
      headers: { ...headers, 'X-Forwarded-Host': 'vault.example', 'content-type': 'application/json' },
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
    const rounds = 15 * TRIALS
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
    const rounds = 10 * TRIALS
    for (let round = 0; round < rounds; round++) {
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
    expect(counts).toEqual([{ projects: rounds, keys: rounds, deks: rounds, entries: rounds }])
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
    for (let round = 0; round < 4 * TRIALS; round++) {
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

    const requests = Array.from({ length: 8 }, () => secrets).flat()
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
    expect(entries).toEqual(secrets.map(({ project, env }) => ({ project, env, count: 8 })))
  })
})
