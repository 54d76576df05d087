import { expect, test } from '@jest/globals'
import { repeat } from './repeat.ts'

const nextTick = () => new Promise((resolve) => setTimeout(resolve, 2))

test('a task is repeated, also after a run that failed', async () => {
  const errors: unknown[] = []
  let runs = 0
  const task = repeat({
    everyMs: 1,
    task: () => (++runs === 1 ? Promise.reject(new Error('the first')) : Promise.resolve()),
    onError: (error) => errors.push(error),
  })
  while (runs < 3) await nextTick()
  await task.stop()
  expect(errors).toEqual([new Error('the first')])
})

test('a run never starts while another is in progress', async () => {
  let running = 0
  let most = 0
  let runs = 0
  const task = repeat({
    everyMs: 0,
    task: async () => {
      most = Math.max(most, ++running)
      await nextTick()
      running--
      runs++
    },
    onError: () => undefined,
  })
  while (runs < 3) await nextTick()
  await task.stop()
  expect(most).toBe(1)
})

test('stopping waits for the run in progress, and none follows', async () => {
  let runs = 0
  let end = () => {}
  const held = new Promise<void>((resolve) => (end = resolve))
  const task = repeat({
    everyMs: 0,
    task: () => {
      runs++
      return held
    },
    onError: () => undefined,
  })
  while (runs === 0) await nextTick()
  const stopped = task.stop()
  end()
  await stopped
  await nextTick()
  expect(runs).toBe(1)
})

test('a task that is stopped before its first run never runs', async () => {
  let runs = 0
  const task = repeat({
    everyMs: 0,
    task: () => {
      runs++
      return Promise.resolve()
    },
    onError: () => undefined,
  })
  await task.stop()
  await nextTick()
  expect(runs).toBe(0)
})
