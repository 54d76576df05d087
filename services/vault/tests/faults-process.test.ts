import { Agent, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  removeTemporaryFolder,
  type TestDatabase,
  temporaryFolder,
  testRedis,
} from '@vault-and-tracker/dev-env'
import { admin, createProject, type Key, send, signedSend, signHeaders } from './support/client.ts'
import { startReceiver } from './support/receiver.ts'
import { connectSql, type Sql } from './support/sql.ts'
import { createVaultDatabase, startVault } from './support/vault.ts'
import { startVaultProcess, type VaultProcess, type VaultProcessOptions } from './support/vault-process.ts'

const ALLOW_PRIVATE = { WEBHOOK_ALLOW_PRIVATE: 'true' }

let options: VaultProcessOptions
let database: TestDatabase
let sql: Sql
let service: VaultProcess

beforeAll(async () => {
  database = await createVaultDatabase()
  sql = await connectSql(database.adminUrl)
  const { url: redisUrl } = await testRedis()
  options = {
    ...{ folder: temporaryFolder('faults-process'), databaseUrl: database.appUrl, redisUrl, env: ALLOW_PRIVATE },
  }
  service = await startVaultProcess(options)
})
afterAll(async () => {
  await service.process.stop()
  await sql.end()
  await database.drop()
  removeTemporaryFolder(options.folder)
})

function put(url: string, project: string, key: Key, name: string) {
  const body = { key: name, value: name, env: 'production' }
  return signedSend({ project, key, method: 'PUT', url: `${url}/v1/secrets`, body })
}

test('after kill -9 between nonce and answer a GET and a PUT are refused as replayed, and nothing is half-written', async () => {
  const key = await createProject(service.url, 'killed')
  await put(service.url, 'killed', key, 'BEFORE')

  // The nonces of the requests are spent before they wait for this lock.
  await sql('begin')
  await sql('lock table audit in exclusive mode')
  const url = `${service.url}/v1/secrets`
  const inits = await Promise.all(
    ['GET', 'PUT'].map(async (method) => {
      const headers = await signHeaders({ project: 'killed', key, method, url })
      const body = method === 'PUT' ? JSON.stringify({ key: 'HALF', value: 'half', env: 'production' }) : null
      return { method, body, headers: { ...headers, 'content-type': 'application/json' } }
    }),
  )
  const answers = Promise.all(inits.map((init) => send(url, init).catch(() => 'no answer')))
  try {
    await eventually(async () => {
      const waiting = `select 1 from pg_locks where not granted and relation = 'audit'::regclass`
      return (await sql(waiting)).length >= inits.length
    })
  } finally {
    await service.process.kill()
    await sql('rollback')
    service = await startVaultProcess({ ...options, port: service.port })
  }
  expect(await answers).toEqual(['no answer', 'no answer'])
  for (const init of inits) {
    const again = await send(url, init)
    expect([again.status, again.body]).toEqual([401, { error: 'replayed_nonce' }])
  }
  const fetched = await signedSend({ project: 'killed', key, method: 'GET', url })
  expect([fetched.status, fetched.body]).toEqual([200, { BEFORE: 'BEFORE' }])
  const left = await sql(
    `select s.key, s.version, count(v.version)::int as versions
     from secrets s join projects p on p.uid = s.project_uid left join secret_versions v on v.secret_id = s.id
     where p.name = 'killed' group by s.id`,
  )
  expect(left).toEqual([{ key: 'BEFORE', version: 1, versions: 1 }])
  const puts = await sql(`select detail->>'key' as key from audit where project_id = 'killed' and action = 'put'`)
  expect(puts).toEqual([{ key: 'BEFORE' }])
})

test('another replica repeats the webhooks of a process that was killed, with the same ids', async () => {
  const survivor = await startVault(ALLOW_PRIVATE, { database, redisUrl: options.redisUrl })
  const receiver = await startReceiver(survivor)
  const key = await createProject(survivor.url, 'shop')
  const deliver = async () => {
    const { webhookDeliveries } = survivor.context.useCases
    while ((await webhookDeliveries.startDue()) > 0) await webhookDeliveries.settled()
  }
  expect((await admin(survivor.url, 'POST', '/projects/shop/webhooks', { url: receiver.url })).status).toBe(201)
  receiver.answer = () => 'hang'
  await put(survivor.url, 'shop', key, 'A')
  // Only the other process delivers in the background.
  await eventually(() => Promise.resolve(receiver.events.length === 1))
  await service.process.kill()
  await put(survivor.url, 'shop', key, 'B')
  receiver.answer = () => 204
  await deliver()
  expect(receiver.events.map(({ secrets }) => secrets?.[0]?.key)).toEqual(['A', 'B'])
  // Until the lease of the dead process ends.
  await survivor.age(31_000)
  await deliver()
  expect(receiver.events.map(({ secrets }) => secrets?.[0]?.key)).toEqual(['A', 'B', 'A'])
  expect(receiver.events[2]?.id).toBe(receiver.events[0]?.id)
  expect(receiver.refused).toEqual([])
  await survivor.age(31_000)
  await deliver()
  expect(receiver.events).toHaveLength(3)
  await receiver.close()
  await survivor.stop()
  service = await startVaultProcess(options)
})

test('loses no accepted request after SIGTERM, and exits with 0', async () => {
  const key = await createProject(service.url, 'drained')
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const answered: string[] = []
  const others: string[] = []
  const writer = async (writerNumber: number): Promise<void> => {
    for (let i = 0; ; i++) {
      const name = `KEY_${String(writerNumber)}_${String(i)}`
      const outcome = await putOver(agent, key, name)
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
async function putOver(agent: Agent, key: Key, name: string): Promise<number | string> {
  const url = `${service.url}/v1/secrets`
  const headers = await signHeaders({ project: 'drained', key, method: 'PUT', url })
  const body = JSON.stringify({ key: name, value: name, env: 'production' })
  return new Promise((resolve) => {
    const outgoing = httpRequest(
      url,
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
