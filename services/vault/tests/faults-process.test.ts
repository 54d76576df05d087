import { randomBytes } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  removeTemporaryFolder,
  type TestDatabase,
  temporaryFolder,
  testRedis,
} from '@vault-and-tracker/dev-env'
import { admin, createProject, type Key, send, signedSend, signHeaders } from './support/client.ts'
import { connectSql, type Sql } from './support/sql.ts'
import { createVaultDatabase, KEYS } from './support/vault.ts'
import {
  spawnVaultProcess,
  startVaultProcess,
  type VaultProcess,
  type VaultProcessOptions,
} from './support/vault-process.ts'

let options: VaultProcessOptions
let database: TestDatabase
let sql: Sql
const running: VaultProcess[] = []

beforeAll(async () => {
  database = await createVaultDatabase()
  sql = await connectSql(database.adminUrl)
  const { url: redisUrl } = await testRedis()
  options = { folder: temporaryFolder('faults-process'), databaseUrl: database.appUrl, redisUrl }
})
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ process }) => process.stop()))
})
afterAll(async () => {
  await sql.end()
  await database.drop()
  removeTemporaryFolder(options.folder)
})

async function start(more: Partial<VaultProcessOptions> = {}): Promise<VaultProcess> {
  const service = await startVaultProcess({ ...options, ...more })
  running.push(service)
  return service
}

function put(service: VaultProcess, project: string, key: Key, name: string) {
  const url = `${service.url}/v1/secrets`
  return signedSend({ project, key, method: 'PUT', url, body: { key: name, value: name, env: 'production' } })
}

async function fetched(service: VaultProcess, project: string, key: Key): Promise<[number, unknown]> {
  const { status, body } = await signedSend({ project, key, method: 'GET', url: `${service.url}/v1/secrets` })
  return [status, body]
}

test.each(['GET', 'PUT'])(
  'after kill -9 between nonce and answer a %s is refused as replayed, and nothing is half-written',
  async (method) => {
    const project = `killed-${method.toLowerCase()}`
    const first = await start()
    const key = await createProject(first.url, project)
    await put(first, project, key, 'BEFORE')

    // The nonce of the request is spent before it waits for this lock.
    await sql('begin')
    await sql('lock table audit in exclusive mode')
    const url = `${first.url}/v1/secrets`
    const headers = await signHeaders({ project, key, method, url })
    const body = method === 'PUT' ? JSON.stringify({ key: 'HALF', value: 'half', env: 'production' }) : null
    const init = { method, body, headers: { ...headers, 'content-type': 'application/json' } }
    const answer = send(url, init).catch(() => 'no answer')
    await eventually(async () => {
      const waiting = `select 1 from pg_locks where not granted and relation = 'audit'::regclass`
      return (await sql(waiting)).length > 0
    })
    await first.process.kill()
    expect(await answer).toBe('no answer')
    await sql('rollback')

    const second = await start({ port: first.port })
    const again = await send(url, init)
    expect([again.status, again.body]).toEqual([401, { error: 'replayed_nonce' }])
    expect(await fetched(second, project, key)).toEqual([200, { BEFORE: 'BEFORE' }])
    const left = await sql(
      `select s.key, s.version, count(v.version)::int as versions
       from secrets s join projects p on p.uid = s.project_uid left join secret_versions v on v.secret_id = s.id
       where p.name = $1 group by s.id`,
      [project],
    )
    expect(left).toEqual([{ key: 'BEFORE', version: 1, versions: 1 }])
    const puts = await sql(`select detail->>'key' as key from audit where project_id = $1 and action = 'put'`, [
      project,
    ])
    expect(puts).toEqual([{ key: 'BEFORE' }])
  },
)

test('loses no accepted request after SIGTERM, and exits with 0', async () => {
  const service = await start()
  const key = await createProject(service.url, 'drained')
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const answered: string[] = []
  const others: string[] = []
  const writer = async (writerNumber: number): Promise<void> => {
    for (let i = 0; ; i++) {
      const name = `KEY_${String(writerNumber)}_${String(i)}`
      const outcome = await putOver(agent, service, 'drained', key, name)
      if (outcome === 200) answered.push(name)
      else {
        if (outcome !== 'refused') others.push(String(outcome))
        return
      }
    }
  }
  const load = Array.from({ length: 16 }, (_, number) => writer(number))
  await eventually(() => answered.length > 100)
  const ended = service.process.stop()
  await Promise.all(load)
  agent.destroy()
  expect(await ended).toEqual({ code: 0, signal: null })
  expect(others).toEqual([])
  const stored = await sql<{ key: string }>(
    `select key from secrets s join projects p on p.uid = s.project_uid where p.name = 'drained' order by key`,
  )
  // Exactly the acknowledged writes.
  expect(stored.map(({ key: name }) => name).sort()).toEqual(answered.sort())
})

/** The status of a PUT, `refused` if the port is closed, otherwise the error. */
async function putOver(
  agent: Agent,
  service: VaultProcess,
  project: string,
  key: Key,
  name: string,
): Promise<number | string> {
  const headers = await signHeaders({ project, key, method: 'PUT', url: `${service.url}/v1/secrets` })
  const body = JSON.stringify({ key: name, value: name, env: 'production' })
  return new Promise((resolve) => {
    const outgoing = httpRequest(
      `${service.url}/v1/secrets`,
      {
        agent,
        method: 'PUT',
        headers: { ...headers, 'content-type': 'application/json', 'content-length': String(body.length) },
      },
      (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)),
    )
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // A request can meet the close of an idle connection, or of the port. It was not accepted, and nothing is stored.
      const isRefused = error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET'
      resolve(isRefused ? 'refused' : (error.code ?? error.message))
    })
    outgoing.end(body)
  })
}

const keyring = (entries: Record<string, string>, active: string) => ({
  VAULT_KEYRING: Object.entries(entries)
    .map(([id, key]) => `${id}:${key}`)
    .join(','),
  VAULT_KEYRING_ACTIVE: active,
})

/** Starts a service that refuses to start, and returns its log. */
async function refusedStart(env: Record<string, string>): Promise<string> {
  const service = await spawnVaultProcess({ ...options, env })
  running.push(service)
  const { code } = await service.process.exited
  expect(code).toBe(1)
  return service.log()
}

test('refuses to start with a missing or changed key-encryption key', async () => {
  const { '2026-11': old } = KEYS
  const first = await start({ env: keyring({ '2026-11': old }, '2026-11') })
  const key = await createProject(first.url, 'wrapped')
  await put(first, 'wrapped', key, 'KEPT')
  await first.process.stop()
  const known = await sql<{ kek_id: string; fingerprint: string }>('select * from keks order by kek_id')
  const fingerprint = known.find(({ kek_id: id }) => id === '2026-11')?.fingerprint ?? 'none'

  const removed = await refusedStart(keyring({ '2027-01': randomBytes(32).toString('base64') }, '2027-01'))
  expect(removed).toContain(`key 2026-11 (fingerprint ${fingerprint}) is in use`)

  const changed = await refusedStart(keyring({ '2026-11': randomBytes(32).toString('base64') }, '2026-11'))
  expect(changed).toMatch(
    new RegExp(`key 2026-11 differs: .*fingerprint ${fingerprint}, the keyring has (?!${fingerprint})[0-9a-f]{16}`),
  )
  expect(`${removed}${changed}`).not.toContain(old)
  expect(await sql('select * from keks order by kek_id')).toEqual(known)

  const again = await start({ env: keyring({ '2026-11': old }, '2026-11') })
  expect(await fetched(again, 'wrapped', key)).toEqual([200, { KEPT: 'KEPT' }])
})

test('is not ready at a replica whose keyring lost a used key', async () => {
  const whole = await start()
  await createProject(whole.url, 'ready')
  await sql(`insert into keks (kek_id, fingerprint, first_seen) values ('2031-05', '0123456789abcdef', now())`)
  await sql(
    `update project_deks set kek_id = '2031-05' where project_uid = (select uid from projects where name = 'ready')`,
  )
  const unready = await send(`${whole.url}/ready`)
  expect([unready.status, unready.body]).toEqual([
    503,
    { ok: false, checks: { postgres: 'ok', redis: 'ok', keyring: 'failed', audit: 'ok' } },
  ])
  // The line may be written after the response.
  const reason = 'key 2031-05 (fingerprint 0123456789abcdef) is in use'
  await eventually(() => whole.log().includes(reason))
  await admin(whole.url, 'DELETE', '/projects/ready')
  await sql(`delete from keks where kek_id = '2031-05'`)
  expect((await send(`${whole.url}/ready`)).status).toBe(200)
})
