import { expect, test } from '@jest/globals'
import type { ProjectCaller } from '../access/project-caller.ts'
import { createFetches } from './fetches.ts'
import type { StoredValues } from './values.ts'

const ROWS = 2_000
const ENVIRONMENTS = 64

const caller: ProjectCaller = {
  ...{
    kind: 'project',
    isWrite: false,
    projectUid: 'uid',
    project: 'shop',
    publicKey: Buffer.alloc(32),
    generation: 1,
    coversContent: false,
  },
  ...{ scope: { access: 'read-write', envs: null }, actor: 'key:00', address: '127.0.0.1' },
}

const blob = Buffer.alloc(42)
const rows = (): StoredValues => ({
  levels: [
    {
      ...{ projectUid: 'uid', env: 'production', stored: { revision: 1, parent: null, code: blob } },
      current: Array.from({ length: ROWS }, (_, i) => ({ key: `K${String(i)}`, version: 1, blob })),
    },
  ],
})

/** Fetches without decryption, and the number of values and codes in each turn of the event loop. */
function counted() {
  const turns: { values: number; codes: number }[] = []
  let now = { values: 0, codes: 0 }
  const { fetch } = createFetches({
    store: { readAll: (fetches) => Promise.resolve(fetches.map(rows)) },
    values: {
      decrypt: () => {
        now.values += 1
        return 'v'
      },
    },
    resolve: () => Promise.reject(new Error('nothing refers to others')),
    audit: { append: () => Promise.resolve() },
    rows: { assertInheritance: () => void (now.codes += 1) },
    clock: { now: () => Date.now() },
    signedRequests: { countPendingFetches: () => 0 },
    limits: { environmentBytes: 4 * 1024 ** 2, secrets: ROWS },
  })
  let isOver = false
  const turn = (): void => {
    if (now.values + now.codes > 0) turns.push(now)
    now = { values: 0, codes: 0 }
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const end = (): void => {
    isOver = true
    turns.push(now)
  }
  return { fetch, turns, end }
}

test('decrypts only a few secrets of many large environments in each turn of the event loop', async () => {
  const { fetch, turns, end } = counted()
  // In the second round, the costs are known.
  for (let round = 0; round < 2; round++) {
    const found = await Promise.all(Array.from({ length: ENVIRONMENTS }, (_, i) => fetch(caller, `env-${String(i)}`)))
    for (const each of found)
      expect(each === 'stale' ? 0 : Object.keys(JSON.parse(String(each.json)) as object)).toHaveLength(ROWS)
  }
  end()
  expect(turns.reduce((sum, { values }) => sum + values, 0)).toBe(2 * ENVIRONMENTS * ROWS)
  expect(Math.max(...turns.map(({ values }) => values))).toBeLessThan(300)
  expect(Math.max(...turns.map(({ codes }) => codes))).toBeLessThan(4)
})
