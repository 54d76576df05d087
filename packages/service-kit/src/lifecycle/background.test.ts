import { expect, test } from '@jest/globals'
import { createBackground } from './background.ts'

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
