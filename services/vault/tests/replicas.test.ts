import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Answer, admin, createProject, type Key, send, signedSend, signHeaders } from './support/client.ts'
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
  for (let round = 0; round < 5; round++) {
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
