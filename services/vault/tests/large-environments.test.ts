import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { memoryOf, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { createProject, type Key, signedSend } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'
import { startVaultProcess, type VaultProcess } from './support/vault-process.ts'

const ENVIRONMENTS = 60
const VALUE = 'v'.repeat(3_900_000)
/** Enough for a few environments as rows, decrypted and as JSON. All of them are 225 MiB. */
const MAX_GROWTH = 320 * 1024 ** 2

let folder: string
let seeded: TestVault
let service: VaultProcess
let key: Key

beforeAll(async () => {
  folder = temporaryFolder('large-environments')
  seeded = await startVault()
  key = await createProject(seeded.url, 'wide')
  const [project] = await seeded.sql<{ uid: string; generation: string }>('select uid, generation from projects')
  const caller = {
    ...{ kind: 'project' as const, projectUid: project?.uid ?? '', project: 'wide', actor: 'key:00' },
    ...{ publicKey: Buffer.from(key.publicKeyHex, 'hex'), generation: Number(project?.generation) },
    ...{ coversContent: false, isWrite: true, address: '127.0.0.1' },
    scope: { access: 'read-write' as const, envs: null },
  }
  for (let i = 0; i < ENVIRONMENTS; i++)
    await seeded.context.useCases.projectSecrets.put(caller, { env: `env-${String(i)}`, key: 'K', value: VALUE })
  service = await startVaultProcess({ folder, databaseUrl: seeded.database.appUrl, redisUrl: seeded.redisUrl })
})
afterAll(async () => {
  await service.process.stop()
  await seeded.stop()
  removeTemporaryFolder(folder)
})

test('fetches all environments of a project at once in bounded memory', async () => {
  const other = await createProject(service.url, 'calm')
  const url = `${service.url}/v1/secrets`
  const before = memoryOf(service.process.pid)
  let most = 0
  const ended = new AbortController()
  const watch = (async () => {
    while (!ended.signal.aborted) {
      most = Math.max(most, memoryOf(service.process.pid) - before)
      await sleep(5)
    }
  })()
  const fetches = Array.from({ length: ENVIRONMENTS }, async (_, i) => {
    const answer = await signedSend({ project: 'wide', key, method: 'GET', url: `${url}?env=env-${String(i)}` })
    return [answer.status, (answer.body as { K?: string }).K?.length]
  })
  for (let i = 0; i < 5; i++)
    expect((await signedSend({ project: 'calm', key: other, method: 'GET', url })).status).toBe(200)
  expect(await Promise.all(fetches)).toEqual(Array.from({ length: ENVIRONMENTS }, () => [200, VALUE.length]))
  ended.abort()
  await watch
  expect(most).toBeLessThan(MAX_GROWTH)
})
