import { expect, test } from '@jest/globals'
import type { ProjectCaller } from '../access/project-caller.ts'
import { apiError } from '../errors.ts'
import { createFetches } from './fetches.ts'
import { type ResolveReferences, TooCostly } from './resolution.ts'
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
/** The header of a value with references. */
const template = Buffer.from([2, ...Array<number>(41).fill(0)])
const rows = (count = ROWS, stored = blob): StoredValues => ({
  levels: [
    {
      ...{ projectUid: 'uid', env: 'production', stored: { revision: 1, parent: null, code: blob } },
      current: Array.from({ length: count }, (_, i) => ({ key: `K${String(i)}`, version: 1, blob: stored })),
    },
  ],
})

/** Fetches without decryption, and the number of values and codes in each turn of the event loop. */
function counted(
  rowsOf: () => StoredValues = rows,
  resolve: ResolveReferences = () => Promise.reject(new Error('nothing refers to others')),
) {
  const turns: { values: number; codes: number }[] = []
  let now = { values: 0, codes: 0 }
  const { fetch } = createFetches({
    store: { readAll: (fetches) => Promise.resolve(fetches.map(() => rowsOf())) },
    values: {
      decrypt: () => {
        now.values += 1
        return 'v'
      },
    },
    resolve,
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

test('resolves references to large values in turn, however short the values that contain them are', async () => {
  let running = 0
  let most = 0
  const resolve: ResolveReferences = async (_root, _known, maxCost) => {
    if (maxCost !== undefined) throw new TooCostly()
    most = Math.max(most, (running += 1))
    await new Promise(setImmediate)
    running -= 1
    throw apiError('unresolved_reference')
  }
  const { fetch, end } = counted(() => rows(1, template), resolve)
  // In the second round, the costs of the values themselves are known.
  for (let round = 0; round < 2; round++) {
    const fetched = Array.from({ length: ENVIRONMENTS }, (_, i) => fetch(caller, `env-${String(i)}`))
    for (const each of await Promise.allSettled(fetched)) expect(each.status).toBe('rejected')
  }
  end()
  expect(most).toBeLessThan(4)
})
