import { expect, test } from '@jest/globals'
import { createPreparation } from './preparation.ts'

/** Work that runs until it is told to end, and its name in the order of the starts. */
function work() {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    end: async (name: string) => {
      ends.get(name)?.()
      await settled()
    },
    named: (name: string) => () => {
      started.push(name)
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('as much runs at a time as fits, and the rest follows when bytes are given back', async () => {
  const prepare = createPreparation(10)
  const { started, end, named } = work()
  const all = ['a', 'b', 'c'].map((name) => prepare('owner', 5, named(name)))
  await settled()
  expect(started).toEqual(['a', 'b'])
  await end('a')
  expect(started).toEqual(['a', 'b', 'c'])
  await end('b')
  await end('c')
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c'])
})

test('owners have their turns one after another', async () => {
  const prepare = createPreparation(1)
  const { started, end, named } = work()
  for (const name of ['a1', 'a2', 'a3']) void prepare('a', 1, named(name))
  void prepare('b', 1, named('b1'))
  await settled()
  for (const name of ['a1', 'a2', 'b1', 'a3']) await end(name)
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('what is larger than all there is runs alone', async () => {
  const prepare = createPreparation(10)
  const { started, end, named } = work()
  void prepare('a', 20, named('large'))
  void prepare('b', 1, named('small'))
  await settled()
  expect(started).toEqual(['large'])
  await end('large')
  expect(started).toEqual(['large', 'small'])
})

test('work that fails gives its bytes back', async () => {
  const prepare = createPreparation(1)
  for (let i = 0; i < 3; i++)
    await expect(prepare('owner', 1, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await prepare('owner', 1, () => Promise.resolve('done'))).toBe('done')
})

test('an owner for whom too much waits is refused, alone', async () => {
  const prepare = createPreparation(1)
  const { started, end, named } = work()
  for (let i = 0; i < 201; i++) void prepare('a', 1, named(`a${String(i)}`)).catch(() => undefined)
  await expect(prepare('a', 1, named('more'))).rejects.toMatchObject({ code: 'unavailable' })
  void prepare('b', 1, named('b'))
  await end('a0')
  await end('a1')
  expect(started).toEqual(['a0', 'a1', 'b'])
})
