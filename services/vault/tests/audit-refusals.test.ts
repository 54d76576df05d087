import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, type Key, newKey, send, signerAtClockOf } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault
let key: Key

beforeAll(async () => {
  vault = await startVault()
  key = await createProject(vault.url, 'shop')
})
afterAll(() => vault.stop())

const signed = signerAtClockOf(() => vault)

type Entry = { projectId: string; env: string | null; ip: string; actor: string; detail: Record<string, unknown> }

async function listed(query: string): Promise<Entry[]> {
  return (await admin(vault.url, 'GET', `/audit?${query}`)).body as Entry[]
}

test('what an administrator reads is an entry each, with the project that it is of', async () => {
  await signed('shop', key, 'PUT', { key: 'A', value: 'v', env: 'staging' })
  await admin(vault.url, 'GET', '/projects')
  await admin(vault.url, 'GET', '/projects/shop/keys')
  const { body } = await admin(vault.url, 'GET', '/projects/shop/secrets?env=staging')
  const [secret] = body as { id: string }[]
  await admin(vault.url, 'GET', `/secrets/${String(secret?.id)}/versions`)
  await admin(vault.url, 'GET', '/audit?projectId=shop')
  const reads = await listed('action=read')
  expect(reads.map(({ projectId, env, actor, detail }) => [detail['what'], projectId, env, actor])).toEqual([
    ['audit', 'shop', null, 'administrator'],
    ['versions', 'shop', 'staging', 'administrator'],
    ['secrets', 'shop', 'staging', 'administrator'],
    ['keys', 'shop', null, 'administrator'],
    ['projects', '', null, 'administrator'],
  ])
  expect(await listed('action=read&projectId=shop')).toHaveLength(4)
})

test('refused requests are gathered by address, and written at the stop at the latest', async () => {
  vault.context.background.start()
  for (let i = 0; i < 3; i++) await signed('shop', newKey())
  await signed('no-such-project', key)
  await send(`${vault.url}/v1/secrets`)
  await send(`${vault.url}/v1/admin/projects`, { headers: { Authorization: 'Bearer wrong' } })
  await vault.context.background.stop()
  expect(await listed('action=refused')).toMatchObject([
    {
      projectId: '',
      env: null,
      ip: '127.0.0.1',
      actor: 'unknown',
      detail: { invalid_signature: 3, unknown_project: 1, missing_signature: 1, unauthorized: 1 },
    },
  ])
  expect(await listed('limit=1000')).toEqual([])
})
