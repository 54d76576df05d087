import { expect, test } from '@jest/globals'
import { createTurns } from './concurrency.ts'

test('when too many tasks wait, a new one is refused without taking a turn', async () => {
  const inTurn = createTurns(1, { mostWaiting: 1, refuse: () => new Error('too many') })
  let end = (): void => undefined
  const first = inTurn(() => new Promise<void>((resolve) => (end = resolve)))
  const second = inTurn(() => Promise.resolve('second'))
  await expect(inTurn(() => Promise.resolve('third'))).rejects.toThrow('too many')
  end()
  await first
  await expect(second).resolves.toBe('second')
  await expect(inTurn(() => Promise.resolve('fourth'))).resolves.toBe('fourth')
})

test('a limited number of tasks runs at once, in order of arrival, even after failures', async () => {
  const inTurn = createTurns(2)
  const started: number[] = []
  let running = 0
  let most = 0
  const results = await Promise.allSettled(
    Array.from({ length: 9 }, (_, n) =>
      inTurn(async () => {
        started.push(n)
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        if (n % 3 === 0) throw new Error('fails')
        return n
      }),
    ),
  )
  expect(most).toBe(2)
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
  await expect(inTurn(() => Promise.resolve('after'))).resolves.toBe('after')
})
