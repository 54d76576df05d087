import { expect, test } from '@jest/globals'
import type { ProjectCaller } from '../access/project-caller.ts'
import { createChanges, type StateStore } from './changes.ts'

const caller: ProjectCaller = {
  ...{
    kind: 'project',
    isWrite: false,
    projectUid: 'uid',
    project: 'shop',
    publicKey: Buffer.alloc(32),
    generation: 1,
  },
  ...{ scope: { access: 'read', envs: null }, coversContent: false, actor: 'key:00', address: '127.0.0.1' },
}

function changesOf(readReferences: StateStore['readReferences']) {
  return createChanges({
    store: {
      readStates: (questions) =>
        Promise.resolve(
          questions.map(({ env }) => {
            const stored = { revision: 1, parent: null, code: Buffer.from(env) }
            return {
              levels: [{ projectUid: 'uid', env, current: [], stored }],
              isKnown: false,
              refers: env === 'refers',
            }
          }),
        ),
      readReferences,
    },
    rows: { assertInheritance: () => undefined },
    projectSecrets: {
      fetch: () => Promise.reject(new Error('no values')),
      whileCurrent: async (current, _needed, action) => {
        const outcome = await action(current)
        if (outcome === 'stale') throw new Error('stale')
        return outcome
      },
    },
    signedRequests: { countPendingFetches: () => 0 },
    announcements: { subscribe: () => undefined },
    clock: { now: () => 0 },
  })
}

test('an environment without references does not wait until those of others have been read', async () => {
  let release = (): void => undefined
  const reading = new Promise<void>((resolve) => (release = resolve))
  const changes = changesOf(async (places) => {
    await reading
    return places.map((place) => ({ places: [{ ...place, code: null }], keys: [] }))
  })
  const ask = (env: string) => changes.since(caller, { env, since: undefined, values: false, waitMs: 0 })
  const answered: string[] = []
  const refers = Promise.all(Array.from({ length: 4 }, () => ask('refers'))).then(() => answered.push('refers'))
  await ask('plain').then(() => answered.push('plain'))
  release()
  await refers
  expect(answered).toEqual(['plain', 'refers'])
})
