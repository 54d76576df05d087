import { expect, test } from '@jest/globals'
import { createChangeHistory, stateOf } from './history.ts'

/** The state of a revision with these keys and versions. */
const state = (revision: number, keys: Readonly<Record<string, number>>, code = String(revision)) =>
  stateOf([
    {
      ...{ projectUid: 'uid', env: 'production', stored: { revision, parent: null, code: Buffer.from(code) } },
      current: Object.entries(keys).map(([key, version]) => ({ key, version })),
    },
  ])

test('knows which keys changed, were added or removed since a version', () => {
  const history = createChangeHistory()
  const [first, second, third] = [state(1, { A: 1, B: 1 }), state(2, { A: 2, B: 1, C: 1 }), state(3, { A: 2, C: 2 })]
  history.note('place', first)
  expect(history.changedSince('place', undefined, first)).toEqual(['A', 'B'])
  history.note('place', second)
  expect(history.changedSince('place', first.version, second)).toEqual(['A', 'C'])
  history.note('place', third)
  expect(history.changedSince('place', second.version, third)).toEqual(['C', 'B'])
  expect(history.changedSince('place', first.version, third)).toEqual(['A', 'C', 'B'])
})

test('all keys may have changed since an unknown version', () => {
  const history = createChangeHistory()
  const second = state(2, { A: 2, B: 1 })
  history.note('place', second)
  expect(history.changedSince('place', state(1, {}).version, second)).toEqual(['A', 'B'])
  expect(history.changedSince('elsewhere', second.version, second)).toEqual(['A', 'B'])
})

test('a read that was overtaken by a newer one hides no change', () => {
  const history = createChangeHistory()
  const [first, second, third] = [state(1, { A: 1 }), state(2, { A: 2 }), state(3, { A: 2, B: 1 })]
  for (const each of [first, third, second, third]) history.note('place', each)
  expect(history.changedSince('place', first.version, third)).toEqual(expect.arrayContaining(['A', 'B']))
  expect(history.changedSince('place', second.version, third)).toEqual(['B'])
})

test('forgets old steps and the least recently used environments', () => {
  const history = createChangeHistory(100)
  const states = Array.from({ length: 40 }, (_, n) => state(n + 1, { A: n + 1, B: 1 }))
  for (const each of states) history.note('place', each)
  const [oldest, newest] = [states[0], states[39]]
  if (oldest === undefined || newest === undefined) throw new Error('no state')
  expect(history.changedSince('place', states[38]?.version, newest)).toEqual(['A'])
  expect(history.changedSince('place', oldest.version, newest)).toEqual(['A', 'B'])
  for (let n = 0; n < 50; n++) history.note(`other ${String(n)}`, oldest)
  expect(history.find('place')).toBeUndefined()
  expect(history.find('other 49')).toBe(oldest)
})

test('equal revisions of different environments are different versions', () => {
  const one = state(1, {}, 'a')
  const other = state(1, {}, 'b')
  expect(one.version).not.toBe(other.version)
  expect(stateOf([{ projectUid: 'uid', env: 'production', stored: undefined, current: [] }]).version).not.toBe(
    one.version,
  )
})
