import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { createSearchQueue, OutOfTime, type SearchBounds } from './search-queue.ts'

const BOUNDS: SearchBounds = {
  atOnce: 3,
  runningEach: 2,
  underWayEach: 4,
  underWay: 6,
  waitMs: 60_000,
  runMs: 1_000,
  freeMs: 0,
  burstMs: 60_000,
  share: 1,
}

/** Turns, and searches that end on request. */
function searching(bounds: Partial<SearchBounds> = {}) {
  const refused: string[] = []
  const queue = createSearchQueue({ ...BOUNDS, ...bounds }, { countRefused: (reason) => refused.push(reason) })
  const running: { name: string; end: () => void }[] = []
  const search = (member: string, name = member): Promise<string> => {
    const found = queue.run(member, async () => {
      await new Promise<void>((resolve) => running.push({ name, end: resolve }))
      return name
    })
    // Searches that still wait at the end of a test are refused later.
    found.catch(() => undefined)
    return found
  }
  const end = async (name: string): Promise<void> => {
    const at = running.findIndex((each) => each.name === name)
    running.splice(at, 1)[0]?.end()
    await new Promise(setImmediate)
  }
  return { queue, refused, search, end, names: () => running.map(({ name }) => name) }
}

test('bounds the running searches of a member and runs the others in order', async () => {
  const { search, end, names, queue } = searching()
  for (const name of ['a1', 'a2', 'a3', 'a4']) void search('a', name)
  await new Promise(setImmediate)
  expect(names()).toEqual(['a1', 'a2'])
  expect(queue.counts()).toEqual({ running: 2, waiting: 2 })
  await end('a1')
  expect(names()).toEqual(['a2', 'a3'])
})

test('gives the next turn to the member with the fewest running searches', async () => {
  const { search, end, names } = searching()
  for (const name of ['a1', 'a2', 'a3']) void search('a', name)
  for (const name of ['b1', 'b2']) void search('b', name)
  void search('c', 'c1')
  await new Promise(setImmediate)
  expect(names()).toEqual(['a1', 'a2', 'b1'])
  await end('b1')
  expect(names()).toEqual(['a1', 'a2', 'b2'])
  await end('a1')
  expect(names()).toEqual(['a2', 'b2', 'c1'])
  await end('b2')
  expect(names()).toEqual(['a2', 'c1', 'a3'])
})

test('refuses a member with too many searches, and everyone once there are too many in total', async () => {
  const { queue, refused } = searching()
  const ends: (() => void)[] = []
  const admit = (member: string) => queue.admit(member, () => new Promise<void>((resolve) => ends.push(resolve)))
  const admitted = Array.from({ length: 4 }, () => admit('a'))
  await expect(admit('a')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  admitted.push(admit('b'), admit('b'))
  await expect(admit('c')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(refused).toEqual(['member', 'all'])
  for (const end of ends) end()
  await Promise.all(admitted)
  await expect(queue.admit('a', () => Promise.resolve('again'))).resolves.toBe('again')
})

test('refuses a member with slow searches for a while, and no other member', async () => {
  const { queue, refused } = searching({ burstMs: 50, share: 0.5 })
  const search = (member: string) => queue.admit(member, () => queue.run(member, () => sleep(60, 'found')))
  await expect(search('a')).resolves.toBe('found')
  await expect(search('a')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  expect(refused).toEqual(['member'])
  await expect(search('b')).resolves.toBe('found')
  await sleep(200)
  await expect(search('a')).resolves.toBe('found')
})

test('a search that fails or times out releases its turn', async () => {
  const { queue, refused } = searching({ atOnce: 1 })
  await expect(queue.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  await expect(queue.run('a', () => Promise.reject(new OutOfTime()))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(refused).toEqual(['time'])
  await expect(queue.run('a', (milliseconds) => Promise.resolve(milliseconds))).resolves.toBe(1_000)
})

test('a search that waits too long is refused and never runs', async () => {
  const { search, end, names, refused, queue } = searching({ atOnce: 1, waitMs: 20 })
  const first = search('a')
  await expect(search('b')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await end('a')
  await expect(first).resolves.toBe('a')
  expect([names(), refused, queue.counts()]).toEqual([[], ['all'], { running: 0, waiting: 0 }])
})
