import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import {
  type Answer,
  admin,
  createProject,
  type Key,
  keyOf,
  signedSend,
  signHeaders,
  statusAndError,
} from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

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

type Seen = { version: string; changed: string[]; values?: Record<string, string> }
type Place = { readonly project: string; readonly key: Key; readonly env?: string }

const targetOf = ({ env = 'production' }: Place, query: object) =>
  `/v1/secrets/changes?${new URLSearchParams({ env, ...query }).toString()}`

function ask(place: Place, query: object = {}, from = vault): Promise<Answer> {
  return signedSend({ ...place, method: 'GET', url: from.url + targetOf(place, query) })
}

async function seen(place: Place, query: object = {}, from = vault): Promise<Seen> {
  const { status, body } = await ask(place, query, from)
  expect(status).toBe(200)
  return body as Seen
}

async function put({ project, key, env = 'production' }: Place, name: string, value = '1', to = vault): Promise<void> {
  const body = { key: name, value, env }
  expect((await signedSend({ project, key, method: 'PUT', url: `${to.url}/v1/secrets`, body })).status).toBe(200)
}

async function remove({ project, key, env = 'production' }: Place, name: string): Promise<void> {
  const url = `${vault.url}/v1/secrets?${new URLSearchParams({ key: name, env }).toString()}`
  expect((await signedSend({ project, key, method: 'DELETE', url })).status).toBe(200)
}

async function newPlace(project: string): Promise<Place> {
  const place = { project, key: await createProject(vault.url, project) }
  await put(place, 'A')
  return place
}

const waitingAt = (at: TestVault): number => at.context.useCases.changes.countWaiting()

/** Resolves when this many clients wait. */
const untilWaiting = (count: number, at = vault) => eventually(() => Promise.resolve(waitingAt(at) === count))

async function fetchesOf(project: string): Promise<number> {
  const [row] = await vault.sql<{ count: number }>(
    `select count(*)::integer as count from audit where action = 'fetch' and project_id = $1`,
    [project],
  )
  return row?.count ?? 0
}

/** Sends a signed request over its own connection, which the caller can close. */
async function open(place: Place, query: object, to = vault): Promise<Socket> {
  const { hostname, port, host } = new URL(to.url)
  const target = targetOf(place, query)
  const signed = await signHeaders({ ...place, method: 'GET', url: to.url + target })
  const lines = Object.entries({ Host: host, ...signed }).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(`GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`)
  return socket
}

test('without a version everything has changed, and with the current one nothing', async () => {
  const place = await newPlace('start')
  const first = await seen(place)
  expect(first).toEqual({ version: expect.any(String), changed: ['A'] })
  expect(await seen(place, { since: first.version, wait: 0 })).toEqual({ version: first.version, changed: [] })
  expect(await seen(place, { since: first.version, wait: 0 }, replica)).toEqual({ version: first.version, changed: [] })
  expect((await seen(place, { since: 'any-other' })).changed).toEqual(['A'])
  expect(await fetchesOf('start')).toBe(0)
})

test('an environment that was never written has a version too', async () => {
  const place = { ...(await newPlace('unwritten')), env: 'empty' }
  const { version, changed } = await seen(place)
  expect(changed).toEqual([])
  const waiting = seen(place, { since: version })
  await untilWaiting(1)
  await put(place, 'FIRST')
  expect((await waiting).changed).toEqual(['FIRST'])
})

test('a waiting client receives a change through any replica', async () => {
  const place = await newPlace('any-replica')
  const { version } = await seen(place)
  const waiting = [vault, replica].map((at) => seen(place, { since: version, values: true }, at))
  await untilWaiting(1)
  await untilWaiting(1, replica)
  await put(place, 'B', 'two')
  const [one, two] = await Promise.all(waiting)
  expect(one).toEqual({ version: expect.not.stringMatching(version), changed: ['B'], values: { A: '1', B: 'two' } })
  expect(two?.version).toBe(one?.version)
  expect(two?.values).toEqual(one?.values)
  expect(await fetchesOf('any-replica')).toBe(2)
})

test('deletions, restored versions and administrators also wake clients', async () => {
  const place = await newPlace('all-changes')
  await put(place, 'A', '2')
  await put(place, 'B')
  const listed = await admin(vault.url, 'GET', '/projects/all-changes/secrets')
  const secrets = listed.body as { id: string; key: string }[]
  const idOf = (name: string) => secrets.find(({ key }) => key === name)?.id ?? ''
  const changes: [string, () => Promise<unknown>][] = [
    ['A', () => admin(vault.url, 'POST', `/secrets/${idOf('A')}/versions/1/restore`)],
    ['B', () => admin(replica.url, 'DELETE', `/secrets/${idOf('B')}`)],
    ['A', () => remove(place, 'A')],
  ]
  for (const [name, change] of changes) {
    const { version } = await seen(place)
    const waiting = seen(place, { since: version })
    await untilWaiting(1)
    await change()
    expect((await waiting).changed).toEqual([name])
  }
})

test('a client some changes behind receives all of them, at once', async () => {
  const place = await newPlace('behind')
  const { version } = await seen(place)
  for (const name of ['B', 'C', 'A']) {
    await put(place, name, '2')
    await seen(place)
  }
  await remove(place, 'C')
  const { changed, values } = await seen(place, { since: version, values: true })
  expect(changed.toSorted()).toEqual(['A', 'B', 'C'])
  expect(values).toEqual({ A: '2', B: '2' })
  // The other replica has not seen the versions in between.
  expect((await seen(place, { since: version }, replica)).changed.toSorted()).toEqual(['A', 'B'])
})

test('changes of other environments and projects wake no client', async () => {
  const [one, other] = [await newPlace('quiet'), await newPlace('loud')]
  const { version } = await seen(one)
  const waiting = seen(one, { since: version, wait: 1 })
  await untilWaiting(1)
  await put(other, 'B')
  await put({ ...one, env: 'staging' }, 'B')
  expect(await waiting).toEqual({ version, changed: [] })
})

test('a project of the same name has other versions', async () => {
  const place = await newPlace('reborn')
  const { version } = await seen(place)
  await admin(vault.url, 'DELETE', '/projects/reborn')
  await admin(vault.url, 'POST', '/projects', { name: 'reborn', publicKey: place.key.publicKeyHex })
  await put(place, 'A')
  expect((await seen(place, { since: version })).changed).toEqual(['A'])
})

test('a key that was revoked or has expired while its client waited receives nothing', async () => {
  const place = await newPlace('revoked')
  const { version } = await seen(place)
  const refused = [vault, replica].map((at) => ask(place, { since: version, values: true, wait: 20 }, at))
  await untilWaiting(1)
  await untilWaiting(1, replica)
  const rotated = await admin(vault.url, 'PUT', '/projects/revoked/rotate', { overlap: 300 })
  const next = keyOf((rotated.body as { privateKey: string }).privateKey)
  replica.advance(301_000)
  const keys = await admin(vault.url, 'GET', '/projects/revoked/keys')
  const [, old] = keys.body as { fingerprint: string }[]
  await admin(vault.url, 'DELETE', `/projects/revoked/keys/${old?.fingerprint ?? ''}`)
  await put({ project: 'revoked', key: next }, 'B')
  for (const answer of await Promise.all(refused)) expect(statusAndError(answer)).toEqual([401, 'invalid_signature'])
  expect(await fetchesOf('revoked')).toBe(0)
})

test('a key that was rotated with an overlap still receives changes', async () => {
  const place = await newPlace('rotated')
  const { version } = await seen(place)
  const waiting = [1, 2, 3].map(() => seen(place, { since: version, values: true }))
  await untilWaiting(3)
  await admin(replica.url, 'PUT', '/projects/rotated/rotate')
  await put(place, 'B')
  for (const answer of await Promise.all(waiting)) expect(answer.values).toEqual({ A: '1', B: '1' })
})

test('the scope of the key applies', async () => {
  const key = await createProject(vault.url, 'scoped', { scope: { access: 'read', envs: ['staging'] } })
  expect((await ask({ project: 'scoped', key, env: 'staging' })).status).toBe(200)
  expect(statusAndError(await ask({ project: 'scoped', key }))).toEqual([403, 'forbidden'])
  const writer = await createProject(vault.url, 'writer', { scope: { access: 'write' } })
  expect(statusAndError(await ask({ project: 'writer', key: writer }))).toEqual([403, 'forbidden'])
})

test('refuses malformed parameters', async () => {
  const place = await newPlace('malformed')
  const queries = [{ wait: 31 }, { wait: -1 }, { wait: '' }, { values: 'yes' }, { env: '-' }]
  const versions = ['', 'ü', 'a b', 'x'.repeat(257)].map((since) => ({ since }))
  for (const query of [...queries, ...versions])
    expect(statusAndError(await ask(place, query))).toEqual([400, 'invalid_request'])
})

test('a changed row fails the request, as it fails a fetch', async () => {
  const place = await newPlace('tampered')
  const { version } = await seen(place)
  const waiting = ask(place, { since: version, wait: 1 })
  await untilWaiting(1)
  await vault.sql(`update environments set code = set_byte(code, 0, get_byte(code, 0) # 1), revision = revision + 1
    where project_uid = (select uid from projects where name = 'tampered')`)
  expect(statusAndError(await waiting)).toEqual([500, 'decryption_failed'])
  expect(statusAndError(await ask(place))).toEqual([500, 'decryption_failed'])
})

test('a client that disconnects frees its place, at every stage', async () => {
  const place = await newPlace('leaving')
  const { version } = await seen(place)
  const sockets = await Promise.all(Array.from({ length: 20 }, () => open(place, { since: version, values: true })))
  // Some leave before their signature is verified, some while they wait.
  for (const socket of sockets.slice(0, 5)) socket.destroy()
  await untilWaiting(15)
  for (const socket of sockets.slice(5, 10)) socket.destroy()
  await untilWaiting(10)
  const woken = put(place, 'B')
  for (const socket of sockets.slice(10, 15)) socket.destroy()
  await woken
  for (const socket of sockets.slice(15)) await once(socket, 'data')
  await untilWaiting(0)
  for (const socket of sockets) socket.destroy()
  expect(await fetchesOf('leaving')).toBe(5)
})

test('many clients of one environment are answered together', async () => {
  const place = await newPlace('crowd')
  const { version } = await seen(place)
  const waiting = Array.from({ length: 100 }, () => seen(place, { since: version, values: true }))
  await untilWaiting(100)
  const connections = await vault.sql(`select 1 from pg_stat_activity where state <> 'idle' and usename = 'vault_app'`)
  expect(connections).toEqual([])
  await put(place, 'B', 'new')
  for (const answer of await Promise.all(waiting)) expect(answer.values).toEqual({ A: '1', B: 'new' })
  expect(waitingAt(vault)).toBe(0)
})

test('a stopping vault answers all waiting clients, and completes within its deadline', async () => {
  const stopping = await vault.replica()
  const place = await newPlace('drained')
  const { version } = await seen(place)
  const waiting = Array.from({ length: 100 }, () => seen(place, { since: version, values: true }, stopping))
  await untilWaiting(100, stopping)
  const started = Date.now()
  await stopping.stop()
  expect(Date.now() - started).toBeLessThan(5_000)
  for (const answer of await Promise.all(waiting)) expect(answer).toEqual({ version, changed: [] })
})

test('watchers of a machine do not use up its fetches', async () => {
  const limited = await vault.replica({ FETCH_RATE_LIMIT: '5' })
  const place = await newPlace('machine')
  const { version } = await seen(place)
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(place, { since: version, wait: 0 }, limited)))
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(50).fill(200))
  expect(statusAndError(await ask(place, {}, limited))).toEqual([429, 'rate_limited'])
  const url = `${limited.url}/v1/secrets`
  expect((await signedSend({ ...place, method: 'GET', url })).status).toBe(200)
  await limited.stop()
})
