import { afterEach, expect, jest, test } from '@jest/globals'
import { createBackground, repeat } from './background.ts'

afterEach(() => {
  jest.useRealTimers()
})

const nextTick = () => new Promise((resolve) => setTimeout(resolve, 2))

test('a task is repeated, even after a failed run', async () => {
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

test('a task that fails before it returns a promise is repeated too', async () => {
  const errors: unknown[] = []
  let runs = 0
  const done = new Promise<void>((resolve) => {
    const task = repeat({
      everyMs: 1,
      task: () => {
        runs += 1
        if (runs < 3) throw new Error(`run ${String(runs)}`)
        void task.stop().then(resolve)
      },
      onError: (error) => errors.push(error),
    })
  })
  await done
  expect(errors).toEqual([new Error('run 1'), new Error('run 2')])
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

test('stopping waits for the run in progress, and no other follows', async () => {
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

test.each([
  ['the end', false, [1_000, 2_600, 4_200]],
  ['the start', true, [1_000, 2_000, 3_000]],
])('the time between runs counts from %s of a run', async (_what, fromStart, expected) => {
  jest.useFakeTimers({ now: 0 })
  const starts: number[] = []
  const task = repeat({
    ...{ everyMs: 1_000, fromStart },
    task: () => {
      starts.push(Date.now())
      return new Promise((resolve) => setTimeout(resolve, 600))
    },
    onError: () => undefined,
  })
  await jest.advanceTimersByTimeAsync(5_000)
  expect(starts.slice(0, 3)).toEqual(expected)
  const stopped = task.stop()
  await jest.runAllTimersAsync()
  await stopped
})

test('a run that took longer than the time from start to start is followed at once', async () => {
  jest.useFakeTimers({ now: 0 })
  const starts: number[] = []
  const task = repeat({
    ...{ everyMs: 1_000, fromStart: true },
    task: () => {
      starts.push(Date.now())
      return new Promise((resolve) => setTimeout(resolve, 2_500))
    },
    onError: () => undefined,
  })
  await jest.advanceTimersByTimeAsync(9_000)
  // A timer waits for a millisecond at least.
  expect(starts.slice(0, 3)).toEqual([1_000, 3_501, 6_002])
  const stopped = task.stop()
  await jest.runAllTimersAsync()
  await stopped
})

test('the run in progress is aborted when the task is stopped', async () => {
  let runs = 0
  const task = repeat({
    everyMs: 0,
    task: (stopping) => {
      runs++
      return new Promise<void>((resolve) => stopping.addEventListener('abort', () => resolve()))
    },
    onError: () => undefined,
  })
  while (runs === 0) await nextTick()
  await task.stop()
  expect(runs).toBe(1)
})

test('tasks run between start and stop, and again at the stop', async () => {
  const done: string[] = []
  let ran = (): void => undefined
  const hasRun = new Promise<void>((resolve) => (ran = resolve))
  const background = createBackground()
  background.add({
    everyMs: 1,
    task: async () => {
      done.push('run')
      ran()
      await Promise.resolve()
    },
    onError: (error) => done.push(String(error)),
    atStop: async () => {
      done.push('stop')
      await Promise.resolve()
    },
  })
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(done).toEqual([])
  background.start()
  await hasRun
  await background.stop()
  expect(done.indexOf('stop')).toBe(done.length - 1)
  const count = done.length
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(done).toHaveLength(count)
})

test('atStop runs even if the task was never started', async () => {
  const background = createBackground()
  background.add({
    everyMs: 1,
    task: () => Promise.reject(new Error('never')),
    onError: () => undefined,
    atStop: () => Promise.reject(new Error('at the stop')),
  })
  await expect(background.stop()).rejects.toMatchObject({ errors: [new Error('at the stop')] })
})

test('atStop of all tasks runs even if one of them fails', async () => {
  const background = createBackground()
  const done: string[] = []
  const add = (name: string, fails: boolean): void =>
    background.add({
      everyMs: 1,
      task: () => undefined,
      onError: () => undefined,
      atStop: () => {
        done.push(name)
        return fails ? Promise.reject(new Error(name)) : Promise.resolve()
      },
    })
  add('first', true)
  add('second', false)
  add('third', true)
  await expect(background.stop()).rejects.toMatchObject({ errors: [new Error('first'), new Error('third')] })
  expect(done).toEqual(['first', 'second', 'third'])
})
