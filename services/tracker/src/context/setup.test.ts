import { expect, test } from '@jest/globals'
import { UnavailableError } from '@vault-and-tracker/service-kit/core/errors'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createSetupAnnouncement } from './setup.ts'

/** A start whose answers to `issueCode` are given: a code, none, or an outage. */
function startWith(...answers: readonly (string | undefined | Error)[]) {
  const lines: string[] = []
  const tasks: (() => unknown)[] = []
  let asked = 0
  const announce = createSetupAnnouncement(
    {
      publicUrl: 'https://tracker.test',
      logger: createLogger({ name: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } }),
      background: { add: ({ task }) => void tasks.push(() => task(new AbortController().signal)) },
    },
    {
      issueCode: () => {
        const answer = answers[asked++]
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
      },
    },
  )
  return { announce, tasks, logged: () => lines.map((line) => JSON.parse(line) as object), asked: () => asked }
}

const CODE = { level: 40, url: 'https://tracker.test/setup', setupCode: 'abc' }

test('logs a code once per start', async () => {
  const { announce, tasks, logged } = startWith('abc', 'def')
  await announce()
  await announce()
  expect(logged()).toEqual([expect.objectContaining(CODE)])
  expect(tasks).toEqual([])
})

test('logs nothing on a site that is set up', async () => {
  const { announce, tasks, logged } = startWith(undefined)
  await announce()
  expect([logged(), tasks]).toEqual([[], []])
})

test('logs the code in the background if Postgres was unavailable, and then asks no more', async () => {
  const { announce, tasks, logged, asked } = startWith(new UnavailableError('postgres'), 'abc')
  await announce()
  expect(logged()).toEqual([])
  await tasks[0]?.()
  await tasks[0]?.()
  expect(logged()).toEqual([expect.objectContaining(CODE)])
  expect(asked()).toBe(2)
})

test('a database without the table fails the start', async () => {
  await expect(startWith(new Error('relation does not exist')).announce()).rejects.toThrow('relation')
})
