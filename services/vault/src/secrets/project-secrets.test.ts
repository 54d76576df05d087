import { expect, test } from '@jest/globals'
import type { ProjectCaller } from '../access/project-caller.ts'
import { apiError } from '../errors.ts'
import { createProjectSecrets } from './project-secrets.ts'

const caller: ProjectCaller = {
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

const NOTHING = { json: '{}', read: { levels: [] } }

/** The secrets of the project with a uid, and the uids of the callers that requested them. */
function secretsOf(storedUid: string, confirm: () => Promise<ProjectCaller>) {
  const callers: string[] = []
  const answer =
    <T>(result: T) =>
    ({ projectUid }: { projectUid: string }) => {
      callers.push(projectUid)
      return Promise.resolve(projectUid === storedUid ? result : ('stale' as const))
    }
  const secrets = createProjectSecrets({
    secrets: { put: answer('stored' as const), remove: answer('absent' as const) },
    fetches: { fetch: answer(NOTHING) },
    signedRequests: { confirm },
  })
  return { secrets, callers }
}

const confirmed = () => Promise.resolve({ ...caller, projectUid: 'stored' })

test('does not confirm a current caller', async () => {
  const { secrets, callers } = secretsOf('cached', () => Promise.reject(new Error('not called')))
  expect(await secrets.fetch(caller, 'production')).toBe(NOTHING)
  expect(callers).toEqual(['cached'])
})

test('confirms a stale caller, and acts for the confirmed one', async () => {
  const { secrets, callers } = secretsOf('stored', confirmed)
  expect(await secrets.fetch(caller, 'production')).toBe(NOTHING)
  await secrets.put(caller, { env: 'production', key: 'A', value: '1' })
  await expect(secrets.remove(caller, { id: 'id' })).rejects.toMatchObject({ code: 'not_found' })
  expect(callers).toEqual(['cached', 'stored', 'cached', 'stored', 'cached', 'stored'])
})

test('passes on why a stale caller is refused', async () => {
  const { secrets } = secretsOf('stored', () => Promise.reject(apiError('unknown_project')))
  await expect(secrets.fetch(caller, 'production')).rejects.toMatchObject({ code: 'unknown_project' })
})

test('refuses a caller who is still stale without any change', async () => {
  const { secrets, callers } = secretsOf('a third project', confirmed)
  await expect(secrets.fetch(caller, 'production')).rejects.toMatchObject({ code: 'invalid_signature' })
  expect(callers).toEqual(['cached', 'stored'])
})

test('confirms again while the project changes, up to a limit', async () => {
  let changes = 0
  const changing = () => Promise.resolve({ ...caller, projectUid: `change ${String(++changes)}` })
  const settled = secretsOf('change 3', changing)
  expect(await settled.secrets.fetch(caller, 'production')).toBe(NOTHING)
  expect(settled.callers).toEqual(['cached', 'change 1', 'change 2', 'change 3'])
  changes = 0
  const endless = secretsOf('never', changing)
  await expect(endless.secrets.fetch(caller, 'production')).rejects.toMatchObject({ code: 'unavailable' })
  expect(endless.callers).toHaveLength(6)
})

test('checks the scope of the confirmed caller', async () => {
  const narrower = { ...caller, projectUid: 'new', scope: { access: 'read', envs: null } } as const
  const { secrets, callers } = secretsOf('new', () => Promise.resolve(narrower))
  const put = secrets.put(caller, { env: 'production', key: 'A', value: 'v' })
  await expect(put).rejects.toMatchObject({ code: 'forbidden' })
  expect(callers).toEqual(['cached'])
})
