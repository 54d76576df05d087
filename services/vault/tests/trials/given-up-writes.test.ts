import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { admin, createProject, type Key, signedSend, signHeaders, statusAndError } from '../support/client.ts'
import { connectSql, type Sql } from '../support/sql.ts'
import { startVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let replica: TestVault
let holder: Sql

beforeAll(async () => {
  vault = await startVault({ DATABASE_POOL_SIZE: '4' })
  replica = await vault.replica()
})
afterAll(async () => {
  await replica.stop()
  await vault.stop()
})

/** Locks the data key of a project, which every write of a value waits for, until `work` has ended. */
async function whileHeld<T>(project: string, work: () => Promise<T>): Promise<T> {
  holder = await connectSql(vault.database.adminUrl)
  await holder('begin')
  await holder(
    `select 1 from project_deks d join projects p on p.uid = d.project_uid where p.name = $1 for update of d`,
    [project],
  )
  try {
    return await work()
  } finally {
    await holder('commit')
    await holder.end()
  }
}

const put = (at: TestVault, project: string, key: Key, value: string) =>
  signedSend({ project, key, method: 'PUT', url: `${at.url}/v1/secrets`, body: { key: 'K', value, env: 'production' } })

const read = async (project: string, key: Key) =>
  (await signedSend({ project, key, method: 'GET', url: `${vault.url}/v1/secrets` })).body

const waitingForLocks = () =>
  vault.sql(`select 1 from pg_locks where not granted and locktype in ('transactionid', 'tuple')`)

async function givenUp(project: string, key: Key, value: string, signal: AbortSignal): Promise<string> {
  const url = `${vault.url}/v1/secrets`
  const headers = { ...(await signHeaders({ project, key, method: 'PUT', url })), 'Content-Type': 'application/json' }
  const body = JSON.stringify({ key: 'K', value, env: 'production' })
  return fetch(url, { method: 'PUT', headers, body, signal }).then(
    ({ status }) => String(status),
    () => 'given up',
  )
}

test('does not carry out a write whose client has disconnected', async () => {
  const key = await createProject(vault.url, 'undone')
  await put(vault, 'undone', key, 'first')
  await whileHeld('undone', async () => {
    const giveUp = new AbortController()
    const old = ['begun', 'waiting', 'waiting too'].map((value) => givenUp('undone', key, value, giveUp.signal))
    await eventually(async () => (await waitingForLocks()).length > 0)
    await sleep(100)
    giveUp.abort()
    expect(await Promise.all(old)).toEqual(['given up', 'given up', 'given up'])
    // The vault notices the closed connections.
    await sleep(100)
  })
  expect((await put(replica, 'undone', key, 'new')).status).toBe(200)
  await sleep(500)
  expect(await read('undone', key)).toEqual({ K: 'new' })
  const [stored] = await vault.sql(
    `select version from secrets s join projects p on p.uid = s.project_uid where p.name = 'undone'`,
  )
  expect(stored).toEqual({ version: 2 })
})

test('gives up a write within ten seconds, and does not carry it out later', async () => {
  const key = await createProject(vault.url, 'late')
  await put(vault, 'late', key, 'first')
  await whileHeld('late', async () => {
    const url = `${vault.url}/v1/secrets`
    const headers = {
      ...(await signHeaders({ project: 'late', key, method: 'PUT', url })),
      'Content-Type': 'application/json',
    }
    const bodies = ['a', 'b', 'c'].map((value) => JSON.stringify({ key: 'K', value, env: 'production' }))
    const answers = await Promise.all(
      bodies.map(async (body) => {
        const signed = { ...headers, ...(await signHeaders({ project: 'late', key, method: 'PUT', url })) }
        return fetch(url, { method: 'PUT', headers: signed, body, signal: AbortSignal.timeout(10_000) })
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    for (const { headers: sent } of answers) expect(sent.get('retry-after')).toMatch(/^\d+$/)
  })
  await sleep(500)
  expect(await read('late', key)).toEqual({ K: 'first' })
}, 30_000)

test('refuses too many waiting writes of a project, but no others', async () => {
  const key = await createProject(vault.url, 'crowded')
  const other = await createProject(vault.url, 'calm')
  const many = await whileHeld('crowded', async () => {
    const all = Array.from({ length: 60 }, (_, i) => put(vault, 'crowded', key, String(i)))
    const first = await Promise.race(all)
    expect(statusAndError(first)).toEqual([503, 'unavailable'])
    expect(first.headers.get('retry-after')).toMatch(/^\d+$/)
    expect((await put(vault, 'calm', other, 'v')).status).toBe(200)
    return { all }
  })
  await Promise.all(many.all)
})

test('does not let the writes of an administrator delay others', async () => {
  const projects = ['one', 'two', 'three', 'four', 'five', 'six']
  const keys = new Map<string, Key>()
  const ids = new Map<string, string>()
  for (const project of [...projects, 'free']) {
    const key = await createProject(vault.url, project)
    keys.set(project, key)
    await put(vault, project, key, 'v')
    const { body } = await admin(vault.url, 'GET', `/projects/${project}/secrets`)
    ids.set(project, (body as { id: string }[])[0]?.id ?? '')
  }
  const added = await admin(vault.url, 'POST', '/administrators', { name: 'Other', role: 'administrator' })
  const { token } = added.body as { token: string }
  const blocker = await connectSql(vault.database.adminUrl)
  await blocker('begin')
  await blocker(`select 1 from projects where name = any($1) for update`, [projects])
  const busy = projects.flatMap((project) => [
    admin(vault.url, 'POST', `/secrets/${ids.get(project) ?? ''}/versions/1/restore`),
    admin(vault.url, 'DELETE', `/projects/${project}`),
    admin(vault.url, 'PUT', `/projects/${project}/rotate`),
    admin(vault.url, 'DELETE', `/secrets/${ids.get(project) ?? ''}`),
  ])
  const ended = Promise.allSettled(busy)
  await eventually(async () => (await waitingForLocks()).length > 0)
  await sleep(200)
  const used = await vault.sql<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where application_name = 'vault' and datname = current_database() and state <> 'idle' and wait_event_type = 'Lock'`,
  )
  const restored = fetch(`${vault.url}/v1/admin/secrets/${ids.get('free') ?? ''}/versions/1/restore`, {
    ...{ method: 'POST', headers: { Authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(3_000) },
  })
  const statuses = [await restored, await put(vault, 'free', keys.get('free') as Key, 'next')].map(
    ({ status }) => status,
  )
  await blocker('rollback')
  await blocker.end()
  await ended
  expect([used, statuses]).toEqual([[{ n: 1 }], [200, 200]])
}, 30_000)
