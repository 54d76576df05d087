import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { memoryOf, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { createProject, type Key, signedSend } from '../support/client.ts'
import { startVault, type TestVault } from '../support/vault.ts'
import { startVaultProcess, type VaultProcess } from '../support/vault-process.ts'

const ENVIRONMENTS = 60
/** A value may refer to this many other environments. */
const REFERRED = 16
/** With the others, fewer than a project may have. */
const REFERRING = 36
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
  const refer = (env: string, value: string) =>
    seeded.context.useCases.projectSecrets.put(caller, { env, key: 'K', value, references: true })
  for (let i = 0; i < REFERRED; i++) await refer(`env-${String(i)}`, 'v')
  const referring = Array.from({ length: REFERRED }, (_, i) => `\${wide.env-${String(i)}.K}`).join('')
  for (let i = 0; i < REFERRING; i++) await refer(`referring-${String(i)}`, referring)
  for (let i = 0; i < ENVIRONMENTS; i++)
    await seeded.context.useCases.projectSecrets.put(caller, { env: `env-${String(i)}`, key: 'K', value: VALUE })
  service = await startVaultProcess({ folder, databaseUrl: seeded.database.appUrl, redisUrl: seeded.redisUrl })
})
afterAll(async () => {
  await service.process.stop()
  await seeded.stop()
  removeTemporaryFolder(folder)
})

/** Runs work, and returns how much more memory the service took meanwhile. */
async function growthDuring(work: () => Promise<unknown>): Promise<number> {
  const before = memoryOf(service.process.pid)
  let most = 0
  const ended = new AbortController()
  const watch = (async () => {
    while (!ended.signal.aborted) {
      most = Math.max(most, memoryOf(service.process.pid) - before)
      await sleep(5)
    }
  })()
  await work()
  ended.abort()
  await watch
  return most
}

const fetched = (env: string) =>
  signedSend({ project: 'wide', key, method: 'GET', url: `${service.url}/v1/secrets?env=${env}` })

test('refuses references to values that are too large together, in bounded memory', async () => {
  const all = () => Promise.all(Array.from({ length: REFERRING }, (_, i) => fetched(`referring-${String(i)}`)))
  const growth = await growthDuring(async () => {
    for (let round = 0; round < 2; round++)
      expect((await all()).map(({ status }) => status)).toEqual(Array(REFERRING).fill(409))
  })
  expect(growth).toBeLessThan(MAX_GROWTH)
})

test('fetches all environments of a project at once in bounded memory', async () => {
  const other = await createProject(service.url, 'calm')
  const growth = await growthDuring(async () => {
    const fetches = Array.from({ length: ENVIRONMENTS }, async (_, i) => {
      const { status, body } = await fetched(`env-${String(i)}`)
      return [status, (body as { K?: string }).K?.length]
    })
    const url = `${service.url}/v1/secrets`
    for (let i = 0; i < 5; i++)
      expect((await signedSend({ project: 'calm', key: other, method: 'GET', url })).status).toBe(200)
    expect(await Promise.all(fetches)).toEqual(Array.from({ length: ENVIRONMENTS }, () => [200, VALUE.length]))
  })
  expect(growth).toBeLessThan(MAX_GROWTH)
})
