import { expect, test } from '@jest/globals'
import { apiError } from '../errors.ts'
import type { VerifiedCaller } from '../signed-requests/signed-requests.ts'
import { createProjectSecrets } from './project-secrets.ts'

const caller: VerifiedCaller = {
  kind: 'project',
  projectUid: 'cached',
  project: 'shop',
  publicKey: Buffer.alloc(32),
  generation: 1,
  scope: { access: 'read-write', envs: null },
  coversContent: false,
  isWrite: false,
  actor: 'key:00',
  address: '127.0.0.1',
}

/** Secrets of a project that is stored under a uid; `confirm` makes the caller one of the project with another. */
function secretsOf(storedUid: string, confirm: () => Promise<VerifiedCaller>) {
  const asked: string[] = []
  const answer =
    <T>(result: T) =>
    ({ projectUid }: { projectUid: string }) => {
      asked.push(projectUid)
      return Promise.resolve(projectUid === storedUid ? result : ('stale' as const))
    }
  const secrets = createProjectSecrets({
    secrets: { put: answer('stored' as const), remove: answer('absent' as const) },
    fetch: answer({ json: '{}' }),
    confirm,
  })
  return { secrets, asked }
}

const confirmed = () => Promise.resolve({ ...caller, projectUid: 'stored' })

test('a current caller is not confirmed', async () => {
  const { secrets, asked } = secretsOf('cached', () => Promise.reject(new Error('not asked')))
  expect(await secrets.fetch(caller, 'production')).toEqual({ json: '{}' })
  expect(asked).toEqual(['cached'])
})

test('a stale caller is confirmed, and acts as the one that was confirmed', async () => {
  const { secrets, asked } = secretsOf('stored', confirmed)
  expect(await secrets.fetch(caller, 'production')).toEqual({ json: '{}' })
  await secrets.put(caller, { env: 'production', key: 'A', value: '1' })
  await expect(secrets.remove(caller, { id: 'id' })).rejects.toMatchObject({ code: 'not_found' })
  expect(asked).toEqual(['cached', 'stored', 'cached', 'stored', 'cached', 'stored'])
})

test('the reason why a stale caller is refused is passed on', async () => {
  const { secrets } = secretsOf('stored', () => Promise.reject(apiError('unknown_project')))
  await expect(secrets.fetch(caller, 'production')).rejects.toMatchObject({ code: 'unknown_project' })
})

test('a caller who is stale although nothing has changed since they were confirmed is refused', async () => {
  const { secrets, asked } = secretsOf('a third project', confirmed)
  await expect(secrets.fetch(caller, 'production')).rejects.toMatchObject({ code: 'invalid_signature' })
  expect(asked).toEqual(['cached', 'stored'])
})

test('a caller is confirmed again while the project changes under them, and told to come again where it goes on', async () => {
  let changes = 0
  const changing = () => Promise.resolve({ ...caller, projectUid: `change ${String(++changes)}` })
  const settled = secretsOf('change 3', changing)
  expect(await settled.secrets.fetch(caller, 'production')).toEqual({ json: '{}' })
  expect(settled.asked).toEqual(['cached', 'change 1', 'change 2', 'change 3'])
  changes = 0
  const endless = secretsOf('never', changing)
  await expect(endless.secrets.fetch(caller, 'production')).rejects.toMatchObject({ code: 'unavailable' })
  expect(endless.asked).toHaveLength(6)
})

test('a caller whose key has got a narrower scope meanwhile is refused after they are confirmed', async () => {
  const narrower = { ...caller, projectUid: 'new', scope: { access: 'read', envs: null } } as const
  const { secrets, asked } = secretsOf('new', () => Promise.resolve(narrower))
  const put = secrets.put(caller, { env: 'production', key: 'A', value: 'v' })
  await expect(put).rejects.toMatchObject({ code: 'forbidden' })
  expect(asked).toEqual(['cached'])
})
