import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, type Key, keyOf, signedSend, signHeaders } from './support/client.ts'
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

type Place = { readonly project: string; readonly key: Key; readonly env: string }

async function put({ project, key, env }: Place, name: string, value: string): Promise<void> {
  const body = { key: name, value, env }
  const { status } = await signedSend({ project, key, method: 'PUT', url: `${vault.url}/v1/secrets`, body })
  expect(status).toBe(200)
}

async function get({ project, key, env }: Place, from = vault): Promise<[number, unknown]> {
  const { status, body } = await signedSend({ project, key, method: 'GET', url: `${from.url}/v1/secrets?env=${env}` })
  return [status, body]
}

/** Sends all requests at once, each as often as requested, alternating. */
function together<T>(times: number, ...asks: (() => Promise<T>)[]): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, () => asks.map((ask) => ask())).flat())
}

test('answers simultaneous fetches with their own values and audit entries', async () => {
  const places: Place[] = []
  for (const project of ['apple', 'banana']) {
    const key = await createProject(vault.url, project)
    for (const env of ['production', 'staging']) places.push({ project, key, env })
  }
  for (const place of places) await put(place, 'WHOSE', `${place.project} ${place.env}`)
  const empty = { project: 'apple', key: places[0]?.key as Key, env: 'nothing-here' }

  const answers = await together(20, ...[...places, empty].map((place) => () => get(place)))
  const expected = [...places.map(({ project, env }) => [200, { WHOSE: `${project} ${env}` }]), [200, {}]]
  expect(answers).toEqual(Array.from({ length: 20 }, () => expected).flat())

  const entries = await vault.sql<{ project_id: string; env: string; count: number }>(
    `select project_id, env, count(*)::integer as count from audit where action = 'fetch' group by 1, 2 order by 1, 2`,
  )
  expect(entries).toEqual([
    { project_id: 'apple', env: 'nothing-here', count: 20 },
    { project_id: 'apple', env: 'production', count: 20 },
    { project_id: 'apple', env: 'staging', count: 20 },
    { project_id: 'banana', env: 'production', count: 20 },
    { project_id: 'banana', env: 'staging', count: 20 },
  ])
})

test('fails only the fetches of the environment with a value that does not decrypt', async () => {
  const key = await createProject(vault.url, 'mixed')
  const [sound, damaged] = [
    { project: 'mixed', key, env: 'sound' },
    { project: 'mixed', key, env: 'damaged' },
  ]
  await put(sound, 'A', 'one')
  await put(damaged, 'A', 'two')
  await put(damaged, 'B', 'three')
  await vault.sql(`update secret_versions set blob = set_byte(blob, 20, get_byte(blob, 20) # 1)
    where secret_id = (select id from secrets where env = 'damaged' and key = 'B')`)
  const answers = await together(
    20,
    () => get(sound),
    () => get(damaged),
  )
  expect(answers.filter(([status]) => status === 200)).toEqual(Array.from({ length: 20 }, () => [200, { A: 'one' }]))
  const failed = [500, expect.objectContaining({ error: 'decryption_failed' })]
  expect(answers.filter(([status]) => status !== 200)).toEqual(Array.from({ length: 20 }, () => failed))
})

test('refuses a key that another replica ended while its successor fetches', async () => {
  const old = await createProject(vault.url, 'rotating')
  const place = { project: 'rotating', key: old, env: 'production' }
  await put(place, 'A', 'one')
  expect(await get(place, replica)).toEqual([200, { A: 'one' }])
  const rotated = await admin(vault.url, 'PUT', '/projects/rotating/rotate', { overlap: 0 })
  const { privateKey } = rotated.body as { privateKey: string }
  const successor = { ...place, key: keyOf(privateKey) }
  const answers = await together(
    10,
    () => get(place, replica),
    () => get(successor, replica),
  )
  const refused = [401, expect.objectContaining({ error: 'invalid_signature' })]
  expect(answers).toEqual(Array.from({ length: 10 }, () => [refused, [200, { A: 'one' }]]).flat())
})

test('fetches an environment of megabytes repeatedly alongside small ones', async () => {
  const key = await createProject(vault.url, 'heavy')
  const [heavy, light] = [
    { project: 'heavy', key, env: 'heavy' },
    { project: 'heavy', key, env: 'light' },
  ]
  const values = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`K${String(i)}`, randomBytes(24_576).toString('base64')]),
  )
  await Promise.all(Object.entries(values).map(([name, value]) => put(heavy, name, value)))
  await put(light, 'A', 'one')
  for (let round = 0; round < 3; round++) {
    const answers = await together(
      4,
      () => get(heavy),
      () => get(light),
    )
    expect(answers).toEqual(
      Array.from({ length: 4 }, () => [
        [200, values],
        [200, { A: 'one' }],
      ]).flat(),
    )
  }
})

test('does not wait for fetches that have ended', async () => {
  const pending = async () => {
    const text = await (await fetch(`${vault.url}/metrics`)).text()
    return Number(/^vault_pending_fetches (\d+)$/m.exec(text)?.[1])
  }
  const key = await createProject(vault.url, 'waits-for-nobody')
  const place = { project: 'waits-for-nobody', key, env: 'production' }
  expect(await get(place)).toEqual([200, {}])
  expect((await get({ ...place, project: 'no-such-project' }))[0]).toBe(401)
  expect((await fetch(`${vault.url}/v1/secrets`)).status).toBe(401)
  const giveUp = new AbortController()
  const url = `${vault.url}/v1/secrets`
  const headers = await signHeaders({ ...place, method: 'GET', url })
  const given = fetch(url, { headers, signal: giveUp.signal }).then(String, () => 'given up')
  giveUp.abort()
  expect(await given).toBe('given up')
  while ((await pending()) > 0) await new Promise((resolve) => setImmediate(resolve))
  expect(await get(place)).toEqual([200, {}])
  expect(await pending()).toBe(0)
})
