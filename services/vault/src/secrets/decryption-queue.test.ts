import { expect, test } from '@jest/globals'
import { createDecryptionQueue } from './decryption-queue.ts'

/** Work that runs until `end`, with names in the order of the starts. */
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

test('runs work within its capacity, and the rest as work ends', async () => {
  const inTurn = createDecryptionQueue(10)
  const { started, end, named } = work()
  const all = ['a', 'b', 'c'].map((name) => inTurn('owner', 5, named(name)))
  await settled()
  expect(started).toEqual(['a', 'b'])
  await end('a')
  expect(started).toEqual(['a', 'b', 'c'])
  await end('b')
  await end('c')
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c'])
})

test('owners take turns', async () => {
  const inTurn = createDecryptionQueue(1)
  const { started, end, named } = work()
  for (const name of ['a1', 'a2', 'a3']) void inTurn('a', 1, named(name))
  void inTurn('b', 1, named('b1'))
  await settled()
  for (const name of ['a1', 'a2', 'b1', 'a3']) await end(name)
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('work above the limit runs alone', async () => {
  const inTurn = createDecryptionQueue(10)
  const { started, end, named } = work()
  void inTurn('a', 20, named('large'))
  void inTurn('b', 1, named('small'))
  await settled()
  expect(started).toEqual(['large'])
  await end('large')
  expect(started).toEqual(['large', 'small'])
})

test('failed work releases its bytes', async () => {
  const inTurn = createDecryptionQueue(1)
  for (let i = 0; i < 3; i++)
    await expect(inTurn('owner', 1, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await inTurn('owner', 1, () => Promise.resolve('done'))).toBe('done')
})

test('refuses an owner with too much waiting work, but no other owner', async () => {
  const inTurn = createDecryptionQueue(1)
  const { started, end, named } = work()
  for (let i = 0; i < 201; i++) void inTurn('a', 1, named(`a${String(i)}`)).catch(() => undefined)
  await expect(inTurn('a', 1, named('more'))).rejects.toMatchObject({ code: 'unavailable' })
  void inTurn('b', 1, named('b'))
  await end('a0')
  await end('a1')
  expect(started).toEqual(['a0', 'a1', 'b'])
})
