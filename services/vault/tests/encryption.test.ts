import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Answer, admin, createProject, type Key, signedSend } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault
let key: Key

beforeAll(async () => {
  vault = await startVault()
  key = await createProject(vault.url, 'shop')
})
afterAll(() => vault.stop())

function put(name: string, value: string): Promise<Answer> {
  const url = `${vault.url}/v1/secrets`
  return signedSend({ project: 'shop', key, method: 'PUT', url, body: { key: name, value, env: 'production' } })
}

function fetchAll(): Promise<Answer> {
  return signedSend({ project: 'shop', key, method: 'GET', url: `${vault.url}/v1/secrets` })
}

const failed = ({ status, body }: Answer) => [status, (body as { error: string }).error]

test('stores equal values with different ciphertexts', async () => {
  for (const name of ['A', 'B', 'A']) await put(name, 'the very same')
  const rows = await vault.sql<{ blob: Buffer }>('select blob from secret_versions')
  expect(rows.map(({ blob }) => blob.length)).toEqual(rows.map(() => 6 + 12 + 'the very same'.length + 16))
  expect(new Set(rows.map(({ blob }) => blob.subarray(6, 18).toString('hex'))).size).toBe(3)
  expect(new Set(rows.map(({ blob }) => blob.subarray(18, 31).toString('hex'))).size).toBe(3)
})

test('does not restore a damaged version', async () => {
  await put('R', 'old')
  await put('R', 'new')
  const listed = (await admin(vault.url, 'GET', '/projects/shop/secrets')).body as { id: string; key: string }[]
  const id = String(listed.find((secret) => secret.key === 'R')?.id)
  await vault.sql(
    "update secret_versions set blob = overlay(blob placing '\\x00ff' from 20) where secret_id = $1 and version = 1",
    [id],
  )
  expect(failed(await admin(vault.url, 'POST', `/secrets/${id}/versions/1/restore`))).toEqual([
    500,
    'decryption_failed',
  ])
  expect((await fetchAll()).body).toMatchObject({ R: 'new' })
  expect((await admin(vault.url, 'GET', `/secrets/${id}/versions`)).body).toHaveLength(2)
})

test('fails a fetch without its data key as a decryption failure', async () => {
  const rows = await vault.sql<{ wrapped: Buffer; kek_id: string }>(
    'delete from project_deks returning wrapped, kek_id',
  )
  vault.advance(301_000)
  const created = Math.floor(Date.now() / 1000)
  const answer = await signedSend({ project: 'shop', key, method: 'GET', url: `${vault.url}/v1/secrets`, created })
  expect([rows.length, ...failed(answer)]).toEqual([1, 500, 'decryption_failed'])
})
