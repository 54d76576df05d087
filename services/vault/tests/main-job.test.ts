import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, send, signedSend, signHeadersOtherwise } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault

beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

test('stores and fetches a secret, signed with http-message-signatures', async () => {
  const key = await createProject(vault.url, 'shop')
  const url = `${vault.url}/v1/secrets`
  const secret = { key: 'DATABASE_URL', value: 'postgres://shop:hunter2@db/shop', env: 'production' }

  const put = await signedSend({ project: 'shop', key, method: 'PUT', url, body: secret })
  expect([put.status, put.body]).toEqual([200, { ok: true }])

  const fetched = await signedSend({ project: 'shop', key, method: 'GET', url })
  expect([fetched.status, fetched.body]).toEqual([200, { DATABASE_URL: secret.value }])
  expect(fetched.headers.get('cache-control')).toBe('no-store')

  const stored = await vault.sql('select blob from secret_versions')
  expect(stored.map(({ blob }) => Buffer.from(blob as Buffer).includes('hunter2'))).toEqual([false])

  const audit = await admin(vault.url, 'GET', '/audit?projectId=shop')
  expect(audit.body).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      projectId: 'shop',
      action: 'fetch',
      env: 'production',
      requestedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      ip: '127.0.0.1',
    },
  ])
})

test('fetches a secret, signed with http-message-sig', async () => {
  const key = await createProject(vault.url, 'blog')
  const url = `${vault.url}/v1/secrets?env=staging`
  const body = { key: 'TOKEN', value: '', env: 'staging' }
  await signedSend({ project: 'blog', key, method: 'PUT', url: `${vault.url}/v1/secrets`, body })
  const headers = await signHeadersOtherwise({ project: 'blog', key, method: 'GET', url })
  const fetched = await send(url, { headers })
  expect([fetched.status, fetched.body]).toEqual([200, { TOKEN: '' }])
})
