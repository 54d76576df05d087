import { ok as expect } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { generateKeyPair, importPrivateKey, signRequest } from '@vault-and-tracker/http-signatures'
import { createVaultClient, type VaultError } from '@vault-and-tracker/vault-client'
import { bytesOf, send } from '../world/http.ts'
import type { Check } from './check.ts'

/** A project stores a secret and reads it back; a replay is refused; both are in the audit log. */
export async function checkVault({ url, runId, exec, ok, later }: Check): Promise<void> {
  const token = process.env['ADMIN_TOKEN']
  expect(token !== undefined, 'ADMIN_TOKEN is neither in the environment nor in .env')
  const headers = { authorization: `Bearer ${token}` }
  const admin = async (method: string, path: string, body?: object): Promise<Buffer> =>
    await bytesOf(await send(method, `${url}${path}`, { headers, body }))

  const { privateJwk: privateKey, publicKeyHex } = generateKeyPair()
  await admin('POST', '/v1/admin/projects', { name: runId, publicKey: publicKeyHex })
  let isRegistered = true
  const removeProject = async (): Promise<void> => {
    if (isRegistered) await admin('DELETE', `/v1/admin/projects/${runId}`)
    isRegistered = false
  }
  later(`the project ${runId}`, removeProject)
  ok('a project is registered')

  const client = createVaultClient({ url, project: runId, privateKey })
  const value = randomBytes(24).toString('base64')
  await client.put('SMOKE', value, 'production')
  expect((await client.getAll())['SMOKE'] === value, 'the secret that was read is not the one that was written')
  ok('a secret is written and read back with signed requests')

  const dump = exec('postgres', ['pg_dump', '--username=postgres', '--data-only', 'vault'])
  const clear = [value, Buffer.from(value).toString('hex'), Buffer.from(value).toString('base64')]
  expect(dump.includes(runId), 'the dump of the database does not contain the project')
  expect(!clear.some((text) => dump.includes(text)), 'the database contains the value in clear text')
  ok('the database does not contain the value in clear text')

  const request = { method: 'GET', url: new URL('/v1/secrets', url).href }
  const nonce = randomBytes(16).toString('hex')
  const created = Math.floor(Date.now() / 1000)
  const signed = { ...signRequest({ ...request, project: runId, key: importPrivateKey(privateKey), created, nonce }) }
  const first = await send('GET', request.url, { headers: signed })
  const replay = await send('GET', request.url, { headers: signed })
  const { error } = (await replay.json()) as { error?: string }
  expect(first.status === 200, `a signed request was answered ${first.status}`)
  expect(replay.status === 401 && error === 'replayed_nonce', `a replay was answered ${replay.status}`)
  ok('a replayed request is refused')

  const entries = JSON.parse((await admin('GET', `/v1/admin/audit?projectId=${runId}`)).toString()) as {
    action: string
  }[]
  expect(entries.filter(({ action }) => action === 'fetch').length === 2, 'the two fetches are not in the audit log')
  ok('the audit log contains both fetches and no other')

  await removeProject()
  const code = await client.getAll().then(
    () => 'success',
    (error: unknown) => (error as VaultError).code,
  )
  expect(code === 'unknown_project', `a request of the deleted project ended with ${code}`)
  ok('the project is deleted')
}
